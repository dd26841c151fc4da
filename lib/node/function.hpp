// Kernels known only at run time: their parameters from CUDA, and checks of arguments against them.
#pragma once

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"

#include <cudag/detail/given_arguments.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/owners.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

namespace cudag::detail {

struct FunctionState {
    cudaKernel_t kernel; ///< of all devices; null if only the function of one is known
    CUfunction function; ///< in `context`
    CUcontext context;
    std::string name;
    std::vector<Parameter> parameters;
    std::shared_ptr<const void> owner; ///< null if the user keeps it loaded
    bool lacks_wait = false;           ///< whether its code is known to have no wait for previous kernels

    [[nodiscard]] KernelSignature signature() const noexcept {
        const std::uint32_t bytes = parameters.empty() ? 0 : parameters.back().offset + parameters.back().size;
        return {parameters.data(), static_cast<std::uint32_t>(parameters.size()), bytes};
    }
};

/// The parameters of `function` as CUDA reports them, without types. Throws GraphError. Needs a context.
[[nodiscard]] std::vector<Parameter> parameters_of(CUfunction function);

/// The kernel of `call` for the runtime's functions; null if they accept none.
[[nodiscard]] inline const void* symbol_of(const KernelCall& call) noexcept {
    return call.function != nullptr ? call.function->kernel : call.symbol;
}
[[nodiscard]] inline std::string kernel_name(const KernelCall& call) {
    return call.function != nullptr ? call.function->name : kernel_name(call.symbol);
}

/// The kernel of a call with arguments under conversion; "" if it is not the call of a kernel.
[[nodiscard]] inline std::string kernel_name(const CallSite& call) {
    if (call.function != nullptr) return call.function->name;
    return call.symbol != nullptr ? kernel_name(call.symbol) : std::string();
}

/// The function in the current context. Throws E if it belongs to another one, or CUDA cannot load it there.
template <class E, class MakeSubject>
[[nodiscard]] CUfunction function_here(const FunctionState& state, const MakeSubject& subject) {
    const CUcontext here = current_context();
    if (state.context == here) [[likely]]
        return state.function;
    if (state.kernel == nullptr)
        refuse<E>("the function is of another device; make the Function of a cudaKernel_t, which is of all devices, or "
                  "make that device current",
                  subject());
    CUfunction function = nullptr;
    const CUresult result = driver().kernel_get_function(&function, reinterpret_cast<CUkernel>(state.kernel));
    if (result != CUDA_SUCCESS) raise_call<E>(to_runtime(result), "cuKernelGetFunction", subject(), Api::driver);
    return function;
}

/// Throws E if `config` declares a wait that the code of the kernel is known not to have.
template <class E, class MakeSubject>
void require_wait(const KernelCall& call, const LaunchConfig& config, const MakeSubject& subject) {
    if (config.waits_for_previous && call.function != nullptr && call.function->lacks_wait) [[unlikely]]
        refuse<E>("waits_for_previous: its PTX has no griddepcontrol.wait; call cudag::wait_for_previous() in the "
                  "kernel, or leave the declaration out",
                  subject());
}

/// Keeps the function of `call` alive, in addition to its arguments' owners.
inline void keep_function(Owners& owners, const KernelCall& call) {
    if (call.function != nullptr) keep(owners, 0, call.function->owner);
}

/// Pointers to the values of a kernel's parameters; null for missing values.
class ValuePointers {
  public:
    explicit ValuePointers(std::size_t count) {
        if (count >= few_.size()) many_.resize(count + 1);
    }
    ValuePointers(const ValuePointers&) = delete;
    ValuePointers& operator=(const ValuePointers&) = delete;

    [[nodiscard]] void** get() noexcept { return many_.empty() ? few_.data() : many_.data(); }

  private:
    std::array<void*, 32> few_{};
    std::vector<void*> many_; ///< null, of `count`, if there are more
};

/// Points `values` at `given`. Returns the problem with their number, positions or sizes; "" if there is none.
[[nodiscard]] std::string point_at(const GivenArguments& given, const KernelSignature& signature, void** values);

} // namespace cudag::detail
