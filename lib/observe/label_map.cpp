// The labels of an exec's nodes, as one line of JSON.
#include "label_map.hpp"

#include <cudag/exec.hpp>
#include <cudag/format.hpp>

#include "exec/exec_state.hpp"
#include "graph/graph_state.hpp"
#include "profile/profile_texts.hpp"
#include "profile/profiled_nodes.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <unistd.h>

namespace cudag::detail {

std::string label_line(const Exec& exec, unsigned instance) {
    const ExecState& state = Access::state(exec);
    const ExecNodes listed = nodes_of(state);
    const Construction& made = state.source().construction();
    std::string line = fmt::format("{{\"cudag\": 1, \"pid\": {}, \"instance\": {}, \"graph\": {}, \"made_at\": {}, "
                                   "\"nodes\": [",
                                   ::getpid(), instance, json_string(made.name),
                                   json_string(made.made_at.line == 0 ? "" : fmt::format("{}", made.made_at)));
    std::uint32_t index = 0; // of the nodes outside of others, which are listed in order
    for (const NodeProfile& node : listed.profiled.nodes) {
        if (&node != &listed.profiled.nodes.front()) line += ", ";
        const std::string number =
            node.outer ? std::string("null") : std::to_string(state.source().identity().number_of(index++));
        line += fmt::format("{{\"number\": {}, \"kind\": \"{}\", \"kernel\": {}, \"label\": {}, \"node\": {}, "
                            "\"location\": {}}}",
                            number, node.kind, json_string(node.kernel), json_string(node.label),
                            json_string(node.description),
                            json_string(node.location.line == 0 ? "" : fmt::format("{}", node.location)));
    }
    return line + "]}";
}

} // namespace cudag::detail
