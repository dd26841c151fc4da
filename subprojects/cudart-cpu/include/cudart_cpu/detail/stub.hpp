// The host's half of a kernel that is compiled as C++: what nvcc makes for each kernel, host_stubs.py inserts into it.
#pragma once

#include <cudart_cpu/kernel.hpp>

#include <cstddef>
#include <initializer_list>

namespace cudart_cpu::detail {

/// What the runtime needs to launch a kernel, known from the beginning of the program.
struct KernelDefinition {
    const void* symbol;
    CallThunk call;
    const ParamLayout* params;
    std::size_t count;
};

__attribute__((visibility("default"))) void define_kernel(const KernelDefinition* definition) noexcept;
/// A kernel was called from the host: launches it with the configuration of the `<<<>>>` that calls it.
__attribute__((visibility("default"))) void launch_configured(const void* symbol, void** args,
                                                              bool per_thread) noexcept;
/// The same for a kernel of unknown parameters, such as a template: an error.
__attribute__((visibility("default"))) void refuse_host_call(const char* kernel) noexcept;

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
static constexpr bool per_thread_default = true;
#else
static constexpr bool per_thread_default = false;
#endif

template <class Argument>
void* place(Argument& argument) {
    return (void*)__builtin_addressof(argument); // no other cast takes __restrict__ away
}

template <class Signature, Signature* kernel>
struct Stub;

/// Hidden, so that its variable is each shared object's own, and goes with it.
template <class... Parameter, void (*kernel)(Parameter...)>
struct __attribute__((visibility("hidden"))) Stub<void(Parameter...), kernel> {
    /// Takes where the arguments are.
    static void launch(std::initializer_list<void*> arguments) noexcept {
        static_cast<void>(&defined); // or it is not there
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
