// What CUDA fixes of a node when its graph is instantiated.
#include "update_rules.hpp"

#include "graph/diff_params.hpp"

#include <fmt/format.h>

namespace cudag::detail {

namespace {

std::string problem_of_copy(const CopyParams& current, const CopyParams& next) {
    if (next.kind == current.kind) return {};
    return fmt::format("the direction is {}, the update is {}; CUDA fixes it when the graph is instantiated",
                       direction(current.kind), direction(next.kind));
}

std::string problem_of_set(const SetParams& current, const SetParams& next) {
    if (next.height != current.height)
        return fmt::format("the memset has {} rows, the update {}; CUDA fixes their number when the graph is "
                           "instantiated",
                           current.height, next.height);
    if (current.height == 1) return {};
    const auto fixed = [](const char* what, std::size_t is, std::size_t wanted) {
        return fmt::format("the {} of the 2D memset is {}, the update's {}; CUDA updates address and value only", what,
                           is, wanted);
    };
    if (next.element_bytes != current.element_bytes)
        return fixed("element size", current.element_bytes, next.element_bytes);
    if (next.size != current.size) return fixed("width", current.size, next.size);
    if (next.pitch != current.pitch) return fixed("pitch", current.pitch, next.pitch);
    return {};
}

} // namespace

void refuse_other_kernel(const std::string& what, const std::string& name, Subject&& subject) {
    refuse<UpdateError>(
        fmt::format("{}the node launches {} since the update of the whole graph, whose parameters are others; change "
                    "the node in the graph that the update came from, and update the Exec from that once more, or "
                    "instantiate it and use its handles",
                    what, name),
        std::move(subject));
}

std::string problem_in_exec(const NodeParams& current, const NodeParams& next) {
    const bool regions = std::holds_alternative<const cudaMemcpy3DParms*>(current) ||
                         std::holds_alternative<const cudaMemcpy3DParms*>(next);
    if (regions && !same_params(current, next))
        return "CUDA updates 1D copies only; change the Graph with Graph::update, and instantiate() it again";
    if (const auto* copy = std::get_if<const CopyParams*>(&current))
        if (const auto* to = std::get_if<const CopyParams*>(&next)) return problem_of_copy(**copy, **to);
    if (const auto* set = std::get_if<const SetParams*>(&current))
        if (const auto* to = std::get_if<const SetParams*>(&next)) return problem_of_set(**set, **to);
    return {};
}

} // namespace cudag::detail
