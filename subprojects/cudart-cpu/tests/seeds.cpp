// The order of unordered graph nodes: drawn from the seed, repeatable, told by last_order().
#include "check.hpp"

#include <cudart_cpu/control.hpp>

#include <set>
#include <string>
#include <vector>

namespace {

constexpr int nodes = 6;

struct Recorder {
    std::vector<int>* order;
    int number;
};

void note(void* data) {
    const auto* recorder = static_cast<Recorder*>(data);
    recorder->order->push_back(recorder->number);
}

/// A graph of host nodes that depend on nothing, so that any order is right.
class UnorderedGraph {
  public:
    UnorderedGraph() {
        recorders_.reserve(nodes);
        CHECK_OK(cudaGraphCreate(&graph_, 0));
        for (int i = 0; i < nodes; ++i) {
            recorders_.push_back({&order_, i});
            cudaHostNodeParams params{};
            params.fn = note;
            params.userData = &recorders_.back();
            cudaGraphNode_t node = nullptr;
            CHECK_OK(cudaGraphAddHostNode(&node, graph_, nullptr, 0, &params));
        }
        CHECK_OK(cudaGraphInstantiate(&exec_, graph_, 0));
    }
    UnorderedGraph(const UnorderedGraph&) = delete;
    UnorderedGraph& operator=(const UnorderedGraph&) = delete;
    ~UnorderedGraph() {
        CHECK_OK(cudaGraphExecDestroy(exec_));
        CHECK_OK(cudaGraphDestroy(graph_));
    }

    std::vector<int> order_under(std::uint64_t seed) {
        order_.clear();
        cudart_cpu::set_seed(seed);
        CHECK_OK(cudaGraphLaunch(exec_, nullptr));
        CHECK_OK(cudaDeviceSynchronize());
        CHECK(order_.size() == nodes);
        return order_;
    }

  private:
    std::vector<Recorder> recorders_;
    std::vector<int> order_;
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t exec_ = nullptr;
};

void with_one_worker_the_seed_decides_the_order() {
    cudart_cpu::set_workers(1);
    UnorderedGraph graph;
    std::set<std::vector<int>> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        seen.insert(graph.order_under(seed));
    }
    CHECK(seen.size() > 10);
    UnorderedGraph same;
    CHECK(graph.order_under(7) == same.order_under(7));
}

void the_order_is_told() {
    cudart_cpu::set_workers(1);
    UnorderedGraph graph;
    graph.order_under(1);
    const std::vector<std::string> first = cudart_cpu::last_order();
    CHECK(first.size() == nodes);
    graph.order_under(2);
    CHECK(cudart_cpu::last_order().size() == nodes);
}

void graphs_are_counted() {
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    {
        UnorderedGraph graph;
        CHECK(cudart_cpu::live().graphs == before.graphs + 1);
        CHECK(cudart_cpu::live().graph_execs == before.graph_execs + 1);
    }
    CHECK(cudart_cpu::live() == before);
}

} // namespace

int main() {
    with_one_worker_the_seed_decides_the_order();
    the_order_is_told();
    graphs_are_counted();
}
