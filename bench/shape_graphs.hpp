// A shape as a graph of kernels that take a given time, made by hand and through cudag.
#pragma once

#include "kernels.hpp"
#include "raw_graph.hpp"
#include "shapes.hpp"

#include <cudag/cudag.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace bench {

/// What the Runtime API is given for a barrier.
enum class Barriers { empty_nodes, empty_kernels };

/// The shape through the Runtime API, its edges as they are written.
struct RawShape : RawGraph {
    void build(const Shape& shape, unsigned nanoseconds, Barriers barriers = Barriers::empty_nodes) {
        cudag::check(cudaGraphCreate(&graph, 0));
        std::vector<cudaGraphNode_t> nodes(shape.size());
        std::vector<cudaGraphNode_t> before;
        for (Shape::Node node = 0; node < shape.size(); ++node) {
            before.clear();
            for (const Shape::Node from : shape.predecessors(node))
                before.push_back(nodes[from]);
            if (!shape.is_barrier(node))
                add_kernel(nodes[node], before, nanoseconds);
            else if (barriers == Barriers::empty_kernels)
                add_kernel(nodes[node], before, 0);
            else
                cudag::check(cudaGraphAddEmptyNode(&nodes[node], graph, before.data(), before.size()));
        }
    }

  private:
    void add_kernel(cudaGraphNode_t& node, const std::vector<cudaGraphNode_t>& before, unsigned nanoseconds) {
        void* arguments[] = {&nanoseconds};
        cudaKernelNodeParams params{};
        params.func = reinterpret_cast<void*>(spin);
        params.gridDim = {1, 1, 1};
        params.blockDim = {32, 1, 1};
        params.kernelParams = arguments;
        cudag::check(cudaGraphAddKernelNode(&node, graph, before.data(), before.size(), &params));
    }
};

/// The shape through cudag, barriers as joins.
inline cudag::Graph build_graph(const Shape& shape, unsigned nanoseconds) {
    cudag::GraphBuilder builder;
    std::vector<cudag::Node> nodes;
    nodes.reserve(shape.size());
    std::vector<cudag::Node> before;
    for (Shape::Node node = 0; node < shape.size(); ++node) {
        before.clear();
        for (const Shape::Node from : shape.predecessors(node))
            before.push_back(nodes[from]);
        if (shape.is_barrier(node)) {
            nodes.push_back(builder.join(before));
            continue;
        }
        const auto kernel = builder.kernel({.block = 32}, spin, nanoseconds);
        if (!before.empty()) kernel.after(before);
        nodes.push_back(kernel);
    }
    return std::move(builder).build();
}

} // namespace bench
