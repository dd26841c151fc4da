// What CUDA fixes of a node when its graph is instantiated.
#include "update_rules.hpp"

#include <fmt/format.h>

namespace cudag::detail {

void refuse_other_kernel(const std::string& what, const std::string& name, Subject&& subject) {
    refuse<UpdateError>(
        fmt::format("{}the node launches {} since the update of the whole graph, whose parameters are others; change "
                    "the node in the graph that the update came from, and update the Exec from that once more, or "
                    "instantiate it and use its handles",
                    what, name),
        std::move(subject));
}

} // namespace cudag::detail
