// A line of kernel nodes, or several beside each other, made by hand and through cudag.
#pragma once

#include "kernels.hpp"
#include "raw_graph.hpp"

#include <cudag/cudag.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace bench {

using Touch = cudag::KernelNode<float*, int, float, unsigned>;

/// The `amount` of each node; the others take 1.
struct Amounts {
    float amount = 1.0f;
    int first = 0; ///< that takes it
    int last = -1;

    [[nodiscard]] float of(int node) const noexcept { return node >= first && node <= last ? amount : 1.0f; }
};

/// The line through the Runtime API.
struct RawLine : RawGraph {
    std::vector<cudaGraphNode_t> nodes;

    void build(int count, float* values, Amounts amounts = {}, int lines = 1) {
        nodes.resize(static_cast<std::size_t>(count));
        cudag::check(cudaGraphCreate(&graph, 0));
        for (int i = 0; i < count; ++i) {
            Arguments arguments{values, i, amounts.of(i), 1};
            const cudaKernelNodeParams params = arguments.params();
            const bool is_first = i < lines;
            const cudaGraphNode_t* before = is_first ? nullptr : &nodes[static_cast<std::size_t>(i - lines)];
            cudag::check(
                cudaGraphAddKernelNode(&nodes[static_cast<std::size_t>(i)], graph, before, is_first ? 0 : 1, &params));
        }
    }

    /// Gives a node of the executable graph new arguments.
    void update(std::size_t node, float* values, float amount) {
        Arguments arguments{values, static_cast<int>(node), amount, 1};
        const cudaKernelNodeParams params = arguments.params();
        cudag::check(cudaGraphExecKernelNodeSetParams(exec, nodes[node], &params));
    }

    /// Gives a node of the executable graph another index and another grid.
    void update(std::size_t node, float* values, int index, unsigned grid) {
        Arguments arguments{values, index, 1.0f, 1};
        cudaKernelNodeParams params = arguments.params();
        params.gridDim.x = grid;
        cudag::check(cudaGraphExecKernelNodeSetParams(exec, nodes[node], &params));
    }

    /// Gives a node of the graph new arguments.
    void update_graph(std::size_t node, float* values, float amount) {
        Arguments arguments{values, static_cast<int>(node), amount, 1};
        const cudaKernelNodeParams params = arguments.params();
        cudag::check(cudaGraphKernelNodeSetParams(nodes[node], &params));
    }

    /// Launches the kernel of a node in a stream.
    static void launch(cudaStream_t stream, int node, float* values, float amount) {
        Arguments arguments{values, node, amount, 1};
        const void* function = reinterpret_cast<const void*>(touch);
        cudag::check(cudaLaunchKernel(function, {1, 1, 1}, {32, 1, 1}, arguments.pointers, 0, stream));
    }

  private:
    struct Arguments {
        float* values;
        int index;
        float amount;
        unsigned count;
        void* pointers[4] = {&values, &index, &amount, &count};

        cudaKernelNodeParams params() {
            cudaKernelNodeParams result{};
            result.func = reinterpret_cast<void*>(touch);
            result.gridDim = {1, 1, 1};
            result.blockDim = {32, 1, 1};
            result.kernelParams = pointers;
            return result;
        }
    };
};

/// The line through cudag.
struct CudagLine {
    std::optional<cudag::Graph> graph;
    std::optional<cudag::Exec> exec;
    std::vector<Touch> nodes;

    /// `values`: float*, borrowed, or DeviceBuffer<float>, which the graph keeps.
    template <class Values>
    void build(int count, const Values& values, Amounts amounts = {}, int lines = 1) {
        nodes.reserve(static_cast<std::size_t>(count));
        // Lines beside each other touch different elements of one buffer.
        cudag::GraphBuilder builder({.races = lines == 1 ? cudag::Races::refused : cudag::Races::allowed});
        for (int i = 0; i < count; ++i) {
            const Touch node = builder.kernel({.block = 32}, touch, values, i, amounts.of(i), 1U);
            if (i >= lines) node.after(nodes[static_cast<std::size_t>(i - lines)]);
            nodes.push_back(node);
        }
        graph = std::move(builder).build();
    }

    void instantiate(const cudag::Plan& plan = {}) { exec = graph->instantiate({.plan = plan}); }
};

} // namespace bench
