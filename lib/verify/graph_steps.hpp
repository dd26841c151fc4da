// GraphSteps: runs some nodes of a graph, the others switched off.
#pragma once

#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cudag::detail {

/// Returns why the nodes of `graph` cannot run one by one: "graph memory", with the node; nothing if they can.
[[nodiscard]] std::optional<std::string> why_not_stepwise(const Graph& graph);

/// The nodes of a graph, and those inside children, with the numbers of the outer nodes.
struct SteppedNode {
    Node node;
    std::uint32_t outer;
};
[[nodiscard]] std::vector<SteppedNode> stepped_nodes(const Graph& graph);

/// Runs parts of a graph: nodes of other kinds than kernels, copies, fills and host nodes always run.
class GraphSteps {
  public:
    explicit GraphSteps(const Graph& graph);

    /// Runs the nodes with `wanted`, by number, once, to the end.
    void run(const std::vector<bool>& wanted, StreamRef stream);

  private:
    void switch_to(const std::vector<bool>& wanted);

    const Graph& graph_;
    std::vector<SteppedNode> nodes_; ///< that can be switched
    std::vector<bool> is_on_;        ///< by place in `nodes_`
    std::optional<Exec> exec_;
};

/// Launches `exec` once, and waits. Throws what its host nodes threw.
void run_once(Exec& exec, StreamRef stream);

} // namespace cudag::detail
