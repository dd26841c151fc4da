// Edges that say what they wait for: programmatic ones between kernels.
#include "nodes.hpp"
#include "programmatic.hpp"

#include <cstddef>
#include <vector>

namespace {

cudaGraphEdgeData early(unsigned char port) {
    cudaGraphEdgeData data{};
    data.from_port = port;
    data.type = cudaGraphDependencyTypeProgrammatic;
    return data;
}

const cudaGraphEdgeData triggered = early(cudaGraphKernelNodePortProgrammatic);
const cudaGraphEdgeData begun = early(cudaGraphKernelNodePortLaunchCompletion);

bool same(const cudaGraphEdgeData& a, const cudaGraphEdgeData& b) {
    return a.from_port == b.from_port && a.to_port == b.to_port && a.type == b.type;
}

cudaError_t add(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, const cudaGraphEdgeData* data) {
    return cudaGraphAddDependencies(graph, &from, &to, data, 1);
}

cudaError_t remove(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to, const cudaGraphEdgeData* data) {
    return cudaGraphRemoveDependencies(graph, &from, &to, data, 1);
}

/// Of the graph's only edge.
cudaGraphEdgeData data_of(cudaGraph_t graph) {
    cudaGraphNode_t from = nullptr;
    cudaGraphNode_t to = nullptr;
    cudaGraphEdgeData data{};
    data.type = 9;
    std::size_t count = 1;
    REQUIRE_CUDA(cudaGraphGetEdges(graph, &from, &to, &data, &count));
    REQUIRE(count == 1);
    return data;
}

std::size_t edge_count(cudaGraph_t graph) {
    std::size_t count = 0;
    REQUIRE_CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    return count;
}

/// Three kernels, without edges.
struct Three {
    Call<> call{nothing};
    Graph graph;
    cudaGraphNode_t a = add_kernel(graph, call);
    cudaGraphNode_t b = add_kernel(graph, call);
    cudaGraphNode_t c = add_kernel(graph, call);
};

} // namespace

TEST_CASE("an edge keeps its data", "[edges][edge_data]") {
    const Three g;
    const cudaGraphEdgeData data = GENERATE(triggered, begun);
    REQUIRE_CUDA(add(g.graph, g.a, g.b, &data));
    REQUIRE(same(data_of(g.graph), data));

    cudaGraphNode_t node = nullptr;
    cudaGraphEdgeData found{};
    std::size_t count = 1;
    REQUIRE_CUDA(cudaGraphNodeGetDependencies(g.b, &node, &found, &count));
    REQUIRE(node == g.a);
    REQUIRE(same(found, data));
    found = {};
    REQUIRE_CUDA(cudaGraphNodeGetDependentNodes(g.a, &node, &found, &count));
    REQUIRE(node == g.b);
    REQUIRE(same(found, data));
}

TEST_CASE("a node is added with data for its edges", "[edges][edge_data][generic]") {
    Three g;
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = g.call.function();
    params.kernel.gridDim = g.call.grid;
    params.kernel.blockDim = g.call.block;
    params.kernel.kernelParams = g.call.arguments();
    const Nodes before{g.a, g.b, g.c};
    const std::vector<cudaGraphEdgeData> data{triggered, {}, begun};
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddNode(&node, g.graph, before.data(), data.data(), before.size(), &params));
    Nodes found(3);
    std::vector<cudaGraphEdgeData> found_data(3);
    std::size_t count = 3;
    REQUIRE_CUDA(cudaGraphNodeGetDependencies(node, found.data(), found_data.data(), &count));
    REQUIRE(found == before);
    for (std::size_t i = 0; i < 3; ++i) {
        REQUIRE(same(found_data[i], data[i]));
    }
}

TEST_CASE("a query that would lose edge data is refused", "[edges][edge_data]") {
    const Three g;
    REQUIRE_CUDA(add(g.graph, g.a, g.b, &triggered));
    REQUIRE_CUDA(add(g.graph, g.b, g.c, nullptr));
    Nodes from(2);
    Nodes to(2);
    std::size_t count = 2;
    REQUIRE_CUDA_ERROR(cudaErrorLossyQuery, cudaGraphGetEdges(g.graph, from.data(), to.data(), nullptr, &count));
    count = 1;
    REQUIRE_CUDA_ERROR(cudaErrorLossyQuery, cudaGraphNodeGetDependencies(g.b, from.data(), nullptr, &count));
    count = 1;
    REQUIRE_CUDA_ERROR(cudaErrorLossyQuery, cudaGraphNodeGetDependentNodes(g.a, to.data(), nullptr, &count));

    REQUIRE(edge_count(g.graph) == 2);
    count = 1;
    REQUIRE_CUDA(cudaGraphNodeGetDependencies(g.c, from.data(), nullptr, &count));
    REQUIRE(from[0] == g.b);
    REQUIRE_CUDA(cudaGraphNodeGetDependencies(g.b, nullptr, nullptr, &count));
    REQUIRE(count == 1);
}

TEST_CASE("an edge is removed whatever data is given for it", "[edges][edge_data]") {
    const Three g;
    const cudaGraphEdgeData ordinary{};
    for (const cudaGraphEdgeData* has : {&triggered, &ordinary}) {
        for (const cudaGraphEdgeData* given :
             {&triggered, &begun, &ordinary, static_cast<const cudaGraphEdgeData*>(nullptr)}) {
            REQUIRE_CUDA(add(g.graph, g.a, g.b, has));
            REQUIRE_CUDA(remove(g.graph, g.a, g.b, given));
            REQUIRE(edge_count(g.graph) == 0);
        }
    }
}

TEST_CASE("all edges of one call get the data of the first", "[edges][edge_data]") {
    const Three g;
    const cudaGraphNode_t from[] = {g.a, g.b};
    const cudaGraphNode_t to[] = {g.b, g.c};
    const cudaGraphEdgeData data[] = {begun, triggered};
    REQUIRE_CUDA(cudaGraphAddDependencies(g.graph, from, to, data, 2));
    cudaGraphEdgeData found[2]{};
    cudaGraphNode_t ends[2]{};
    cudaGraphNode_t starts[2]{};
    std::size_t count = 2;
    REQUIRE_CUDA(cudaGraphGetEdges(g.graph, starts, ends, found, &count));
    REQUIRE(same(found[0], begun));
    REQUIRE(same(found[1], begun));
}

TEST_CASE("an edge that exists is refused, also with other data", "[edges][edge_data]") {
    const Three g;
    REQUIRE_CUDA(add(g.graph, g.a, g.b, &triggered));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(g.graph, g.a, g.b, &triggered));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(g.graph, g.a, g.b, &begun));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(g.graph, g.a, g.b, nullptr));
    REQUIRE(edge_count(g.graph) == 1);
}

TEST_CASE("a programmatic edge has one of the two ports", "[edges][edge_data]") {
    const Three g;
    const auto refuse = [&](const cudaGraphEdgeData& data) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(g.graph, g.a, g.b, &data));
        REQUIRE(edge_count(g.graph) == 0);
    };
    refuse(early(cudaGraphKernelNodePortDefault));
    refuse(early(3));
    cudaGraphEdgeData data = triggered;
    data.type = cudaGraphDependencyTypeDefault;
    refuse(data);
    data = triggered;
    data.to_port = 1;
    refuse(data);
    data = triggered;
    data.type = 2;
    refuse(data);
    data = triggered;
    data.reserved[4] = 1;
    refuse(data);
}

TEST_CASE("a programmatic edge leads from a kernel to a kernel", "[edges][edge_data]") {
    Three g;
    DeviceInts data(1);
    const cudaGraphNode_t set = add_memset(g.graph, set_ints(data.data(), 1, 1));
    const cudaGraphNode_t empty = add_empty(g.graph);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(g.graph, set, g.a, &triggered));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(g.graph, g.a, set, &triggered));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(g.graph, g.a, empty, &begun));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(g.graph, empty, g.a, &begun));
    auto node = untouched<cudaGraphNode_t>();
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeEmpty;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddNode(&node, g.graph, &g.a, &triggered, 1, &params));
    REQUIRE(edge_count(g.graph) == 0);
    REQUIRE(nodes_of(g.graph).size() == 5);
}

TEST_CASE("any node may wait for a kernel to have begun", "[edges][edge_data]") {
    Stream stream;
    const Three g;
    DeviceInts data(1);
    const cudaGraphNode_t set = add_memset(g.graph, set_ints(data.data(), 1, 1));
    const cudaGraphNode_t empty = add_empty(g.graph);
    cudaGraphEdgeData edge{};
    edge.from_port = cudaGraphKernelNodePortLaunchCompletion;
    REQUIRE_CUDA(add(g.graph, g.a, g.b, &edge));
    REQUIRE_CUDA(add(g.graph, g.a, set, &edge));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add(g.graph, empty, g.c, &edge));
    REQUIRE(edge_count(g.graph) == 2);
    Exec(g.graph).run(stream);
    REQUIRE(data.read() == std::vector{1});
}

TEST_CASE("edge data is of no use without the nodes", "[edges][edge_data]") {
    const Three g;
    REQUIRE_CUDA(add(g.graph, g.a, g.b, &triggered));
    cudaGraphEdgeData data{};
    std::size_t count = 1;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphGetEdges(g.graph, nullptr, nullptr, &data, &count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetDependencies(g.b, nullptr, &data, &count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeGetDependentNodes(g.a, nullptr, &data, &count));
}

TEST_CASE("a clone keeps edge data", "[edges][edge_data][clone]") {
    const Three g;
    const cudaGraphEdgeData data = GENERATE(triggered, begun);
    REQUIRE_CUDA(add(g.graph, g.a, g.b, &data));
    Graph clone(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), g.graph));
    REQUIRE(same(data_of(clone), data));
}

TEST_CASE("edge data cannot change in a whole update", "[edges][edge_data][exec_update]") {
    const Three original;
    const Three changed;
    REQUIRE_CUDA(add(original.graph, original.a, original.b, &triggered));
    const Exec exec(original.graph);
    cudaGraphExecUpdateResultInfo info{};
    SECTION("it is the same") {
        REQUIRE_CUDA(add(changed.graph, changed.a, changed.b, &triggered));
        REQUIRE_CUDA(cudaGraphExecUpdate(exec, changed.graph, &info));
        REQUIRE(info.result == cudaGraphExecUpdateSuccess);
    }
    SECTION("it is gone") {
        REQUIRE_CUDA(add(changed.graph, changed.a, changed.b, nullptr));
        REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, changed.graph, &info));
        REQUIRE(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    }
    SECTION("it has another port") {
        REQUIRE_CUDA(add(changed.graph, changed.a, changed.b, &begun));
        REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, changed.graph, &info));
        REQUIRE(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    }
}

TEST_CASE("over a programmatic edge, a kernel that waits sees what the other wrote", "[edge_data]") {
    Stream stream;
    DeviceInts data(2);
    data.write({0, 0});
    const cudaGraphEdgeData edge = GENERATE(triggered, begun);
    Call write(trigger_then_store, data.data(), 0, 5);
    Call read(wait_then_copy_plus, data.data(), data.data() + 1, 1, 1);
    Graph graph;
    const cudaGraphNode_t writer = add_kernel(graph, write);
    const cudaGraphNode_t reader = add_kernel(graph, read);
    REQUIRE_CUDA(add(graph, writer, reader, &edge));
    const Exec exec(graph);
    for (int value = 5; value < 15; ++value) {
        write.argument<2>() = value;
        const cudaKernelNodeParams params = write.params();
        REQUIRE_CUDA(cudaGraphExecKernelNodeSetParams(exec, writer, &params));
        exec.run(stream);
        REQUIRE(data.read() == std::vector{value, value + 1});
    }
}

TEST_CASE("a line of kernels with programmatic edges, each of which waits, runs in order", "[edge_data]") {
    constexpr int length = 40;
    Stream stream;
    DeviceInts data(length + 1);
    Graph graph;
    Call first(trigger_then_store, data.data(), 0, 1);
    cudaGraphNode_t last = add_kernel(graph, first);
    for (int i = 0; i < length; ++i) {
        Call next(wait_copy_plus_trigger, data.data() + i, data.data() + i + 1, 1, 1);
        const cudaGraphNode_t node = add_kernel(graph, next);
        REQUIRE_CUDA(add(graph, last, node, &triggered));
        last = node;
    }
    std::vector<int> expected;
    for (int i = 0; i <= length; ++i) {
        expected.push_back(i + 1);
    }
    const Exec exec(graph);
    for (int i = 0; i < 5; ++i) {
        data.write(std::vector<int>(length + 1, poison));
        exec.run(stream);
        REQUIRE(data.read() == expected);
    }
}

TEST_CASE("a kernel may depend on some kernels wholly and on others programmatically", "[edge_data]") {
    Stream stream;
    DeviceInts data(4);
    Call whole(store, data.data(), 0, 1);
    Call early_one(trigger_then_store, data.data(), 1, 2);
    Call read(wait_then_copy_plus, data.data(), data.data() + 2, 2, 10);
    read.block = dim3(2);
    Graph graph;
    const cudaGraphNode_t first = add_kernel(graph, whole);
    const cudaGraphNode_t second = add_kernel(graph, early_one);
    const cudaGraphNode_t reader = add_kernel(graph, read, {first});
    REQUIRE_CUDA(add(graph, second, reader, &triggered));
    const Exec exec(graph);
    for (int i = 0; i < 10; ++i) {
        data.write({0, 0, 0, 0});
        exec.run(stream);
        REQUIRE(data.read() == std::vector{1, 2, 11, 12});
    }
}

TEST_CASE("what comes before a kernel comes before what depends on it programmatically", "[edge_data]") {
    Stream stream;
    DeviceInts data(2);
    Call before(store, data.data(), 0, 5);
    Call middle(nothing);
    Call read(copy_plus, data.data(), data.data() + 1, 1, 1);
    Graph graph;
    const cudaGraphNode_t first = add_kernel(graph, before);
    const cudaGraphNode_t second = add_kernel(graph, middle, {first});
    const cudaGraphNode_t reader = add_kernel(graph, read);
    REQUIRE_CUDA(add(graph, second, reader, &triggered));
    const Exec exec(graph);
    for (int i = 0; i < 10; ++i) {
        data.write({0, 0});
        exec.run(stream);
        REQUIRE(data.read() == std::vector{5, 6});
    }
}

TEST_CASE("a kernel never ends before the kernels that it depends on programmatically", "[edge_data]") {
    Stream stream;
    DeviceInts data(5);
    PinnedInts seen(2);
    const cudaGraphEdgeData edge = GENERATE(triggered, begun);
    const bool waits = GENERATE(false, true);
    const std::size_t between = GENERATE(std::size_t{1}, std::size_t{3});
    CAPTURE(edge.from_port, waits, between);
    Call write(trigger_then_store_late, data.data(), 0, 5);
    Call read_waiting(wait_then_copy_plus, data.data(), data.data() + 1, 1, 1);
    Call read_at_once(copy_plus, data.data(), data.data() + 1, 1, 1);
    Graph graph;
    const cudaGraphNode_t first = add_kernel(graph, write);
    cudaGraphNode_t last = first;
    for (std::size_t i = 0; i < between; ++i) {
        const cudaGraphNode_t next = waits ? add_kernel(graph, read_waiting) : add_kernel(graph, read_at_once);
        REQUIRE_CUDA(add(graph, last, next, &edge));
        last = next;
    }
    Call copy(copy_plus, data.data(), data.data() + 2, 1, 100);
    add_kernel(graph, copy, {last});
    add_memcpy(graph, seen.data(), data.data(), sizeof(int), cudaMemcpyDeviceToHost, {last});
    const Exec exec(graph);
    for (int i = 0; i < 50; ++i) {
        data.write({0, 0, 0, 0, 0});
        seen[0] = poison;
        exec.run(stream);
        const std::vector<int> after = data.read();
        REQUIRE(after[0] == 5);
        REQUIRE(after[2] == 105);
        REQUIRE(seen[0] == 5);
        if (waits) {
            REQUIRE(after[1] == 6);
        }
    }
}

TEST_CASE("a kernel that waits may stand at no programmatic edge, or behind a disabled kernel", "[edge_data]") {
    Stream stream;
    DeviceInts data(2);
    data.write({3, 0});
    Call write(trigger_then_store, data.data(), 0, 5);
    Call read(wait_then_copy_plus, data.data(), data.data() + 1, 1, 1);
    Graph graph;
    const cudaGraphNode_t reader = add_kernel(graph, read);
    SECTION("no edge") {
        Exec(graph).run(stream);
    }
    SECTION("a disabled kernel") {
        const cudaGraphNode_t writer = add_kernel(graph, write);
        REQUIRE_CUDA(add(graph, writer, reader, &triggered));
        const Exec exec(graph);
        REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, writer, 0));
        exec.run(stream);
    }
    SECTION("outside of a graph") {
        read.launch(stream);
        stream.synchronize();
    }
    REQUIRE(data.read() == std::vector{3, 4});
}

TEST_CASE("a disabled kernel keeps the order that its programmatic edges give", "[edge_data]") {
    Stream stream;
    DeviceInts data(3);
    Call write(trigger_then_store_late, data.data(), 0, 5);
    Call between(nothing);
    Call read(wait_then_copy_plus, data.data(), data.data() + 1, 1, 10);
    Call last(copy_plus, data.data(), data.data() + 2, 1, 100);
    Graph graph;
    const cudaGraphNode_t writer = add_kernel(graph, write);
    const cudaGraphNode_t middle = add_kernel(graph, between);
    const cudaGraphNode_t reader = add_kernel(graph, read);
    add_kernel(graph, last, {reader});
    REQUIRE_CUDA(add(graph, writer, middle, &triggered));
    REQUIRE_CUDA(add(graph, middle, reader, &triggered));
    const Exec exec(graph);
    const bool runs_reader = GENERATE(false, true);
    REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, runs_reader ? middle : reader, 0));
    for (int i = 0; i < 50; ++i) {
        data.write({0, 0, 0});
        exec.run(stream);
        REQUIRE(data.read() == std::vector{5, runs_reader ? 15 : 0, 105});
    }
}
