// Conditional nodes: the node owns its bodies, see Node::bodies.
#pragma once

#include "graph_model.hpp"

namespace cudart_cpu::detail {

class ConditionalWork final : public Work {
  public:
    static constexpr cudaGraphNodeType node_type = cudaGraphNodeTypeConditional;

    ConditionalWork(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType kind, unsigned size)
        : handle_(handle), kind_(kind), size_(size) {}

    cudaGraphConditionalHandle handle() const noexcept { return handle_; }
    cudaGraphConditionalNodeType kind() const noexcept { return kind_; }
    unsigned size() const noexcept { return size_; }
    /// The body for a value; nothing if no body runs.
    std::optional<std::size_t> body_for(unsigned value) const noexcept;
    /// Whether the node looks at the value again after a body has run.
    bool repeats() const noexcept { return kind_ == cudaGraphCondTypeWhile; }

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override;
    std::string details() const override;
    void run() const override {} // a launch runs the bodies
    std::string refuse_clone() const override {
        return "Cloning is not supported for graphs containing or contained within a conditional node";
    }
    std::string refuse_as_child(ChildOwnership) const override {
        return "Child graph is not allowed to have conditional nodes";
    }
    std::string refuse_second_exec() const override {
        return "A graph with conditional nodes can have one executable graph at a time";
    }
    std::string refuse_device_launch() const override { return "Device graphs do not support conditional nodes"; }
    std::optional<BodyRefusal> refuse_in_body() const override { return std::nullopt; }
    std::optional<Refusal> refuse_graph_update(const Work& next, bool fixed_priority) const override;
    void added_to(const Graph& graph) const override;
    void removed_from(const Graph& graph) const noexcept override;

  private:
    cudaGraphConditionalHandle handle_;
    cudaGraphConditionalNodeType kind_;
    unsigned size_;
};

cudaGraphConditionalHandle make_condition(Graph& graph, unsigned initial, unsigned flags);

/// Makes the content of a node of `target`, with empty bodies. Throws Failure if CUDA forbids it.
NodeContent conditional_content(const cudaConditionalNodeParams& params, const Graph& target);

/// Whether a conditional node owns the graph, or a graph around it.
bool is_in_body(const Graph& graph) noexcept;

/// Returns a condition of `graph` without a node; 0 if there is none.
cudaGraphConditionalHandle find_unused_condition(const Graph& graph) noexcept;

} // namespace cudart_cpu::detail
