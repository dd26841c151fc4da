// Kernel launches in streams.
#include <cudag/launch.hpp>

#include "captured_launches.hpp"
#include "cuda/compute_capability.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_function.hpp"
#include "cuda/kernel_name.hpp"
#include "cuda/open_captures.hpp"
#include "node/function.hpp"
#include "node/kernel.hpp"
#include "node/kernel_attributes.hpp"
#include "node/launch_attributes.hpp"
#include "node/launch_check.hpp"
#include "owners/capture_owners.hpp"

#include <utility>

namespace cudag::detail {

namespace {

/// Throws the failure of the launch of `call`.
[[noreturn]] void raise(cudaError_t status, const char* operation, const KernelCall& call, Api api) {
    raise_launch<Error>(status, operation, {"launch of " + kernel_name(call)}, api, config_of(*call.config),
                        symbol_of(call));
}

/// Returns the function for this thread's launches.
CUfunction function_of(const KernelCall& call) {
    const auto subject = [&] { return Subject{"launch of " + kernel_name(call)}; };
    if (call.function != nullptr) [[unlikely]]
        return function_here<Error>(*call.function, subject);
    return kernel_function<Error>(call.symbol, subject);
}

void launch_with_attributes(cudaStream_t stream, const KernelCall& call, const LaunchConfig& given) {
    LaunchConfig config = given;
    const auto subject = [&] { return Subject{"launch of " + kernel_name(call)}; };
    require_attributes<Error>(config, symbol_of(call), LaunchUse::stream, subject);
    require_wait<Error>(call, given, subject);
    if (given.waits_for_previous)
        config.waits_for_previous =
            compute_capability().major >= early_launch_major && has_code_for_early_launch(function_of(call));
    const void* const launched = call.function != nullptr ? function_of(call) : call.symbol; // it takes handles, too
    const NativeAttributes attributes(config, LaunchUse::stream);
    cudaLaunchConfig_t native{};
    native.gridDim = config.grid;
    native.blockDim = config.block;
    native.dynamicSmemBytes = native_shared_bytes(config.shared_bytes);
    native.stream = stream;
    native.attrs = const_cast<cudaLaunchAttribute*>(attributes.begin()); // read only, despite CUDA's type
    native.numAttrs = static_cast<unsigned>(attributes.size());
    cudaError_t status = cudaLaunchKernelExC(&native, launched, const_cast<void**>(call.values));
    if (status == cudaErrorInvalidResourceHandle && call.function != nullptr) [[unlikely]]
        if (succeeds_on_another_device([&] {
                return cudaLaunchKernelExC(&native, function_of(call), const_cast<void**>(call.values)) == cudaSuccess;
            })) {
            ignore(status);
            status = cudaSuccess;
        }
    const bool records = is_given(config.programmatic_event) != 0 || config.launch_completion_event != nullptr;
    if (status == cudaErrorNotSupported && records) {
        CallFailure failure = describe_failure(status, "cudaLaunchKernelExC", subject(), Api::runtime);
        detail::raise<Error>(status,
                             failure.text +
                                 "; the event that a launch records has no timing, and is of this process alone: "
                                 "Event({.timing = false})",
                             std::move(failure.details));
    }
    if (status != cudaSuccess) raise(status, "cudaLaunchKernelExC", call, Api::runtime);
}

} // namespace

void launch_kernel(cudaStream_t stream, const KernelCall& call, CallEffects&& effects) {
    require_recorded(stream, [&] { return Subject{"launch of " + kernel_name(call)}; });
    keep_function(effects.owners, call);
    if (!effects.owners.empty()) keep_with_capture(stream, effects.owners);
    if (const LaunchConfig* attributes = given_attributes(*call.config); attributes != nullptr) [[unlikely]] {
        launch_with_attributes(stream, call, *attributes);
        return CapturedLaunches::note(stream, *call.signature, std::move(effects), attributes->waits_for_previous);
    }
    const LaunchShape& shape = call.config->shape;
    const auto launch_here = [&] {
        return driver().launch_kernel(function_of(call), shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x,
                                      shape.block.y, shape.block.z, native_shared_bytes(shape.shared_bytes), stream,
                                      const_cast<void**>(call.values), nullptr);
    };
    const CUresult result = launch_here();
    // A function belongs to a context, and runs in its streams. CUDA does not report the context of a captured stream.
    if (result != CUDA_SUCCESS) [[unlikely]]
        if (result != CUDA_ERROR_INVALID_HANDLE ||
            !succeeds_on_another_device([&] { return launch_here() == CUDA_SUCCESS; }))
            raise(to_runtime(result), "cuLaunchKernel", call, Api::driver);
    CapturedLaunches::note(stream, *call.signature, std::move(effects));
}

void launch_function(cudaStream_t stream, const Function& function, const PassedConfig& config,
                     const GivenArguments& arguments, CallEffects&& effects) {
    const FunctionState& state = Access::state(function);
    const KernelSignature signature = state.signature();
    ValuePointers values(signature.count);
    if (const std::string problem = point_at(arguments, signature, values.get()); !problem.empty())
        refuse<Error>(problem, {"launch of " + state.name});
    launch_kernel(stream, {nullptr, &signature, &config, values.get(), nullptr, &state}, std::move(effects));
}

} // namespace cudag::detail
