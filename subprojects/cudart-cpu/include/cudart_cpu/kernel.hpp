// Registration of kernels: their parameters are known only at a place with their type.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace cudart_cpu {

namespace detail {

struct ParamLayout {
    std::size_t size;
    std::size_t align;
};

/// Calls the kernel at `symbol` once, with the arguments at the addresses in `args`.
using CallThunk = void (*)(const void* symbol, void** args);

__attribute__((visibility("default"))) void register_kernel(const void* symbol, CallThunk call,
                                                            const ParamLayout* params, std::size_t count);
__attribute__((visibility("default"))) void name_kernel(const void* symbol, const char* name);
__attribute__((visibility("default"))) void forget_kernels(const void* place_in_module) noexcept;

/// A marker in each shared object with registered kernels: unloading it forgets them.
struct KernelsOfModule {
    constexpr KernelsOfModule() = default;
    KernelsOfModule(const KernelsOfModule&) = delete;
    KernelsOfModule& operator=(const KernelsOfModule&) = delete;
    ~KernelsOfModule() { forget_kernels(this); }
};
inline __attribute__((visibility("hidden"))) KernelsOfModule kernels_of_module;

/// The signature is hidden: else its variable is a unique symbol, which keeps a shared object from being unloaded.
template <class... Parameter>
struct __attribute__((visibility("hidden"))) KernelSignature {
    static constexpr std::size_t count = sizeof...(Parameter);
    // An additional element avoids an array of length 0 for kernels without parameters.
    static constexpr ParamLayout params[count + 1] = {{sizeof(Parameter), alignof(Parameter)}..., {0, 0}};

    static void call(const void* symbol, void** args) {
        call_with(symbol, args, std::index_sequence_for<Parameter...>{});
    }

  private:
    template <std::size_t... Index>
    static void call_with(const void* symbol, [[maybe_unused]] void** args, std::index_sequence<Index...>) {
        const auto kernel = reinterpret_cast<void (*)(Parameter...)>(const_cast<void*>(symbol));
        kernel(*static_cast<std::remove_cv_t<Parameter>*>(args[Index])...);
    }
};

} // namespace detail

/// Registers `kernel` for launches and graphs. Cheap if it is registered already; thread-safe.
template <class... Parameter>
void register_kernel(void (*kernel)(Parameter...)) {
    static_assert((!std::is_reference_v<Parameter> && ...), "cudart-cpu: a kernel parameter cannot be a reference");
    using Signature = detail::KernelSignature<Parameter...>;
    static_cast<void>(&detail::kernels_of_module); // this use instantiates it
    detail::register_kernel(reinterpret_cast<const void*>(kernel), &Signature::call, Signature::params,
                            Signature::count);
}

/// Registers `kernel` as the entry `name` of PTX text loaded by cudaLibraryLoadData: there is no compiler here. If the
/// kernel's symbol equals the name, register_kernel suffices. Thread-safe.
template <class... Parameter>
void register_library_kernel(const char* name, void (*kernel)(Parameter...)) {
    register_kernel(kernel);
    detail::name_kernel(reinterpret_cast<const void*>(kernel), name);
}

} // namespace cudart_cpu
