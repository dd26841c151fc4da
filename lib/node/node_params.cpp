// Copies of a node's parameters: what updates of graphs and execs write to.
#include "node_params.hpp"

#include "cuda/kernel_name.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
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

bool same_types(const KernelSignature& a, const KernelSignature& b) noexcept {
    return &a == &b ||
           (a.count == b.count &&
            std::equal(a.parameters, a.parameters + a.count, b.parameters, [](const Parameter& p, const Parameter& q) {
                return p.cpp_type != nullptr && q.cpp_type != nullptr && *p.cpp_type == *q.cpp_type;
            }));
}

bool same_kernel_types(const KernelParams& a, const KernelParams& b) {
    if (!same_layout(*a.signature, *b.signature)) return false;
    return a.function == b.function || (a.symbol != nullptr && a.symbol == b.symbol) ||
           (a.kernel != nullptr && a.kernel == b.kernel) || same_parameters(a.function, b.function);
}

namespace {

constexpr std::size_t aligned(std::size_t bytes) noexcept {
    constexpr std::size_t alignment = alignof(std::max_align_t);
    return (bytes + alignment - 1) / alignment * alignment;
}

/// Where a copy has its attributes, or has them once they are read: between the block and the values.
std::size_t attribute_bytes(const KernelParams& kernel) noexcept {
    return kernel.attributes != nullptr || kernel.unread != nullptr ? aligned(sizeof(LaunchConfig)) : 0;
}

/// What a block points at, which stands behind it in a copy.
std::size_t trailing_bytes(const KernelParams& kernel) noexcept {
    return attribute_bytes(kernel) + kernel.signature->bytes;
}
std::size_t trailing_bytes(const SemaphoreParams& semaphores) noexcept {
    return semaphores.count * sizeof(SemaphoreOperation);
}
template <class Params>
std::size_t trailing_bytes(const Params&) noexcept {
    return 0;
}

} // namespace

LaunchConfig config_of(const KernelParams& kernel) noexcept {
    LaunchConfig config = kernel.attributes != nullptr ? *kernel.attributes : LaunchConfig();
    config.grid = kernel.shape.grid;
    config.block = kernel.shape.block;
    config.shared_bytes = kernel.shape.shared_bytes;
    return config;
}

void store_attributes(KernelParams& copy, const LaunchConfig& config) noexcept {
    copy.attributes = new (copy.values - aligned(sizeof(LaunchConfig))) LaunchConfig(config);
}

std::size_t copy_bytes(const NodeParams& params) noexcept {
    const auto bytes = [](const auto& block) -> std::size_t {
        if constexpr (std::is_same_v<std::decay_t<decltype(block)>, std::monostate>)
            return 0;
        else
            return aligned(sizeof *block) + trailing_bytes(*block);
    };
    return std::visit(bytes, params);
}

NodeParams copy_params(std::byte* place, const NodeParams& params) noexcept {
    const auto copy = [place](const auto& block) -> NodeParams {
        using Block = std::decay_t<decltype(block)>;
        if constexpr (std::is_same_v<Block, std::monostate>) {
            return block;
        } else {
            using Params = std::remove_const_t<std::remove_pointer_t<Block>>;
            static_assert(std::is_trivially_copyable_v<Params> && alignof(Params) <= alignof(std::max_align_t));
            auto* params_copy = new (place) Params(*block);
            std::byte* const behind = place + aligned(sizeof(Params));
            if constexpr (std::is_same_v<Params, KernelParams>) {
                params_copy->values = behind + attribute_bytes(*block);
                if (block->attributes != nullptr)
                    params_copy->attributes = new (behind) LaunchConfig(*block->attributes);
                std::memcpy(params_copy->values, block->values, block->signature->bytes);
            } else if constexpr (std::is_same_v<Params, SemaphoreParams>) {
                params_copy->operations = reinterpret_cast<SemaphoreOperation*>(behind);
                std::uninitialized_copy_n(block->operations, block->count, params_copy->operations);
            }
            return static_cast<Block>(params_copy);
        }
    };
    return std::visit(copy, params);
}

NodeParams copy_params(std::pmr::memory_resource& memory, const NodeParams& params) {
    const std::size_t bytes = copy_bytes(params);
    return copy_params(bytes == 0 ? nullptr : static_cast<std::byte*>(memory.allocate(bytes)), params);
}

void assign_params(const NodeParams& copy, const NodeParams& params) noexcept {
    const auto assign = [&copy](const auto& block) {
        using Block = std::decay_t<decltype(block)>;
        if constexpr (std::is_same_v<Block, const KernelParams*>) {
            KernelParams& kernel = writable(std::get<Block>(copy));
            std::byte* values = kernel.values;
            const LaunchConfig* attributes = kernel.attributes; // updates keep them
            kernel = *block;
            kernel.values = values;
            kernel.attributes = attributes;
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
