// Runs of some nodes of a graph.
#include "graph_steps.hpp"

#include "cuda/failure.hpp"

#include <cudag/format.hpp>
#include <cudag/nested_node.hpp>
#include <cudag/node.hpp>

#include <fmt/format.h>

#include <utility>

namespace cudag::detail {

namespace {

bool is_switched_by_cuda(NodeKind kind) {
    return kind == NodeKind::kernel || kind == NodeKind::memcpy || kind == NodeKind::memset ||
           kind == NodeKind::memcpy_batch;
}

const char* why_not_alone(const Node& node) {
    switch (node.kind()) {
    case NodeKind::alloc:
    case NodeKind::free:
        return "graph memory lasts for one launch";
    case NodeKind::conditional:
        return "the nodes of its body cannot be switched off";
    case NodeKind::signal_semaphore:
    case NodeKind::wait_semaphore:
        return "each run of it needs the other side of the semaphore";
    case NodeKind::batch_mem_op:
        return "it cannot be switched off";
    case NodeKind::kernel:
        return node.kernel_info().config.device_updatable ? "the graph can have one Exec only" : nullptr;
    default:
        return nullptr;
    }
}

void list(const Graph& graph, std::optional<std::uint32_t> outer, std::vector<SteppedNode>& all) {
    std::uint32_t number = 0;
    for (const Node& node : graph.nodes()) {
        const std::uint32_t top = outer.value_or(number++);
        if (node.kind() == NodeKind::child)
            list(node.as<ChildNode>().graph(), top, all);
        else
            all.push_back({node, top});
    }
}

} // namespace

std::vector<SteppedNode> stepped_nodes(const Graph& graph) {
    std::vector<SteppedNode> all;
    list(graph, std::nullopt, all);
    return all;
}

std::optional<std::string> why_not_stepwise(const Graph& graph) {
    for (const SteppedNode& each : stepped_nodes(graph))
        if (const char* why = why_not_alone(each.node)) return fmt::format("{}: {}", to_string(each.node), why);
    return std::nullopt;
}

GraphSteps::GraphSteps(const Graph& graph) : graph_(graph), nodes_(stepped_nodes(graph)) {
    std::erase_if(nodes_, [](const SteppedNode& each) {
        return !is_switched_by_cuda(each.node.kind()) && each.node.kind() != NodeKind::host;
    });
}

void GraphSteps::switch_to(const std::vector<bool>& wanted) {
    for (std::size_t i = 0; exec_ && i < nodes_.size(); ++i)
        if (nodes_[i].node.kind() == NodeKind::host && !is_on_[i] && wanted[nodes_[i].outer])
            exec_.reset(); // its function is only in the graph
    if (!exec_) {
        exec_.emplace(graph_.instantiate());
        is_on_.assign(nodes_.size(), true);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const bool on = wanted[nodes_[i].outer];
        if (on == is_on_[i]) continue;
        if (nodes_[i].node.kind() == NodeKind::host)
            exec_->update(nodes_[i].node.as<HostNode>(), [] {});
        else if (on)
            exec_->enable(nodes_[i].node);
        else
            exec_->disable(nodes_[i].node);
        is_on_[i] = on;
    }
}

void GraphSteps::run(const std::vector<bool>& wanted, StreamRef stream) {
    switch_to(wanted);
    run_once(*exec_, stream);
}

void run_once(Exec& exec, StreamRef stream) {
    exec.launch(stream);
    checked(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
    exec.rethrow();
}

} // namespace cudag::detail
