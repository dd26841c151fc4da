// Whole-graph update: what may differ, what the result says, and that a refused update changes nothing.
#include "capture.hpp"

#include <cstddef>
#include <vector>

namespace {

void CUDART_CB increment(void* data) {
    ++*static_cast<int*>(data);
}

/// kernel > memcpy > memset > host; what a test wants different it sets before build().
struct Pipeline {
    explicit Pipeline(DeviceInts& data) : call(store, data.data(), 0, 1), set(set_ints(data.data() + 2, 1, 3)) {
        copy_to = data.data() + 1;
        copy_from = &host_source;
    }

    void build() {
        nodes.push_back(kernel_is_empty ? add_empty(graph) : add_kernel(graph, call));
        nodes.push_back(add_memcpy(graph, copy_to, copy_from, copy_bytes, copy_kind, {nodes[0]}));
        nodes.push_back(add_memset(graph, set, {nodes[1]}));
        nodes.push_back(add_host(graph, {increment, counter}, {nodes[2]}));
    }

    Call<int*, int, int> call;
    bool kernel_is_empty = false;
    int host_source = 2;
    void* copy_to;
    const void* copy_from;
    std::size_t copy_bytes = sizeof(int);
    cudaMemcpyKind copy_kind = cudaMemcpyHostToDevice;
    cudaMemsetParams set;
    int count = 0;
    int* counter = &count;
    Graph graph;
    Nodes nodes;
};

struct Report {
    cudaError_t code;
    cudaGraphExecUpdateResult result;
    cudaGraphNode_t node;
    cudaGraphNode_t from_node;
};

Report update(cudaGraphExec_t exec, cudaGraph_t graph) {
    cudaGraphExecUpdateResultInfo info{};
    info.result = cudaGraphExecUpdateErrorAttributesChanged;
    info.errorNode = untouched<cudaGraphNode_t>();
    info.errorFromNode = untouched<cudaGraphNode_t>();
    const cudaError_t code = cudaGraphExecUpdate(exec, graph, &info);
    REQUIRE(cudaGetLastError() == code);
    return {code, info.result, info.errorNode, info.errorFromNode};
}

struct Fixture {
    Stream stream;
    DeviceInts data{4};
    Pipeline original{data};
    Pipeline changed{data};

    Fixture() { original.build(); }

    void require_updated(cudaGraphExec_t exec) {
        const Report report = update(exec, changed.graph);
        REQUIRE(report.code == cudaSuccess);
        REQUIRE(report.result == cudaGraphExecUpdateSuccess);
        REQUIRE(report.node == nullptr);
        REQUIRE(report.from_node == nullptr);
    }
    /// The update is refused for `result` and names `node`; the executable graph still does what it did.
    void require_refused(const Exec& exec, cudaGraphExecUpdateResult result, cudaGraphNode_t node) {
        const Report report = update(exec, changed.graph);
        REQUIRE(report.code == cudaErrorGraphExecUpdateFailure);
        REQUIRE(report.result == result);
        REQUIRE(report.node == node);
        REQUIRE(report.from_node == nullptr);
        exec.run(stream);
        REQUIRE(data.read() == std::vector{1, 2, 3, poison});
        REQUIRE(original.count == 1);
        REQUIRE(changed.count == 0);
    }
};

} // namespace

TEST_CASE("a whole update takes all parameters over", "[exec_update][whole]") {
    Fixture f;
    f.changed.call.argument<2>() = 10;
    f.changed.host_source = 20;
    f.changed.set.value = 30;
    f.changed.build();
    const Exec exec(f.original.graph);
    f.require_updated(exec);
    exec.run(f.stream);
    REQUIRE(f.data.read() == std::vector{10, 20, 30, poison});
    REQUIRE(f.original.count == 0);
    REQUIRE(f.changed.count == 1);
}

TEST_CASE("a whole update may change the kernel, its grid and sizes", "[exec_update][whole]") {
    Fixture f;
    Call<int*, int, int> plus(add, f.data.data(), 3, 5);
    f.data.write({0, 0, 0, 0});
    const Exec exec(f.original.graph);
    f.changed.kernel_is_empty = false;
    f.changed.copy_to = f.data.data() + 1;
    f.changed.set.width = 2;
    f.changed.set.dst = f.data.data() + 1;
    plus.grid = dim3(2);
    f.changed.nodes.push_back(add_kernel(f.changed.graph, plus));
    f.changed.nodes.push_back(add_memcpy(f.changed.graph, f.data.data(), &f.changed.host_source, sizeof(int),
                                         cudaMemcpyHostToDevice, {f.changed.nodes[0]}));
    f.changed.nodes.push_back(add_memset(f.changed.graph, f.changed.set, {f.changed.nodes[1]}));
    add_host(f.changed.graph, {increment, &f.changed.count}, {f.changed.nodes[2]});
    f.require_updated(exec);
    exec.run(f.stream);
    REQUIRE(f.data.read() == std::vector{2, 3, 3, 10});
}

TEST_CASE("a whole update may change the element size and the pageable source", "[exec_update][whole]") {
    Fixture f;
    PinnedInts pinned(1);
    pinned[0] = 8;
    f.changed.copy_from = pinned.data();
    f.changed.set.elementSize = 1;
    f.changed.set.width = 4;
    f.changed.set.value = 0x11;
    f.changed.build();
    const Exec exec(f.original.graph);
    f.require_updated(exec);
    exec.run(f.stream);
    REQUIRE(f.data.read() == std::vector{1, 8, 0x11111111, poison});
}

TEST_CASE("a whole update from the same graph takes its new parameters", "[exec_update][whole]") {
    Fixture f;
    const Exec exec(f.original.graph);
    f.original.call.argument<2>() = 10;
    const cudaKernelNodeParams params = f.original.call.params();
    REQUIRE_CUDA(cudaGraphKernelNodeSetParams(f.original.nodes[0], &params));
    REQUIRE(update(exec, f.original.graph).code == cudaSuccess);
    exec.run(f.stream);
    REQUIRE(f.data.read() == std::vector{10, 2, 3, poison});
}

TEST_CASE("a copy's memory types cannot change in a whole update", "[exec_update][whole]") {
    Fixture f;
    DeviceInts other(1);
    int destination = poison;
    SECTION("from host-to-device to device-to-host") {
        f.changed.copy_to = &destination;
        f.changed.copy_from = other.data();
        f.changed.copy_kind = cudaMemcpyDeviceToHost;
    }
    SECTION("from host-to-device to device-to-device") {
        f.changed.copy_from = other.data();
        f.changed.copy_kind = cudaMemcpyDeviceToDevice;
    }
    SECTION("from host-to-device to the default kind") {
        f.changed.copy_kind = cudaMemcpyDefault;
    }
    f.changed.build();
    const Exec exec(f.original.graph);
    f.require_refused(exec, cudaGraphExecUpdateErrorParametersChanged, f.changed.nodes[1]);
}

TEST_CASE("a memset's number of rows cannot change in a whole update", "[exec_update][whole]") {
    Fixture f;
    f.changed.set.height = 2;
    f.changed.set.pitch = 4;
    // Comes before the memset, and would be fine by itself.
    f.changed.call.argument<2>() = 10;
    f.changed.build();
    const Exec exec(f.original.graph);
    f.require_refused(exec, cudaGraphExecUpdateErrorParametersChanged, f.changed.nodes[2]);
}

TEST_CASE("a node's kind cannot change in a whole update", "[exec_update][whole]") {
    Fixture f;
    f.changed.kernel_is_empty = true;
    f.changed.build();
    const Exec exec(f.original.graph);
    f.require_refused(exec, cudaGraphExecUpdateErrorNodeTypeChanged, f.changed.nodes[0]);
}

TEST_CASE("the number of nodes cannot change in a whole update, and no node is named", "[exec_update][whole]") {
    Fixture f;
    f.changed.build();
    SECTION("one more") {
        add_empty(f.changed.graph, {f.changed.nodes[3]});
    }
    SECTION("one less") {
        REQUIRE_CUDA(cudaGraphDestroyNode(f.changed.nodes[3]));
    }
    const Exec exec(f.original.graph);
    f.require_refused(exec, cudaGraphExecUpdateErrorTopologyChanged, nullptr);
}

TEST_CASE("the edges cannot change in a whole update, and the node that has them is named", "[exec_update][whole]") {
    Fixture f;
    f.changed.build();
    cudaGraphNode_t named = nullptr;
    SECTION("one more") {
        add_edge(f.changed.graph, f.changed.nodes[0], f.changed.nodes[2]);
        named = f.changed.nodes[2];
    }
    SECTION("one less") {
        REQUIRE_CUDA(
            cudaGraphRemoveDependencies(f.changed.graph, &f.changed.nodes[2], &f.changed.nodes[3], nullptr, 1));
        named = f.changed.nodes[3];
    }
    const Exec exec(f.original.graph);
    f.require_refused(exec, cudaGraphExecUpdateErrorTopologyChanged, named);
}

TEST_CASE("a whole update pairs nodes without dependents in the order in which they became so",
          "[exec_update][whole]") {
    DeviceInts data(2);
    Call<int*, int, int> call(store, data.data(), 0, 1);
    const auto build = [&](cudaGraph_t graph) -> Nodes {
        return {add_kernel(graph, call), add_memset(graph, set_ints(data.data() + 1, 1, 2)), add_empty(graph)};
    };
    Graph original;
    build(original);
    const Exec exec(original);
    Graph changed;
    const Nodes nodes = build(changed);
    const auto lead_on = [&](const Nodes& from, cudaGraphNode_t to) {
        const Nodes tos(from.size(), to);
        REQUIRE_CUDA(cudaGraphAddDependencies(changed, from.data(), tos.data(), nullptr, from.size()));
        REQUIRE_CUDA(cudaGraphRemoveDependencies(changed, from.data(), tos.data(), nullptr, from.size()));
    };
    const auto lead_on_to_new = [&](cudaGraphNode_t from) {
        REQUIRE_CUDA(cudaGraphDestroyNode(add_empty(changed, {from})));
    };
    const auto require_refused = [&] {
        const Report report = update(exec, changed);
        REQUIRE(report.code == cudaErrorGraphExecUpdateFailure);
        REQUIRE(report.result == cudaGraphExecUpdateErrorNodeTypeChanged);
    };
    REQUIRE(update(exec, changed).code == cudaSuccess);
    SECTION("by calls of one edge") {
        lead_on({nodes[0]}, nodes[2]);
        require_refused();
        lead_on({nodes[1]}, nodes[2]);
        require_refused();
        lead_on({nodes[2]}, nodes[1]);
        REQUIRE(update(exec, changed).code == cudaSuccess);
    }
    SECTION("by one call") {
        lead_on({nodes[2], nodes[1]}, nodes[0]);
        require_refused();
        lead_on({nodes[1], nodes[2]}, nodes[0]);
        REQUIRE(update(exec, changed).code == cudaSuccess);
    }
    SECTION("by the end of what came after them") {
        lead_on_to_new(nodes[0]);
        require_refused();
        lead_on_to_new(nodes[1]);
        require_refused();
        lead_on_to_new(nodes[2]);
        REQUIRE(update(exec, changed).code == cudaSuccess);
    }
    SECTION("in a clone") {
        lead_on({nodes[0]}, nodes[2]);
        lead_on({nodes[1]}, nodes[2]);
        cudaGraph_t clone = nullptr;
        REQUIRE_CUDA(cudaGraphClone(&clone, changed));
        REQUIRE(update(exec, clone).code == cudaErrorGraphExecUpdateFailure);
        const Nodes nodes_of_clone = {in_clone(nodes[1], clone), in_clone(nodes[2], clone)};
        REQUIRE_CUDA(cudaGraphAddDependencies(clone, &nodes_of_clone[1], &nodes_of_clone[0], nullptr, 1));
        REQUIRE_CUDA(cudaGraphRemoveDependencies(clone, &nodes_of_clone[1], &nodes_of_clone[0], nullptr, 1));
        REQUIRE(update(exec, clone).code == cudaSuccess);
        REQUIRE_CUDA(cudaGraphDestroy(clone));
    }
}

TEST_CASE("after a capture, nodes without dependents became so in the order in which its stream joined them",
          "[exec_update][whole]") {
    DeviceInts data(2);
    Call<int*, int, int> call(store, data.data(), 0, 1);
    const cudaMemsetParams set = set_ints(data.data() + 1, 1, 2);
    Graph kernel_first;
    add_kernel(kernel_first, call);
    add_memset(kernel_first, set);
    Graph memset_first;
    add_memset(memset_first, set);
    add_kernel(memset_first, call);
    Stream origin, left, right;
    Capture capture(origin);
    follow(left, origin);
    follow(right, origin);
    const auto record_kernel = [&](cudaStream_t stream) { call.launch(stream); };
    const auto record_memset = [&](cudaStream_t stream) {
        REQUIRE_CUDA(cudaMemsetAsync(data.data() + 1, 0, sizeof(int), stream));
    };
    bool is_kernel_first = true;
    SECTION("one after the other") {
        record_memset(left);
        record_kernel(right);
        SECTION("in the order in which they were recorded") {
            follow(origin, left);
            follow(origin, right);
            is_kernel_first = false;
        }
        SECTION("in another") {
            follow(origin, right);
            follow(origin, left);
        }
    }
    SECTION("its own before them") {
        record_memset(left);
        record_kernel(origin);
        follow(origin, left);
        follow(origin, right);
    }
    const Nodes next = info_of(origin).next;
    const cudaGraph_t graph = capture.end();
    cudaGraphNodeType type{};
    REQUIRE_CUDA(cudaGraphNodeGetType(next.at(0), &type));
    REQUIRE(type == (is_kernel_first ? cudaGraphNodeTypeKernel : cudaGraphNodeTypeMemset));
    REQUIRE(update(Exec(graph), kernel_first).code ==
            (is_kernel_first ? cudaSuccess : cudaErrorGraphExecUpdateFailure));
    REQUIRE(update(Exec(graph), memset_first).code ==
            (is_kernel_first ? cudaErrorGraphExecUpdateFailure : cudaSuccess));
}

TEST_CASE("after a whole update the nodes of the first graph still address the executable graph",
          "[exec_update][whole]") {
    Fixture f;
    f.changed.build();
    const Exec exec(f.original.graph);
    f.require_updated(exec);
    f.original.call.argument<2>() = 10;
    const cudaKernelNodeParams params = f.original.call.params();
    REQUIRE_CUDA(cudaGraphExecKernelNodeSetParams(exec, f.original.nodes[0], &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecKernelNodeSetParams(exec, f.changed.nodes[0], &params));
    exec.run(f.stream);
    REQUIRE(f.data.read() == std::vector{10, 2, 3, poison});
}

TEST_CASE("bad arguments of a whole update are refused, a missing result is not", "[exec_update][whole]") {
    Fixture f;
    const Exec exec(f.original.graph);
    const auto require_refused = [](cudaGraphExec_t target, cudaGraph_t graph) {
        const Report report = update(target, graph);
        REQUIRE(report.code == cudaErrorInvalidValue);
        REQUIRE(report.result == cudaGraphExecUpdateErrorAttributesChanged); // as it was
        REQUIRE(report.node == untouched<cudaGraphNode_t>());
        REQUIRE(report.from_node == untouched<cudaGraphNode_t>());
    };
    require_refused(exec, nullptr);
    require_refused(nullptr, f.original.graph);
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, f.original.graph, nullptr));
}
