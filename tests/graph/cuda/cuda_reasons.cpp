// What CUDA says about a refusal, its log and the node that it names, is handed on.
#include "cuda_version.hpp"
#include "native.hpp"
#include "native_nodes.hpp"
#include "scenario.hpp"

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::InstantiateError;
using cudag::Stream;
using cudag::UpdateError;
using cudag::UpdateVerdict;

namespace {

/// A graph of CUDA's own that is a cycle of two kernels, of which cudag sees the nodes.
Graph adopted_cycle(int* cell) {
    GraphBuilder b;
    b.kernel({}, store, cell, 1);
    b.kernel({}, store, cell, 2);
    const Graph line = std::move(b).build();
    cudaGraph_t native = nullptr;
    cudag::check(cudaGraphClone(&native, line.native()));
    Graph graph = Graph::adopt(native);
    const std::vector<cudag::Node> nodes = graph.nodes();
    const cudaGraphNode_t from[] = {nodes[0].native(), nodes[1].native()};
    const cudaGraphNode_t to[] = {nodes[1].native(), nodes[0].native()};
    cudag::check(add_dependencies(native, from, to, nullptr, 2));
    return graph;
}

/// A copy from the host to the device, labelled "copy".
struct Copy {
    cudag::PinnedBuffer<int> host{1};
    cudag::DeviceBuffer<int> device{1};

    Graph make() {
        GraphBuilder b;
        b.memcpy(device, host).label("copy");
        return std::move(b).build();
    }
    void add_raw(const Graph& graph, cudaMemcpyKind kind) {
        void* const to = kind == cudaMemcpyHostToDevice ? device.data() : host.data();
        const void* const from = kind == cudaMemcpyHostToDevice ? host.data() : device.data();
        add_native_memcpy(graph.native(), {}, to, from, sizeof(int), kind);
    }
};

} // namespace

TEST_CASE("an error of instantiate names the node that CUDA names", "[exec][errors]") {
    const cudag::DeviceBuffer<int> cell(1);
    const Graph graph = adopted_cycle(cell.data());
    for (const cudag::Node& node : graph.nodes())
        node.label("in the cycle");
    const auto error = refused<InstantiateError>([&] { static_cast<void>(graph.instantiate()); });
    CHECK(error.labels() == Labels{"in the cycle"});
    CHECK_THAT(error.what(), ContainsSubstring("instantiate: kernel \"in the cycle\"") && ContainsSubstring("cycle"));
    CHECK(error.log().empty() == !has_log());
    CHECK_THAT(error.what(), ContainsSubstring(logged("CUDA's log: ") + error.log()));
}

TEST_CASE("an error of instantiate says so if CUDA names a node that cudag does not know", "[exec][errors]") {
    GraphBuilder b;
    b.kernel({}, nothing);
    const Graph graph = std::move(b).build();
    cudaGraphNode_t nodes[2] = {};
    for (cudaGraphNode_t& node : nodes)
        node = add_native_empty(graph.native());
    const cudaGraphNode_t other[2] = {nodes[1], nodes[0]};
    cudag::check(add_dependencies(graph.native(), nodes, other, nullptr, 2));
    const auto error = refused<InstantiateError>([&] { static_cast<void>(graph.instantiate()); });
    CHECK(error.labels().empty());
    CHECK_THAT(error.what(), ContainsSubstring("instantiate: a node of kind empty that cudag does not know"));
}

TEST_CASE("a refused update names CUDA's node where cudag finds no difference", "[exec][update][errors]") {
    Copy copy;
    Exec exec = copy.make().instantiate();
    const Graph next = copy.make();
    // behind cudag's back
    cudag::check(cudaGraphMemcpyNodeSetParams1D(next.find("copy").at(0).native(), copy.host.data(), copy.device.data(),
                                                sizeof(int), cudaMemcpyDeviceToHost));
    const auto report = exec.update(next);
    CHECK(report.verdict() == UpdateVerdict::parameters_changed);
    CHECK(report.differences().empty());
    CHECK_THAT(report.reason(), ContainsSubstring("CUDA names memcpy \"copy\""));
    CHECK_THAT(report.to_string(), ContainsSubstring("CUDA names memcpy \"copy\""));
    CHECK_THAT(report.reason(), ContainsSubstring(logged("; CUDA's log: ")));
    CHECK_FALSE(report.reason().ends_with("CUDA's log: "));
}

TEST_CASE("a refused update says so if CUDA names a node that cudag does not know", "[exec][update][errors]") {
    Copy copy;
    const Graph graph = copy.make();
    copy.add_raw(graph, cudaMemcpyHostToDevice);
    const Graph next = copy.make();
    copy.add_raw(next, cudaMemcpyDeviceToHost);
    Exec exec = graph.instantiate();
    const auto report = exec.update(next);
    CHECK_FALSE(report.updated());
    CHECK(report.differences().empty());
    CHECK_THAT(report.reason(), ContainsSubstring("CUDA names a node of kind memcpy that cudag does not know"));
}

TEST_CASE("a refused update does not name a node again that a difference names", "[exec][update][errors]") {
    Copy copy;
    Exec exec = copy.make().instantiate();
    GraphBuilder b;
    b.memcpy(copy.host, copy.device).label("copy");
    const auto report = exec.update(std::move(b).build());
    CHECK_FALSE(report.updated());
    REQUIRE_FALSE(report.differences().empty());
    CHECK(report.differences().front().field == "direction");
    CHECK_THAT(report.reason(), !ContainsSubstring("CUDA names"));
}

TEST_CASE("nodes run with their own priority only where instantiate was told so", "[exec][attributes]") {
    const auto make = [](int priority) {
        GraphBuilder b;
        b.kernel({.priority = priority}, nothing);
        return std::move(b).build();
    };
    const Graph plain = make(0);
    const Graph urgent = make(-1);
    Exec without = plain.instantiate();
    CHECK(without.update(urgent).updated());
    Exec with = plain.instantiate({.use_node_priority = true});
    CHECK(with.update(urgent).verdict() == UpdateVerdict::attributes_changed); // CUDA fixes them then
}
