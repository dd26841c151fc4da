// Alloc and free nodes: what they are made of, and what is refused when they are added.
#include "memory_nodes.hpp"

#include <vector>

namespace {

/// Adds an alloc node with these parameters, which must be refused.
void refuse_alloc(cudaGraph_t graph, cudaMemAllocNodeParams params, cudaError_t code = cudaErrorInvalidValue) {
    auto node = untouched<cudaGraphNode_t>();
    REQUIRE_CUDA_ERROR(code, cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
    REQUIRE(node == untouched<cudaGraphNode_t>());
}

void refuse_free(cudaGraph_t graph, void* data, const Nodes& after = {}) {
    auto node = untouched<cudaGraphNode_t>();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddMemFreeNode(&node, graph, after.data(), after.size(), data));
    REQUIRE(node == untouched<cudaGraphNode_t>());
}

} // namespace

TEST_CASE("an alloc node has its address when it is added, and gives its parameters back", "[graph][memory_nodes]") {
    Graph graph;
    cudaMemAllocNodeParams params = alloc_params(1000);
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
    REQUIRE(params.dptr != nullptr);
    REQUIRE(reinterpret_cast<std::uintptr_t>(params.dptr) % 256 == 0);
    cudaGraphNodeType type{};
    REQUIRE_CUDA(cudaGraphNodeGetType(node, &type));
    REQUIRE(type == cudaGraphNodeTypeMemAlloc);

    cudaMemAllocNodeParams back{};
    REQUIRE_CUDA(cudaGraphMemAllocNodeGetParams(node, &back));
    REQUIRE(back.dptr == params.dptr);
    REQUIRE(back.bytesize == 1000);
    REQUIRE(back.poolProps.allocType == cudaMemAllocationTypePinned);
    REQUIRE(back.poolProps.handleTypes == cudaMemHandleTypeNone);
    REQUIRE(back.poolProps.location.type == cudaMemLocationTypeDevice);
    REQUIRE(back.poolProps.location.id == 0);
}

TEST_CASE("an alloc node keeps its own copy of the access descriptors", "[graph][memory_nodes]") {
    Graph graph;
    cudaMemAccessDesc access{{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
    cudaMemAllocNodeParams params = alloc_params(1000);
    params.accessDescs = &access;
    params.accessDescCount = 1;
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
    access.flags = cudaMemAccessFlagsProtNone;
    cudaMemAllocNodeParams back{};
    REQUIRE_CUDA(cudaGraphMemAllocNodeGetParams(node, &back));
    REQUIRE(back.accessDescCount == 1);
    REQUIRE(back.accessDescs != &access);
    REQUIRE(back.accessDescs->location.id == 0);
    REQUIRE(back.accessDescs->flags == cudaMemAccessFlagsProtReadWrite);
}

TEST_CASE("a free node gives its address back", "[graph][memory_nodes]") {
    Graph graph;
    const Allocation allocation = add_alloc(graph, 4);
    const cudaGraphNode_t node = add_free(graph, allocation.data, {allocation.node});
    cudaGraphNodeType type{};
    REQUIRE_CUDA(cudaGraphNodeGetType(node, &type));
    REQUIRE(type == cudaGraphNodeTypeMemFree);
    void* address = nullptr;
    REQUIRE_CUDA(cudaGraphMemFreeNodeGetParams(node, &address));
    REQUIRE(address == allocation.data);
}

TEST_CASE("the general call adds alloc and free nodes too", "[graph][memory_nodes]") {
    Stream stream;
    Graph graph;
    PinnedInts back(4);
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemAlloc;
    params.alloc.poolProps = alloc_params(0).poolProps;
    params.alloc.bytesize = 16;
    cudaGraphNode_t alloc = nullptr;
    REQUIRE_CUDA(cudaGraphAddNode(&alloc, graph, nullptr, nullptr, 0, &params));
    REQUIRE(params.alloc.dptr != nullptr);
    const auto data = static_cast<int*>(params.alloc.dptr);
    const cudaGraphNode_t set = add_memset(graph, set_ints(data, 4, 9), {alloc});
    const cudaGraphNode_t down = add_memcpy(graph, back.data(), data, 16, cudaMemcpyDeviceToHost, {set});
    params = {};
    params.type = cudaGraphNodeTypeMemFree;
    params.free.dptr = data;
    cudaGraphNode_t free = nullptr;
    REQUIRE_CUDA(cudaGraphAddNode(&free, graph, &down, nullptr, 1, &params));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(back.read() == std::vector<int>(4, 9));
}

TEST_CASE("the address of an alloc node is device memory while it is allocated", "[graph][memory_nodes]") {
    Stream stream;
    const LeavingGraph leaving;
    const auto type = [&] {
        cudaPointerAttributes attributes{};
        REQUIRE_CUDA(cudaPointerGetAttributes(&attributes, leaving.data()));
        return attributes.type;
    };
    REQUIRE(type() == cudaMemoryTypeUnregistered);
    const Exec exec(leaving.graph);
    REQUIRE(type() == cudaMemoryTypeUnregistered);
    exec.run(stream);
    REQUIRE(type() == cudaMemoryTypeDevice);
    REQUIRE_CUDA(cudaFree(leaving.data()));
}

TEST_CASE("bad alloc nodes are refused", "[graph][memory_nodes]") {
    Graph graph;
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, nullptr));
    refuse_alloc(graph, alloc_params(0));
    refuse_alloc(graph, alloc_params(std::size_t{1} << 50), cudaErrorMemoryAllocation);
    cudaMemAllocNodeParams params = alloc_params(64);
    params.poolProps.allocType = cudaMemAllocationTypeInvalid;
    refuse_alloc(graph, params);
    params = alloc_params(64);
    params.poolProps.location.type = cudaMemLocationTypeInvalid;
    refuse_alloc(graph, params);
    params = alloc_params(64);
    params.poolProps.location.id = 99;
    refuse_alloc(graph, params);
    params = alloc_params(64);
    params.poolProps.reserved[0] = 1;
    refuse_alloc(graph, params);
    REQUIRE(nodes_of(graph).empty());
}

TEST_CASE("alloc nodes that CUDA does not support are refused", "[graph][memory_nodes]") {
    Graph graph;
    cudaMemAllocNodeParams params = alloc_params(64);
    params.poolProps.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    refuse_alloc(graph, params, cudaErrorNotSupported);
    params = alloc_params(64);
    params.poolProps.location.type = cudaMemLocationTypeHost;
    refuse_alloc(graph, params, cudaErrorNotSupported);
}

TEST_CASE("an alloc node gives devices that exist the right to read and write", "[graph][memory_nodes]") {
    Graph graph;
    cudaMemAccessDesc access{{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtRead};
    cudaMemAllocNodeParams params = alloc_params(64);
    params.accessDescs = &access;
    params.accessDescCount = 1;
    refuse_alloc(graph, params, cudaErrorNotSupported);
    access.flags = cudaMemAccessFlagsProtNone;
    refuse_alloc(graph, params, cudaErrorNotSupported);
    access = {{cudaMemLocationTypeDevice, 99}, cudaMemAccessFlagsProtReadWrite};
    refuse_alloc(graph, params, cudaErrorInvalidDevice);
    const std::vector<cudaMemAccessDesc> many(
        100, cudaMemAccessDesc{{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite});
    params.accessDescs = many.data();
    params.accessDescCount = many.size();
    refuse_alloc(graph, params);
}

TEST_CASE("only the address of an alloc node can be freed by a node, and only once", "[graph][memory_nodes]") {
    Graph graph;
    DeviceInts device(4);
    int on_stack = 0;
    refuse_free(graph, nullptr);
    refuse_free(graph, &on_stack);
    refuse_free(graph, device.data());
    const Allocation allocation = add_alloc(graph, 64);
    refuse_free(graph, allocation.data + 4, {allocation.node});
    const cudaGraphNode_t free = add_free(graph, allocation.data, {allocation.node});
    refuse_free(graph, allocation.data, {free});
    REQUIRE(nodes_of(graph).size() == 2);
}

TEST_CASE("once an address has its free node, new memset and memcpy nodes cannot have it", "[graph][memory_nodes]") {
    Graph graph;
    DeviceInts device(4);
    const Allocation allocation = add_alloc(graph, 4);
    const cudaMemsetParams set = set_ints(allocation.data, 4, 1);
    const cudaGraphNode_t before = add_memset(graph, set, {allocation.node});
    add_free(graph, allocation.data, {before});
    auto node = untouched<cudaGraphNode_t>();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, graph, &allocation.node, 1, &set));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode1D(&node, graph, &allocation.node, 1, device.data(),
                                                                       allocation.data, 16, cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode1D(&node, graph, &allocation.node, 1, device.data(),
                                                                       allocation.data, 16, cudaMemcpyDefault));
    REQUIRE(node == untouched<cudaGraphNode_t>());
    Call write(store, allocation.data, 0, 1);
    add_kernel(graph, write, {allocation.node});
}

TEST_CASE("a memset node that exists can be moved to an address that has its free node", "[graph][memory_nodes]") {
    Graph graph;
    DeviceInts device(4);
    const Allocation allocation = add_alloc(graph, 4);
    const cudaMemsetParams set = set_ints(allocation.data, 4, 1);
    const cudaGraphNode_t before = add_memset(graph, set, {allocation.node});
    const cudaGraphNode_t other = add_memset(graph, set_ints(device.data(), 4, 1));
    add_free(graph, allocation.data, {before});
    REQUIRE_CUDA(cudaGraphMemsetNodeSetParams(before, &set));
    REQUIRE_CUDA(cudaGraphMemsetNodeSetParams(other, &set));
    cudaMemsetParams now{};
    REQUIRE_CUDA(cudaGraphMemsetNodeGetParams(other, &now));
    REQUIRE(now.dst == allocation.data);
}

TEST_CASE("what its own graph frees, no other graph can free", "[graph][memory_nodes]") {
    Graph graph;
    Graph other;
    const Allocation allocation = add_alloc(graph, 64);
    add_free(graph, allocation.data, {allocation.node});
    refuse_free(other, allocation.data);
}

TEST_CASE("what other graphs have free nodes for, its own graph cannot free any more", "[graph][memory_nodes]") {
    Graph graph;
    const Allocation allocation = add_alloc(graph, 64);
    {
        Graph first;
        Graph second;
        add_free(first, allocation.data);
        add_free(second, allocation.data);
        refuse_free(first, allocation.data);
        refuse_free(graph, allocation.data, {allocation.node});
    }
    refuse_free(graph, allocation.data, {allocation.node});
}

TEST_CASE("once a graph is instantiated it gets no free nodes for its own allocations", "[graph][memory_nodes]") {
    const LeavingGraph leaving;
    { const Exec exec(leaving.graph); }
    refuse_free(leaving.graph, leaving.data(), {leaving.set});
    const FreeingGraph freeing(leaving.data());
}

TEST_CASE("the allocation of a graph that is destroyed, and was never launched, cannot be freed",
          "[graph][memory_nodes]") {
    void* data = nullptr;
    {
        Graph graph;
        data = add_alloc(graph, 64).data;
    }
    Graph other;
    refuse_free(other, data);
}

TEST_CASE("the parameters of alloc and free nodes cannot be changed", "[graph][memory_nodes]") {
    Graph graph;
    cudaGraphNodeParams alloc{};
    alloc.type = cudaGraphNodeTypeMemAlloc;
    alloc.alloc.poolProps = alloc_params(0).poolProps;
    alloc.alloc.bytesize = 16;
    cudaGraphNode_t alloc_node = nullptr;
    REQUIRE_CUDA(cudaGraphAddNode(&alloc_node, graph, nullptr, nullptr, 0, &alloc));
    cudaGraphNodeParams free{};
    free.type = cudaGraphNodeTypeMemFree;
    free.free.dptr = alloc.alloc.dptr;
    cudaGraphNode_t free_node = nullptr;
    REQUIRE_CUDA(cudaGraphAddNode(&free_node, graph, &alloc_node, nullptr, 1, &free));
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphNodeSetParams(alloc_node, &alloc));
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphNodeSetParams(free_node, &free));
    const Exec exec(graph);
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphExecNodeSetParams(exec, alloc_node, &alloc));
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaGraphExecNodeSetParams(exec, free_node, &free));
}

TEST_CASE("alloc and free nodes cannot be disabled", "[graph][memory_nodes]") {
    Graph graph;
    const Allocation allocation = add_alloc(graph, 4);
    const cudaGraphNode_t free = add_free(graph, allocation.data, {allocation.node});
    const Exec exec(graph);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, allocation.node, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, free, 0));
}

TEST_CASE("the getters of alloc and free nodes want such nodes", "[graph][memory_nodes]") {
    Graph graph;
    const Allocation allocation = add_alloc(graph, 4);
    const cudaGraphNode_t free = add_free(graph, allocation.data, {allocation.node});
    const cudaGraphNode_t empty = add_empty(graph);
    cudaMemAllocNodeParams params{};
    void* address = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphMemAllocNodeGetParams(empty, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphMemAllocNodeGetParams(free, &params));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphMemAllocNodeGetParams(allocation.node, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphMemFreeNodeGetParams(allocation.node, &address));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphMemFreeNodeGetParams(free, nullptr));
}

TEST_CASE("an alloc node that comes after a free node reuses its address", "[graph][memory_nodes]") {
    constexpr std::size_t large = std::size_t{1} << 20;
    Graph graph;
    const Allocation first = add_alloc(graph, large);
    const cudaGraphNode_t freed = add_free(graph, first.data, {first.node});
    const Allocation unordered = add_alloc(graph, large);
    const Allocation ordered = add_alloc(graph, large, {freed});
    const Allocation again = add_alloc(graph, large, {freed});
    REQUIRE(unordered.data != first.data);
    REQUIRE(ordered.data == first.data);
    REQUIRE(again.data != first.data);
    REQUIRE(again.data != unordered.data);
}
