// The host stub of a kernel compiled as C++: nvcc makes one for each kernel, host_stubs.py inserts this one.
#pragma once

#include <cudart_cpu/kernel.hpp>

#include <cstddef>
#include <initializer_list>

namespace cudart_cpu::detail {

/// The runtime's description of a kernel for launches, known from the beginning of the program.
struct KernelDefinition {
    const void* symbol;
    CallThunk call;
    const ParamLayout* params;
    std::size_t count;
};

__attribute__((visibility("default"))) void define_kernel(const KernelDefinition* definition) noexcept;
/// Launches a kernel called from the host, with the configuration of its `<<<>>>`.
__attribute__((visibility("default"))) void launch_configured(const void* symbol, void** args,
                                                              bool per_thread) noexcept;
/// Reports the host call of a kernel with unknown parameters, such as a template, as an error.
__attribute__((visibility("default"))) void refuse_host_call(const char* kernel) noexcept;

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
static constexpr bool per_thread_default = true;
#else
static constexpr bool per_thread_default = false;
#endif

template <class Argument>
void* place(Argument& argument) {
    return (void*)__builtin_addressof(argument); // only this cast removes __restrict__
}

template <class Signature, Signature* kernel>
struct Stub;

/// The stub is hidden, so each shared object has its own variable, destroyed with it.
template <class... Parameter, void (*kernel)(Parameter...)>
struct __attribute__((visibility("hidden"))) Stub<void(Parameter...), kernel> {
    /// Launches the kernel with the arguments at these addresses.
    static void launch(std::initializer_list<void*> arguments) noexcept {
        static_cast<void>(&defined); // this use instantiates it
        launch_configured(reinterpret_cast<const void*>(kernel), const_cast<void**>(arguments.begin()),
                          per_thread_default);
    }

  private:
    struct Defined {
        Defined() noexcept {
            static_cast<void>(&kernels_of_module);
            define_kernel(&definition);
        }
        const KernelDefinition definition{reinterpret_cast<const void*>(kernel), &KernelSignature<Parameter...>::call,
                                          KernelSignature<Parameter...>::params, KernelSignature<Parameter...>::count};
    };
    static const Defined defined;
};

template <class... Parameter, void (*kernel)(Parameter...)>
const typename Stub<void(Parameter...), kernel>::Defined Stub<void(Parameter...), kernel>::defined;

} // namespace cudart_cpu::detail
