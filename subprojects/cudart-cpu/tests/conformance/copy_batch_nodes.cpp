// Nodes for batches of copies: CUDA 13.5. Its rules are from the comments of CUDA's headers.
#include "driver.hpp"

#include "handles.hpp"

#include <utility>
#include <vector>

#if CUDART_VERSION >= 13050

namespace {

bool has_batch_nodes() {
    int version = 0;
    REQUIRE_CUDA(cudaDriverGetVersion(&version));
    if (version >= 13050) return true;
    WARN("skipped: it needs a driver of CUDA 13.5");
    return false;
}

/// Copies of 4 bytes each.
struct Batch {
    Batch(std::initializer_list<std::pair<int*, int*>> copies) {
        for (const auto& [destination, source] : copies) {
            destinations.push_back(destination);
            sources.push_back(source);
            bytes.push_back(sizeof(int));
        }
        attributes.resize(1);
        attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    }

    cudaGraphNodeParams params() {
        cudaGraphNodeParams params{};
        params.type = cudaGraphNodeTypeMemcpyBatch;
        params.memcpyBatch = {bytes.size(),      destinations.data(), sources.data(),    bytes.data(),
                              attributes.data(), first.data(),        attributes.size(), nullptr};
        return params;
    }
    cudaGraphNode_t add_to(cudaGraph_t graph) {
        cudaGraphNode_t node = nullptr;
        cudaGraphNodeParams made = params();
        REQUIRE_CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &made));
        return node;
    }

    std::vector<void*> destinations, sources;
    std::vector<std::size_t> bytes, first{0};
    std::vector<cudaMemcpyAttributes> attributes;
};

void require_refused(Batch& batch) {
    const Graph graph;
    cudaGraphNode_t node = nullptr;
    cudaGraphNodeParams params = batch.params();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    REQUIRE(nodes_of(graph).empty());
}

} // namespace

TEST_CASE("a node of a batch performs its copies, and describes them", "[copy_batch_nodes]") {
    if (!has_batch_nodes()) return;
    DeviceInts cells(4);
    cells.write({1, 2, 0, 0});
    int* const x = cells.data();
    Batch batch{{x + 2, x}, {x + 3, x + 1}};
    const Graph graph;
    const cudaGraphNode_t node = batch.add_to(graph);
    cudaGraphNodeType type{};
    REQUIRE_CUDA(cudaGraphNodeGetType(node, &type));
    REQUIRE(type == cudaGraphNodeTypeMemcpyBatch);
    cudaGraphNodeParams found{};
    REQUIRE_CUDA(cudaGraphNodeGetParams(node, &found));
    REQUIRE(found.type == cudaGraphNodeTypeMemcpyBatch);
    REQUIRE(found.memcpyBatch.count == 2);
    REQUIRE(found.memcpyBatch.dsts[1] == x + 3);
    REQUIRE(found.memcpyBatch.srcs[0] == x);
    REQUIRE(found.memcpyBatch.sizes[1] == sizeof(int));
    REQUIRE(found.memcpyBatch.numAttrs == 1);
    REQUIRE(found.memcpyBatch.attrs[0].srcAccessOrder == cudaMemcpySrcAccessOrderStream);
    const Stream stream;
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(cells.read() == std::vector{1, 2, 1, 2});
}

TEST_CASE("an exec's batch takes other memory and sizes, and a size of 0 leaves a copy out", "[copy_batch_nodes]") {
    if (!has_batch_nodes()) return;
    DeviceInts cells(6);
    cells.write({1, 2, 0, 0, 0, 0});
    int* const x = cells.data();
    Batch batch{{x + 2, x}, {x + 3, x + 1}};
    const Graph graph;
    const cudaGraphNode_t node = batch.add_to(graph);
    const Exec exec(graph);
    const Stream stream;
    batch.bytes = {0, sizeof(int)};
    batch.destinations[1] = x + 4;
    cudaGraphNodeParams params = batch.params();
    REQUIRE_CUDA(cudaGraphExecNodeSetParams(exec, node, &params));
    exec.run(stream);
    REQUIRE(cells.read() == std::vector{1, 2, 0, 0, 2, 0});
    batch.bytes = {2 * sizeof(int), sizeof(int)};
    params = batch.params();
    REQUIRE_CUDA(cudaGraphExecNodeSetParams(exec, node, &params));
    exec.run(stream);
    REQUIRE(cells.read() == std::vector{1, 2, 1, 2, 2, 0});
    cells.write({3, 4, 0, 0, 0, 0});
    REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, node, 0));
    exec.run(stream);
    REQUIRE(cells.read() == std::vector{3, 4, 0, 0, 0, 0});
    REQUIRE_CUDA(cudaGraphNodeSetEnabled(exec, node, 1));
    exec.run(stream);
    REQUIRE(cells.read() == std::vector{3, 4, 3, 4, 4, 0});
}

TEST_CASE("an exec's batch keeps the number and the attributes of its copies", "[copy_batch_nodes]") {
    if (!has_batch_nodes()) return;
    DeviceInts cells(4);
    int* const x = cells.data();
    Batch batch{{x + 2, x}, {x + 3, x + 1}};
    const Graph graph;
    const cudaGraphNode_t node = batch.add_to(graph);
    const Exec exec(graph);
    Batch fewer{{x + 2, x}};
    Batch other{{x + 2, x}, {x + 3, x + 1}};
    other.attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderAny;
    for (Batch* each : {&fewer, &other}) {
        cudaGraphNodeParams params = each->params();
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecNodeSetParams(exec, node, &params));
        const Graph next;
        each->add_to(next);
        cudaGraphExecUpdateResultInfo info{};
        REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, next, &info));
    }
    Batch moved{{x + 3, x}, {x + 2, x + 1}};
    const Graph next;
    moved.add_to(next);
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, next, &info));
}

TEST_CASE("wrong batches become no nodes", "[copy_batch_nodes]") {
    if (!has_batch_nodes()) return;
    DeviceInts cells(4);
    int* const x = cells.data();
    Batch none{};
    require_refused(none);
    Batch late{{x + 2, x}, {x + 3, x + 1}};
    late.first = {1};
    require_refused(late);
    Batch unknown{{x + 2, x}};
    unknown.attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
    require_refused(unknown);
}

#endif
