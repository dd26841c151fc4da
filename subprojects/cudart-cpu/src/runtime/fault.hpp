// Fault injection: counts runtime calls and makes the n-th one fail, or a run of a node.
#pragma once

#include <driver_types.h>

#include <string>

namespace cudart_cpu::detail {

/// Whether `fail_node` has armed a fault of this node.
[[nodiscard]] bool is_node_to_fail(cudaGraphNode_t node) noexcept;
/// Counts one run of that node; records its failure and returns true if it is the run to fail.
[[nodiscard]] bool fails_now(const std::string& title) noexcept;

/// Counts one call; throws the armed Failure if it is the call to fail.
void count_call();

} // namespace cudart_cpu::detail
