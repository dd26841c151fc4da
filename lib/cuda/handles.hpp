// Owning handles of CUDA objects.
#pragma once

#include "failure.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace cudag::detail {

/// The name of a handle's destroying call, as a template argument.
template <std::size_t length>
struct CallName {
    consteval CallName(const char (&name)[length]) { std::copy_n(name, length, text); }
    char text[length];
};

template <auto Destroy, CallName name>
struct DestroyHandle {
    template <class T>
    void operator()(T* handle) const noexcept {
        report_release(Destroy(handle), name.text);
    }
};

template <class Handle, auto Destroy, CallName name>
using UniqueHandle = std::unique_ptr<std::remove_pointer_t<Handle>, DestroyHandle<Destroy, name>>;

using UniqueGraph = UniqueHandle<cudaGraph_t, cudaGraphDestroy, "cudaGraphDestroy">;
using UniqueExec = UniqueHandle<cudaGraphExec_t, cudaGraphExecDestroy, "cudaGraphExecDestroy">;
using UniqueEvent = UniqueHandle<cudaEvent_t, cudaEventDestroy, "cudaEventDestroy">;
using UniqueStream = UniqueHandle<cudaStream_t, cudaStreamDestroy, "cudaStreamDestroy">;

} // namespace cudag::detail
