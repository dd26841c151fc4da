// The lists behind GraphNames.
#pragma once

#include <cudag/detail/host_task.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/function.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudag::detail {

struct NamedMemory {
    std::string name;
    void* address;
    std::size_t bytes;
    Owners owners;
};

/// A kernel of the program with its symbol and types, or a Function; its types are known if `signature` is not null.
struct NamedKernel {
    std::string name;
    const void* symbol;
    const KernelSignature* signature;
    std::optional<Function> function;
};

/// A function of host nodes: a callable, or CUDA's function with its data.
struct NamedHost {
    std::string name;
    cudaHostFn_t function;
    void* data;
    std::shared_ptr<HostTask> task; ///< null for CUDA's function
};

enum class HandleKind : std::uint8_t { event, semaphore, array };

struct NamedHandle {
    std::string name;
    HandleKind kind;
    const void* handle;
    std::shared_ptr<const void> owner;
};

struct NameLists {
    std::vector<NamedMemory> memory = {};
    std::vector<NamedKernel> kernels = {};
    std::vector<NamedHost> hosts = {};
    std::vector<NamedHandle> handles = {};
};

} // namespace cudag::detail
