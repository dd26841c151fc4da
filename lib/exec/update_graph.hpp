// Updates of an exec by whole graphs.
#pragma once

#include "exec_state.hpp"

#include <cudag/update_options.hpp>
#include <cudag/update_report.hpp>

#include <memory>

namespace cudag::detail {

/// When cudag itself compares the graphs, as far as they are read: before CUDA does, or only to explain CUDA's refusal,
/// for graphs that are usually alike.
enum class Compared { first, if_refused };

/// Gives CUDA the whole graph.
[[nodiscard]] UpdateReport update_whole(ExecState& exec, const std::shared_ptr<GraphState>& graph,
                                        const UpdateOptions& options = {}, Compared compared = Compared::first);

} // namespace cudag::detail
