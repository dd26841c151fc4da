// The operands of nodes for signalling and waiting for semaphores, without their types.
#pragma once

#include <cudag/detail/owners.hpp>
#include <cudag/external_semaphore.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace cudag::detail {

/// A signal or a wait, without its type.
struct SemaphoreOperation {
    cudaExternalSemaphore_t semaphore;
    std::uint64_t value;
};

/// One wait, or a list of them.
template <class Waits>
concept SemaphoreWaits = std::same_as<std::remove_cvref_t<Waits>, SemaphoreWait> ||
                         std::convertible_to<Waits, std::span<const SemaphoreWait>>;

/// Converts a list of SemaphoreSignals or SemaphoreWaits. Their owners go into `owners`.
template <class Operation>
std::vector<SemaphoreOperation> to_operations(std::span<const Operation> list, Owners& owners) {
    std::vector<SemaphoreOperation> operations;
    operations.reserve(list.size());
    for (const Operation& each : list) {
        keep(owners, static_cast<std::uint32_t>(operations.size()), each.semaphore.owner());
        operations.push_back({each.semaphore.get(), each.value});
    }
    return operations;
}

} // namespace cudag::detail
