// The driver's function of a kernel, looked up once by each thread.
#pragma once

#include "driver.hpp"
#include "failure.hpp"
#include "thread_state.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace cudag::detail {

/// Returns the function of the kernel `symbol` in the current context, from this thread's cache. Contexts are compared
/// by id: after a cudaDeviceReset, another one may have the same address. Throws E if CUDA does not know the kernel;
/// calls `subject()` only then.
template <class E, class MakeSubject>
[[nodiscard]] CUfunction kernel_function(const void* symbol, const MakeSubject& subject) {
    unsigned long long context = 0;
    const CUresult result = driver().ctx_get_id(current_context(), &context);
    if (result != CUDA_SUCCESS) [[unlikely]]
        raise_call<E>(to_runtime(result), "cuCtxGetId", {}, Api::driver);
    return kept_by_thread(thread_state.functions).find(symbol, context, [&] {
        cudaFunction_t function = nullptr;
        const cudaError_t status = cudaGetFuncBySymbol(&function, symbol);
        if (status != cudaSuccess) raise_call<E>(status, "cudaGetFuncBySymbol", subject());
        return function;
    });
}

} // namespace cudag::detail
