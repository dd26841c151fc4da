// Copies of a node's parameters: what updates of graphs and execs write to.
#include "node_params.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

namespace cudag::detail {

namespace {

/// Only what `copy_params` has made is ever written to.
template <class T>
T& writable(const T* block) {
    return const_cast<T&>(*block);
}

} // namespace

std::string_view direction(cudaMemcpyKind kind) noexcept {
    switch (kind) {
    case cudaMemcpyHostToHost:
        return "host to host";
    case cudaMemcpyHostToDevice:
        return "host to device";
    case cudaMemcpyDeviceToHost:
        return "device to host";
    case cudaMemcpyDeviceToDevice:
        return "device to device";
    default:
        return "default";
    }
}

bool same_layout(const KernelSignature& a, const KernelSignature& b) noexcept {
    return &a == &b || (a.count == b.count && std::equal(a.parameters, a.parameters + a.count, b.parameters,
                                                         [](const Parameter& p, const Parameter& q) {
                                                             return p.offset == q.offset && p.size == q.size;
                                                         }));
}

NodeParams copy_params(std::pmr::memory_resource& memory, const NodeParams& params) {
    const auto copy = [&memory](const auto& block) -> NodeParams {
        using Block = std::decay_t<decltype(block)>;
        if constexpr (std::is_same_v<Block, std::monostate>) {
            return block;
        } else if constexpr (std::is_same_v<Block, const KernelParams*>) {
            const std::size_t bytes = block->signature->bytes;
            auto* place = static_cast<std::byte*>(memory.allocate(sizeof(KernelParams) + bytes, alignof(KernelParams)));
            auto* kernel = new (place) KernelParams(*block);
            kernel->values = place + sizeof(KernelParams);
            std::memcpy(kernel->values, block->values, bytes);
            return kernel;
        } else if constexpr (std::is_same_v<Block, const SemaphoreParams*>) {
            const std::size_t bytes = block->count * sizeof(SemaphoreOperation);
            auto* list = static_cast<SemaphoreOperation*>(memory.allocate(bytes, alignof(SemaphoreOperation)));
            std::copy_n(block->operations, block->count, list);
            const SemaphoreParams* semaphores = new (memory.allocate(sizeof(SemaphoreParams), alignof(SemaphoreParams)))
                SemaphoreParams{block->signals, block->count, list};
            return semaphores;
        } else {
            using Params = std::remove_const_t<std::remove_pointer_t<Block>>;
            static_assert(std::is_trivially_copyable_v<Params>);
            const Params* result = new (memory.allocate(sizeof(Params), alignof(Params))) Params(*block);
            return result;
        }
    };
    return std::visit(copy, params);
}

void assign_params(const NodeParams& copy, const NodeParams& params) noexcept {
    const auto assign = [&copy](const auto& block) {
        using Block = std::decay_t<decltype(block)>;
        if constexpr (std::is_same_v<Block, const KernelParams*>) {
            KernelParams& kernel = writable(std::get<Block>(copy));
            std::byte* values = kernel.values;
            kernel = *block;
            kernel.values = values;
            std::memcpy(values, block->values, block->signature->bytes);
        } else if constexpr (std::is_same_v<Block, const SemaphoreParams*>) {
            const SemaphoreParams& semaphores = *std::get<Block>(copy);
            std::copy_n(block->operations, semaphores.count, semaphores.operations); // updates keep the number
        } else if constexpr (!std::is_same_v<Block, std::monostate>) {
            writable(std::get<Block>(copy)) = *block;
        }
    };
    std::visit(assign, params);
}

} // namespace cudag::detail
