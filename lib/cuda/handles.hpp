// Handles of CUDA's that are destroyed with what holds them.
#pragma once

#include "failure.hpp"

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

namespace cudag::detail {

template <auto Destroy>
struct DestroyHandle {
    template <class T>
    void operator()(T* handle) const noexcept {
        ignore(Destroy(handle));
    }
};

template <class Handle, auto Destroy>
using UniqueHandle = std::unique_ptr<std::remove_pointer_t<Handle>, DestroyHandle<Destroy>>;

using UniqueGraph = UniqueHandle<cudaGraph_t, cudaGraphDestroy>;
using UniqueExec = UniqueHandle<cudaGraphExec_t, cudaGraphExecDestroy>;
using UniqueEvent = UniqueHandle<cudaEvent_t, cudaEventDestroy>;
using UniqueStream = UniqueHandle<cudaStream_t, cudaStreamDestroy>;

} // namespace cudag::detail
