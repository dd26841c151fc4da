// Conditional nodes and their handles: what CUDA refuses, and how it says so.
#include "conditional.hpp"
#include "driver.hpp"

namespace {

void CUDART_CB do_nothing(void*) {}

} // namespace

TEST_CASE("a condition's handle is checked when it is made", "[graph][conditional]") {
    Graph graph;
    auto handle = Condition{77};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(nullptr, graph, 0, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&handle, nullptr, 0, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphConditionalHandleCreate(&handle, graph, 0, 2));
    REQUIRE(try_instantiate(graph) == instantiated);
}

TEST_CASE("handles of one graph differ", "[graph][conditional]") {
    Graph graph;
    REQUIRE(make_condition(graph, 0) != make_condition(graph, 0));
}

TEST_CASE("a conditional node is of its type, with as many empty bodies as it was asked for", "[graph][conditional]") {
    Graph graph;
    const Conditional choice = add_conditional(graph, make_condition(graph, 0), cudaGraphCondTypeSwitch, 3);
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    REQUIRE_CUDA(cudaGraphNodeGetType(choice.node, &type));
    REQUIRE(type == cudaGraphNodeTypeConditional);
    REQUIRE(nodes_of(graph) == Nodes{choice.node});
    for (const cudaGraph_t body : choice.bodies)
        REQUIRE(nodes_of(body).empty());
    REQUIRE(choice.bodies[0] != choice.bodies[1]);
}

TEST_CASE("a driver of CUDA 13.2 tells type, condition and bodies of a conditional node", "[graph][conditional]") {
    int version = 0;
    REQUIRE_CUDA(cudaDriverGetVersion(&version));
    if (version < 13020) return;
    const auto get = entry_point<CUresult(CUDAAPI*)(CUgraphNode, CUgraphNodeParams*)>("cuGraphNodeGetParams", 13020);
    Graph graph;
    for (const auto type : {cudaGraphCondTypeIf, cudaGraphCondTypeWhile, cudaGraphCondTypeSwitch}) {
        const Condition handle = make_condition(graph, 1);
        const Conditional made = add_conditional(graph, handle, type, type == cudaGraphCondTypeSwitch ? 3 : 1);
        CUgraphNodeParams params{};
        REQUIRE(get(made.node, &params) == CUDA_SUCCESS);
        REQUIRE(params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL);
        CHECK(params.conditional.handle == handle);
        CHECK(static_cast<int>(params.conditional.type) == static_cast<int>(type));
        REQUIRE(params.conditional.size == made.bodies.size());
        for (std::size_t i = 0; i < made.bodies.size(); ++i)
            CHECK(params.conditional.phGraph_out[i] == made.bodies[i]);
    }
}

TEST_CASE("a conditional node has a number of bodies that its type allows", "[graph][conditional]") {
    Graph graph;
    const Condition handle = make_condition(graph, 0);
    require_refused(cudaErrorInvalidValue, graph, conditional_params(handle, cudaGraphCondTypeIf, 0));
    require_refused(cudaErrorInvalidValue, graph, conditional_params(handle, cudaGraphCondTypeIf, 3));
    require_refused(cudaErrorInvalidValue, graph, conditional_params(handle, cudaGraphCondTypeWhile, 0));
    require_refused(cudaErrorInvalidValue, graph, conditional_params(handle, cudaGraphCondTypeWhile, 2));
    require_refused(cudaErrorInvalidValue, graph, conditional_params(handle, cudaGraphCondTypeSwitch, 0));
    require_refused(cudaErrorInvalidValue, graph,
                    conditional_params(handle, static_cast<cudaGraphConditionalNodeType>(3), 1));
}

TEST_CASE("a condition has one node", "[graph][conditional]") {
    Graph graph;
    const Condition handle = make_condition(graph, 0);
    const Conditional branch = add_conditional(graph, handle, cudaGraphCondTypeIf);
    require_refused(cudaErrorInvalidValue, graph, conditional_params(handle, cudaGraphCondTypeIf, 1));
    require_refused(cudaErrorInvalidValue, branch.bodies[0], conditional_params(handle, cudaGraphCondTypeIf, 1));
}

TEST_CASE("a condition of another graph is refused", "[graph][conditional]") {
    Graph graph;
    Graph other;
    require_refused(cudaErrorInvalidValue, graph, conditional_params(make_condition(other, 0), cudaGraphCondTypeIf, 1));
    require_refused(cudaErrorInvalidValue, graph, conditional_params(0, cudaGraphCondTypeIf, 1));
}

TEST_CASE("a condition without a node cannot be instantiated", "[graph][conditional]") {
    const Instantiated unused{cudaErrorInvalidValue, cudaGraphInstantiateConditionalHandleUnused, nullptr};
    Graph graph;
    const Condition handle = make_condition(graph, 0);
    REQUIRE(try_instantiate(graph) == unused);
    const Conditional branch = add_conditional(graph, handle, cudaGraphCondTypeIf);
    REQUIRE(try_instantiate(graph) == instantiated);
    make_condition(branch.bodies[0], 0);
    REQUIRE(try_instantiate(graph) == unused);
}

TEST_CASE("a condition is free again when its node is destroyed", "[graph][conditional]") {
    Graph graph;
    const Condition handle = make_condition(graph, 0);
    const Conditional branch = add_conditional(graph, handle, cudaGraphCondTypeIf);
    REQUIRE_CUDA(cudaGraphDestroyNode(branch.node));
    REQUIRE(try_instantiate(graph).result == cudaGraphInstantiateConditionalHandleUnused);
    add_conditional(graph, handle, cudaGraphCondTypeWhile);
    REQUIRE(try_instantiate(graph) == instantiated);
}

TEST_CASE("the bodies of a destroyed node are gone", "[graph][conditional]") {
    Graph graph;
    const Conditional branch = add_conditional(graph, make_condition(graph, 0), cudaGraphCondTypeIf);
    add_empty(branch.bodies[0]);
    REQUIRE_CUDA(cudaGraphDestroyNode(branch.node));
    REQUIRE(nodes_of(graph).empty());
}

TEST_CASE("a graph with a conditional node has one executable graph at a time", "[graph][conditional]") {
    Graph graph;
    add_conditional(graph, make_condition(graph, 0), cudaGraphCondTypeIf);
    Exec exec(graph);
    cudaGraphExec_t second = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphInstantiate(&second, graph, 0));
    exec.destroy();
    REQUIRE(try_instantiate(graph) == instantiated);
}

TEST_CASE("a graph with a conditional node is neither cloned nor a child graph", "[graph][conditional]") {
    Graph graph;
    Graph parent;
    add_conditional(graph, make_condition(graph, 0), cudaGraphCondTypeIf);
    cudaGraph_t clone = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphClone(&clone, graph));
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, graph));
    REQUIRE(nodes_of(parent).empty());
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = graph;
    params.graph.ownership = cudaGraphChildGraphOwnershipMove;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphAddNode(&node, parent, nullptr, nullptr, 0, &params));
}

TEST_CASE("a body is neither instantiated nor destroyed, cloned or a child graph", "[graph][conditional]") {
    Graph graph;
    Graph parent;
    const cudaGraph_t body = add_conditional(graph, make_condition(graph, 0), cudaGraphCondTypeIf).bodies[0];
    cudaGraphExec_t exec = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphInstantiate(&exec, body, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphDestroy(body));
    cudaGraph_t clone = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphClone(&clone, body));
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, body));
    REQUIRE(try_instantiate(graph) == instantiated);
}

TEST_CASE("a graph with a condition alone is neither cloned nor a child graph", "[graph][conditional]") {
    Graph graph;
    Graph parent;
    make_condition(graph, 0);
    cudaGraph_t clone = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphClone(&clone, graph));
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, graph));
}

TEST_CASE("a child graph gets conditional nodes once it is one", "[graph][conditional]") {
    Stream stream;
    Graph graph;
    Graph child;
    DeviceInts data(1);
    data.write({0});
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    cudaGraph_t inner = nullptr;
    REQUIRE_CUDA(cudaGraphChildGraphNodeGetGraph(node, &inner));
    // The conditions are those of the whole graph.
    const Condition of_inner = make_condition(inner, 1);
    const Condition of_graph = make_condition(graph, 1);
    Call count(add, data.data(), 0, 1);
    add_kernel(add_conditional(inner, of_inner, cudaGraphCondTypeIf).bodies[0], count);
    add_kernel(add_conditional(inner, of_graph, cudaGraphCondTypeIf).bodies[0], count);
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{2});
}

TEST_CASE("host, event and pageable copy nodes in a body are found when the graph is instantiated",
          "[graph][conditional]") {
    Graph graph;
    DeviceInts data(1);
    int pageable = 0;
    Event event;
    const cudaGraph_t body = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf).bodies[0];
    const auto require_not_supported = [&](cudaGraphNode_t node, cudaGraphInstantiateResult result) {
        REQUIRE(try_instantiate(graph) == Instantiated{cudaErrorInvalidValue, result, node});
        REQUIRE_CUDA(cudaGraphDestroyNode(node));
        REQUIRE(try_instantiate(graph) == instantiated);
    };
    require_not_supported(add_host(body, {do_nothing, nullptr}), cudaGraphInstantiateNodeOperationNotSupported);
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddEventRecordNode(&node, body, nullptr, 0, event));
    require_not_supported(node, cudaGraphInstantiateNodeOperationNotSupported);
    REQUIRE_CUDA(cudaGraphAddEventWaitNode(&node, body, nullptr, 0, event));
    require_not_supported(node, cudaGraphInstantiateNodeOperationNotSupported);
    require_not_supported(add_memcpy(body, data.data(), &pageable, sizeof(int), cudaMemcpyHostToDevice),
                          cudaGraphInstantiateMultipleDevicesNotSupported);
}

TEST_CASE("a host node in a child graph in a body is found too", "[graph][conditional]") {
    Graph graph;
    Graph child;
    add_host(child, {do_nothing, nullptr});
    const cudaGraph_t body = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf).bodies[0];
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddChildGraphNode(&node, body, nullptr, 0, child));
    const Instantiated answer = try_instantiate(graph);
    REQUIRE(answer.code == cudaErrorInvalidValue);
    REQUIRE(answer.result == cudaGraphInstantiateNodeOperationNotSupported);
}

TEST_CASE("a cycle in a body is found when the graph is instantiated", "[graph][conditional]") {
    Graph graph;
    const cudaGraph_t body = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf).bodies[0];
    const cudaGraphNode_t first = add_empty(body);
    const cudaGraphNode_t second = add_empty(body, {first});
    add_edge(body, second, first);
    const Instantiated answer = try_instantiate(graph);
    REQUIRE(answer.code == cudaErrorInvalidValue);
    REQUIRE(answer.result == cudaGraphInstantiateInvalidStructure);
}

TEST_CASE("nodes of a body and of the graph around it cannot be connected", "[graph][conditional]") {
    Graph graph;
    const cudaGraphNode_t outside = add_empty(graph);
    const cudaGraph_t body = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf).bodies[0];
    const cudaGraphNode_t inside = add_empty(body);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddDependencies(graph, &outside, &inside, nullptr, 1));
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, body, &outside, 1));
}

TEST_CASE("a graph with a conditional node cannot be launched from the device", "[graph][conditional]") {
    Graph graph;
    const Conditional branch = add_conditional(graph, make_condition(graph, 1), cudaGraphCondTypeIf);
    REQUIRE(try_instantiate(graph, cudaGraphInstantiateFlagDeviceLaunch) ==
            Instantiated{cudaErrorInvalidValue, cudaGraphInstantiateNodeOperationNotSupported, branch.node});
}

TEST_CASE("the parameters of a conditional node are fixed", "[graph][conditional]") {
    Graph graph;
    const Condition handle = make_condition(graph, 1);
    const Conditional branch = add_conditional(graph, handle, cudaGraphCondTypeIf);
    cudaGraphNodeParams params = conditional_params(handle, cudaGraphCondTypeIf, 1);
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphNodeSetParams(branch.node, &params));
    const Exec exec(graph);
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphExecNodeSetParams(exec, branch.node, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, branch.node, 0));
}

TEST_CASE("the driver makes conditions", "[graph][conditional][driver]") {
    const auto create = entry_point<PFN_cuGraphConditionalHandleCreate_v12030>("cuGraphConditionalHandleCreate", 12030);
    const auto context_of = entry_point<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000);
    Graph graph;
    CUcontext context = nullptr;
    REQUIRE(context_of(&context) == CUDA_SUCCESS);
    CUgraphConditionalHandle handle = 0;
    REQUIRE(create(&handle, graph, context, 1, cudaGraphCondAssignDefault) == CUDA_SUCCESS);
    REQUIRE(create(&handle, graph, nullptr, 1, 0) == CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(create(nullptr, graph, context, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(create(&handle, graph, context, 1, 2) == CUDA_ERROR_INVALID_VALUE);
    add_conditional(graph, handle, cudaGraphCondTypeIf);
    REQUIRE(try_instantiate(graph) == instantiated);
}
