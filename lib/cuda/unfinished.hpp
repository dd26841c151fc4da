// Nodes that have begun and not ended, in errors: the recorder above lists them.
#pragma once

#include <cudag/recorder.hpp>

#include <cuda_runtime_api.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudag::detail {

/// Lists the unfinished nodes of all recorded execs; nothing if no exec is recorded.
using ListUnfinished = std::optional<std::vector<UnfinishedNode>> (*)();

/// Gives errors their list. The recorder calls it when the first exec is recorded.
void set_unfinished_list(ListUnfinished list) noexcept;
/// Calls that function; nothing if there is none.
[[nodiscard]] std::optional<std::vector<UnfinishedNode>> list_unfinished();

/// Whether `status` reports a failure of earlier work on the device, rather than of the call itself.
[[nodiscard]] bool is_fault(cudaError_t status) noexcept;

/// Describes the first ten of `nodes` and adds their labels to `labels`: "; nodes begun and not ended: kernel ...".
/// Says so if there are none.
[[nodiscard]] std::string describe_unfinished(std::span<const UnfinishedNode> nodes, std::vector<std::string>& labels);

} // namespace cudag::detail
