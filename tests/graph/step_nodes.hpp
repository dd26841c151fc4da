// The steps of a DAG as nodes of a builder.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cuda_version.hpp"
#include "dag.hpp"
#include "test.hpp"

/// What a step is called in every graph.
inline std::string step_label(std::size_t step) {
    return "step " + std::to_string(step);
}

/// Takes the steps of a DAG in their order, one call each.
class StepNodes {
  public:
    StepNodes(const Dag& dag, cudag::GraphBuilder& builder) : dag_(dag), builder_(builder) {}

    template <class... P, class... A>
    void kernel(void (*function)(P...), A&&... arguments) {
        add(builder_.kernel({}, function, std::forward<A>(arguments)...));
    }
    void host(std::function<void()> function) { add(builder_.host(std::move(function))); }
    void copy(cudag::DeviceSpan<std::uint32_t> to, cudag::DeviceSpan<std::uint32_t> from) {
        add(builder_.memcpy(to, from));
    }
    void fill(cudag::DeviceSpan<std::uint32_t> cells, std::uint32_t value) { add(builder_.memset(cells, value)); }
    void child(cudag::Graph graph) { add(add_child(builder_, std::move(graph))); }
    template <class Body>
    void branch(Body body) {
        add(builder_.if_(builder_.condition(1), std::move(body)));
    }
    void join() {
        const std::vector<cudag::Node> before = nodes_before();
        nodes_.push_back(builder_.join(before.front(), before).label(step_label(nodes_.size())));
    }

    /// Takes the steps of the next part, which are the nodes of `region`: none for joins.
    void region(const Part& part, const cudag::CapturedNode& region) {
        const std::vector<cudag::Node> before = nodes_before(part);
        if (!before.empty()) region.after(before);
        const std::vector<cudag::Node> captured = region.nodes();
        auto next = captured.begin();
        for (std::size_t i = part.first; i < part.end; ++i)
            nodes_.push_back(dag_.steps[i].action == Action::join ? cudag::Node() : *next++);
        if (next != captured.end()) throw std::logic_error("a step makes one node at most");
    }

  private:
    template <class N>
    void add(const N& node) {
        nodes_.push_back(node.after(nodes_before()).label(step_label(nodes_.size())));
    }

    /// What the steps of a part come after outside of it, seen through joins that have no node.
    [[nodiscard]] std::vector<cudag::Node> nodes_before(const Part& part) const {
        std::vector<cudag::Node> before;
        for (std::size_t i = part.first; i < part.end; ++i)
            for (const std::size_t earlier : dag_.steps[i].after) {
                if (earlier >= part.first) continue;
                if (nodes_[earlier] != cudag::Node())
                    before.push_back(nodes_[earlier]);
                else
                    for (const std::size_t input : dag_.steps[earlier].inputs)
                        before.push_back(nodes_[input]);
            }
        return before;
    }
    [[nodiscard]] std::vector<cudag::Node> nodes_before() const {
        return nodes_before({nodes_.size(), nodes_.size() + 1});
    }

    const Dag& dag_;
    cudag::GraphBuilder& builder_;
    std::vector<cudag::Node> nodes_;
};
