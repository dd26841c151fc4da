// Instantiation: results, error nodes, flags.
#include "nodes.hpp"

namespace {

void CUDART_CB do_nothing(void*) {}

/// What cudaGraphInstantiateWithParams answers; every out-parameter is poisoned first.
struct Outcome {
    cudaError_t code;
    cudaGraphInstantiateResult result;
    cudaGraphNode_t error_node;
    bool handle_written;
    unsigned long long flags_read;
};

Outcome instantiate(cudaGraph_t graph, unsigned long long flags) {
    auto exec = untouched<cudaGraphExec_t>();
    cudaGraphInstantiateParams params{};
    params.flags = flags;
    params.errNode_out = untouched<cudaGraphNode_t>();
    params.result_out = cudaGraphInstantiateConditionalHandleUnused;
    Outcome outcome{};
    outcome.code = cudaGraphInstantiateWithParams(&exec, graph, &params);
    REQUIRE(cudaGetLastError() == outcome.code);
    outcome.result = params.result_out;
    outcome.error_node = params.errNode_out;
    outcome.handle_written = exec != untouched<cudaGraphExec_t>();
    if (outcome.code == cudaSuccess) {
        REQUIRE_CUDA(cudaGraphExecGetFlags(exec, &outcome.flags_read));
        REQUIRE_CUDA(cudaGraphExecDestroy(exec));
    }
    return outcome;
}

} // namespace

TEST_CASE("a successful instantiation says so and names no node", "[instantiate]") {
    Graph graph;
    add_empty(graph);
    const Outcome outcome = instantiate(graph, 0);
    REQUIRE(outcome.code == cudaSuccess);
    REQUIRE(outcome.result == cudaGraphInstantiateSuccess);
    REQUIRE(outcome.error_node == nullptr);
    REQUIRE(outcome.flags_read == 0);
}

TEST_CASE("a cycle is found by instantiation, which names a node of it", "[instantiate]") {
    Graph graph;
    const cudaGraphNode_t before = add_empty(graph);
    const cudaGraphNode_t one = add_empty(graph, {before});
    const cudaGraphNode_t two = add_empty(graph, {one});
    add_edge(graph, two, one);
    const Outcome outcome = instantiate(graph, 0);
    REQUIRE(outcome.code == cudaErrorInvalidValue);
    REQUIRE(outcome.result == cudaGraphInstantiateInvalidStructure);
    const bool in_the_cycle = outcome.error_node == one || outcome.error_node == two;
    REQUIRE(in_the_cycle);
    REQUIRE_FALSE(outcome.handle_written);

    auto exec = untouched<cudaGraphExec_t>();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiateWithFlags(&exec, graph, 0));
    REQUIRE(exec == untouched<cudaGraphExec_t>());
}

TEST_CASE("a graph without its cycle can be instantiated again", "[instantiate]") {
    Graph graph;
    const cudaGraphNode_t one = add_empty(graph);
    const cudaGraphNode_t two = add_empty(graph, {one});
    add_edge(graph, two, one);
    REQUIRE(instantiate(graph, 0).code == cudaErrorInvalidValue);
    REQUIRE_CUDA(cudaGraphRemoveDependencies(graph, &two, &one, nullptr, 1));
    REQUIRE(instantiate(graph, 0).code == cudaSuccess);
}

TEST_CASE("an executable graph remembers two of its flags", "[instantiate]") {
    Graph graph;
    Call call(nothing);
    add_kernel(graph, call);
    const auto read_back = [&](unsigned long long flags) {
        const Outcome outcome = instantiate(graph, flags);
        REQUIRE(outcome.code == cudaSuccess);
        return outcome.flags_read;
    };
    REQUIRE(read_back(cudaGraphInstantiateFlagAutoFreeOnLaunch) == cudaGraphInstantiateFlagAutoFreeOnLaunch);
    REQUIRE(read_back(cudaGraphInstantiateFlagDeviceLaunch) == cudaGraphInstantiateFlagDeviceLaunch);
    REQUIRE(read_back(cudaGraphInstantiateFlagUpload) == 0);
    REQUIRE(read_back(cudaGraphInstantiateFlagUseNodePriority) == 0);
    REQUIRE(read_back(cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload) ==
            cudaGraphInstantiateFlagAutoFreeOnLaunch);
}

TEST_CASE("flags that do not exist or exclude each other are refused", "[instantiate]") {
    Graph graph;
    Call call(nothing);
    add_kernel(graph, call);
    for (const unsigned long long flags :
         {16ULL, 64ULL, 0ULL | cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagAutoFreeOnLaunch}) {
        const Outcome outcome = instantiate(graph, flags);
        REQUIRE(outcome.code == cudaErrorInvalidValue);
        REQUIRE(outcome.result == cudaGraphInstantiateError);
        REQUIRE(outcome.error_node == nullptr);
        REQUIRE_FALSE(outcome.handle_written);
        auto exec = untouched<cudaGraphExec_t>();
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, flags));
    }
}

TEST_CASE("only the call with parameters can upload", "[instantiate]") {
    Graph graph;
    add_empty(graph);
    cudaGraphExec_t exec = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagUpload));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagUpload));
    REQUIRE(instantiate(graph, cudaGraphInstantiateFlagUpload).code == cudaSuccess);
}

TEST_CASE("a graph for device launch has only nodes that a device can launch, and at least one", "[instantiate]") {
    constexpr auto device_launch = cudaGraphInstantiateFlagDeviceLaunch;
    Graph host;
    const cudaGraphNode_t host_node = add_host(host, {do_nothing, nullptr});
    Outcome outcome = instantiate(host, device_launch);
    REQUIRE(outcome.code == cudaErrorInvalidValue);
    REQUIRE(outcome.result == cudaGraphInstantiateNodeOperationNotSupported);
    REQUIRE(outcome.error_node == host_node);

    Graph graph;
    outcome = instantiate(graph, device_launch);
    REQUIRE(outcome.code == cudaErrorInvalidValue);
    REQUIRE(outcome.result == cudaGraphInstantiateError);
    REQUIRE(outcome.error_node == nullptr);

    const cudaGraphNode_t empty = add_empty(graph);
    outcome = instantiate(graph, device_launch);
    REQUIRE(outcome.code == cudaErrorInvalidValue);
    REQUIRE(outcome.result == cudaGraphInstantiateNodeOperationNotSupported);
    REQUIRE(outcome.error_node == empty);
}

TEST_CASE("bad instantiation arguments are refused", "[instantiate]") {
    Graph graph;
    auto exec = untouched<cudaGraphExec_t>();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, nullptr, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(nullptr, graph, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiateWithParams(&exec, graph, nullptr));
    unsigned long long flags = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecGetFlags(nullptr, &flags));
    REQUIRE(exec == untouched<cudaGraphExec_t>());
}

TEST_CASE("an executable graph is destroyed once", "[instantiate]") {
    Graph graph;
    Stream stream;
    cudaGraphExec_t exec = nullptr;
    REQUIRE_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    REQUIRE_CUDA(cudaGraphExecDestroy(exec));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecDestroy(exec));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecDestroy(nullptr));
}
