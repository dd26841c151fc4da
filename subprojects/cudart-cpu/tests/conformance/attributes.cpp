// Attributes of kernel nodes: stored, queried, copied, cloned, checked.
#include "attributes.hpp"
#include "driver.hpp"

TEST_CASE("a kernel node keeps its attributes", "[graph][attributes]") {
    Graph graph;
    Call call(nothing);
    call.grid = dim3(4);
    const cudaGraphNode_t node = add_kernel(graph, call);
    REQUIRE_CUDA(set(node, cudaLaunchAttributeClusterDimension, cluster_of(2)));
    REQUIRE(is_cluster(get(node, cudaLaunchAttributeClusterDimension), 2, 1, 1));
    REQUIRE_CUDA(set(node, cudaLaunchAttributePriority, priority_value(-3)));
    REQUIRE(get(node, cudaLaunchAttributePriority).priority == -3);
    Value value{};
    value.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    REQUIRE_CUDA(set(node, cudaLaunchAttributeMemSyncDomain, value));
    REQUIRE(get(node, cudaLaunchAttributeMemSyncDomain).memSyncDomain == cudaLaunchMemSyncDomainRemote);
    value = {};
    value.memSyncDomainMap.default_ = 1;
    value.memSyncDomainMap.remote = 0;
    REQUIRE_CUDA(set(node, cudaLaunchAttributeMemSyncDomainMap, value));
    REQUIRE(get(node, cudaLaunchAttributeMemSyncDomainMap).memSyncDomainMap.default_ == 1);
    REQUIRE(get(node, cudaLaunchAttributeMemSyncDomainMap).memSyncDomainMap.remote == 0);
    value = {};
    value.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread;
    REQUIRE_CUDA(set(node, cudaLaunchAttributeClusterSchedulingPolicyPreference, value));
    REQUIRE(get(node, cudaLaunchAttributeClusterSchedulingPolicyPreference).clusterSchedulingPolicyPreference ==
            cudaClusterSchedulingPolicySpread);
    // What was set first is still there.
    REQUIRE(is_cluster(get(node, cudaLaunchAttributeClusterDimension), 2, 1, 1));
}

TEST_CASE("a kernel node keeps its access policy window", "[graph][attributes]") {
    Graph graph;
    DeviceInts data(64);
    Call call(nothing);
    const cudaGraphNode_t node = add_kernel(graph, call);
    Value value{};
    value.accessPolicyWindow.base_ptr = data.data();
    value.accessPolicyWindow.num_bytes = data.size_bytes();
    value.accessPolicyWindow.hitRatio = 0.5F;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    REQUIRE_CUDA(set(node, cudaLaunchAttributeAccessPolicyWindow, value));
    const cudaAccessPolicyWindow kept = get(node, cudaLaunchAttributeAccessPolicyWindow).accessPolicyWindow;
    REQUIRE(kept.base_ptr == data.data());
    REQUIRE(kept.num_bytes == data.size_bytes());
    REQUIRE(kept.hitRatio == 0.5F);
    REQUIRE(kept.hitProp == cudaAccessPropertyPersisting);
    REQUIRE(kept.missProp == cudaAccessPropertyStreaming);
}

TEST_CASE("an access policy window that cannot be is refused", "[graph][attributes]") {
    Graph graph;
    DeviceInts data(64);
    Call call(nothing);
    const cudaGraphNode_t node = add_kernel(graph, call);
    Value good{};
    good.accessPolicyWindow.base_ptr = data.data();
    good.accessPolicyWindow.num_bytes = data.size_bytes();
    good.accessPolicyWindow.hitRatio = 1;
    Value bad = good;
    bad.accessPolicyWindow.hitRatio = 1.5F;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(node, cudaLaunchAttributeAccessPolicyWindow, bad));
    bad = good;
    bad.accessPolicyWindow.missProp = cudaAccessPropertyPersisting;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(node, cudaLaunchAttributeAccessPolicyWindow, bad));
    bad = good;
    bad.accessPolicyWindow.num_bytes = std::size_t{1} << 40;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(node, cudaLaunchAttributeAccessPolicyWindow, bad));
    REQUIRE_CUDA(set(node, cudaLaunchAttributeAccessPolicyWindow, good));
}

TEST_CASE("a kernel node without attributes has the defaults", "[graph][attributes]") {
    Graph graph;
    Call call(nothing);
    const cudaGraphNode_t node = add_kernel(graph, call);
    REQUIRE(get(node, cudaLaunchAttributePriority).priority == 0);
    REQUIRE(get(node, cudaLaunchAttributeCooperative).cooperative == 0);
    REQUIRE(get(node, cudaLaunchAttributeMemSyncDomain).memSyncDomain == cudaLaunchMemSyncDomainDefault);
    REQUIRE(get(node, cudaLaunchAttributeAccessPolicyWindow).accessPolicyWindow.num_bytes == 0);
    REQUIRE(get(node, cudaLaunchAttributeDeviceUpdatableKernelNode).deviceUpdatableKernelNode.deviceUpdatable == 0);
}

TEST_CASE("attributes survive new parameters, are cloned and copied", "[graph][attributes]") {
    Graph graph;
    Call call(nothing);
    const cudaGraphNode_t node = add_kernel(graph, call);
    const cudaGraphNode_t other = add_kernel(graph, call);
    REQUIRE_CUDA(set(node, cudaLaunchAttributePriority, priority_value(-2)));
    const cudaKernelNodeParams params = call.params();
    REQUIRE_CUDA(cudaGraphKernelNodeSetParams(node, &params));
    REQUIRE(get(node, cudaLaunchAttributePriority).priority == -2);
    Graph clone(nullptr);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    REQUIRE(get(nodes_of(clone)[0], cudaLaunchAttributePriority).priority == -2);
    REQUIRE_CUDA(cudaGraphKernelNodeCopyAttributes(other, node));
    REQUIRE(get(other, cudaLaunchAttributePriority).priority == -2);
    // A clone's attributes are its own.
    REQUIRE_CUDA(set(node, cudaLaunchAttributePriority, priority_value(0)));
    REQUIRE(get(nodes_of(clone)[0], cudaLaunchAttributePriority).priority == -2);
}

TEST_CASE("only kernel nodes have attributes", "[graph][attributes]") {
    Graph graph;
    Call call(nothing);
    const cudaGraphNode_t node = add_kernel(graph, call);
    const cudaGraphNode_t empty = add_empty(graph);
    Value value{};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(empty, cudaLaunchAttributePriority, priority_value(-1)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaGraphKernelNodeGetAttribute(empty, cudaLaunchAttributePriority, &value));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphKernelNodeCopyAttributes(empty, node));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphKernelNodeCopyAttributes(node, empty));
}

TEST_CASE("an attribute that kernel nodes do not have is refused", "[graph][attributes]") {
    Graph graph;
    Call call(nothing);
    const cudaGraphNode_t node = add_kernel(graph, call);
    for (const auto id : {cudaLaunchAttributeSynchronizationPolicy, cudaLaunchAttributeProgrammaticStreamSerialization,
                          unnamed_attribute}) {
        Value value{};
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(node, id, value));
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphKernelNodeGetAttribute(node, id, &value));
    }
}

TEST_CASE("a cluster divides the grid", "[graph][attributes]") {
    Graph graph;
    Call call(nothing);
    call.grid = dim3(4);
    const cudaGraphNode_t node = add_kernel(graph, call);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidClusterSize, set(node, cudaLaunchAttributeClusterDimension, cluster_of(3)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidClusterSize, set(node, cudaLaunchAttributeClusterDimension, cluster_of(2, 2)));
    REQUIRE_CUDA(set(node, cudaLaunchAttributeClusterDimension, cluster_of(2)));
    call.grid = dim3(3);
    const cudaKernelNodeParams params = call.params();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidClusterSize, cudaGraphKernelNodeSetParams(node, &params));
    const Exec exec(graph);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidClusterSize, cudaGraphExecKernelNodeSetParams(exec, node, &params));
}

TEST_CASE("a cluster has at most eight blocks, and none of its dimensions is zero", "[graph][attributes]") {
    Graph graph;
    Call call(nothing);
    call.grid = dim3(16);
    const cudaGraphNode_t node = add_kernel(graph, call);
    REQUIRE_CUDA(set(node, cudaLaunchAttributeClusterDimension, cluster_of(8)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidClusterSize, set(node, cudaLaunchAttributeClusterDimension, cluster_of(16)));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidClusterSize,
                       set(node, cudaLaunchAttributeClusterDimension, cluster_of(2, 0, 0)));
    REQUIRE_CUDA(set(node, cudaLaunchAttributeClusterDimension, cluster_of(0, 0, 0)));
    REQUIRE(is_cluster(get(node, cudaLaunchAttributeClusterDimension), 0, 0, 0));
    REQUIRE_CUDA(set(node, cudaLaunchAttributeClusterDimension, cluster_of(8)));
    REQUIRE(is_cluster(get(node, cudaLaunchAttributeClusterDimension), 8, 1, 1));
}

TEST_CASE("a cooperative grid fits on the device", "[graph][attributes]") {
    Graph graph;
    Call call(nothing);
    call.grid = dim3(resident_blocks(call));
    const cudaGraphNode_t node = add_kernel(graph, call);
    REQUIRE_CUDA(set(node, cudaLaunchAttributeCooperative, cooperative_value()));
    REQUIRE(get(node, cudaLaunchAttributeCooperative).cooperative == 1);
    ++call.grid.x;
    const cudaKernelNodeParams params = call.params();
    REQUIRE_CUDA_ERROR(cudaErrorCooperativeLaunchTooLarge, cudaGraphKernelNodeSetParams(node, &params));
}

TEST_CASE("a kernel node with attributes runs", "[graph][attributes]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    data.write({0});
    Call call(add, data.data(), 0, 1);
    call.grid = dim3(4);
    const cudaGraphNode_t node = add_kernel(graph, call);
    REQUIRE_CUDA(set(node, cudaLaunchAttributeClusterDimension, cluster_of(2)));
    REQUIRE_CUDA(set(node, cudaLaunchAttributePriority, priority_value(-1)));
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{4});
}

TEST_CASE("a cooperative kernel node runs", "[graph][attributes]") {
    Stream stream;
    Graph graph;
    DeviceInts data(1);
    data.write({0});
    Call call(add, data.data(), 0, 1);
    call.grid = dim3(4);
    REQUIRE_CUDA(set(add_kernel(graph, call), cudaLaunchAttributeCooperative, cooperative_value()));
    Exec(graph).run(stream);
    REQUIRE(data.read() == std::vector{4});
}

TEST_CASE("a whole update cannot switch cooperative on or off", "[exec][attributes]") {
    Call call(nothing);
    Graph plain;
    Graph cooperative;
    const cudaGraphNode_t plain_node = add_kernel(plain, call);
    const cudaGraphNode_t cooperative_node = add_kernel(cooperative, call);
    REQUIRE_CUDA(set(cooperative_node, cudaLaunchAttributeCooperative, cooperative_value()));
    const Exec plain_exec(plain);
    const Exec cooperative_exec(cooperative);
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(plain_exec, cooperative, &info));
    REQUIRE(info.result == cudaGraphExecUpdateErrorAttributesChanged);
    REQUIRE(info.errorNode == cooperative_node);
    REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(cooperative_exec, plain, &info));
    REQUIRE(info.result == cudaGraphExecUpdateErrorAttributesChanged);
    REQUIRE(info.errorNode == plain_node);
}

TEST_CASE("a cooperative attribute that does not fit is refused and changes nothing", "[graph][attributes]") {
    Graph graph;
    Call call(nothing);
    call.grid = dim3(resident_blocks(call) + 1);
    const cudaGraphNode_t node = add_kernel(graph, call);
    REQUIRE_CUDA_ERROR(cudaErrorCooperativeLaunchTooLarge,
                       set(node, cudaLaunchAttributeCooperative, cooperative_value()));
    REQUIRE(get(node, cudaLaunchAttributeCooperative).cooperative == 0);
}

TEST_CASE("a priority is brought into the device's range", "[graph][attributes]") {
    int least = 0;
    int greatest = 0;
    REQUIRE_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    Graph graph;
    Call call(nothing);
    const cudaGraphNode_t node = add_kernel(graph, call);
    REQUIRE_CUDA(set(node, cudaLaunchAttributePriority, priority_value(-100)));
    REQUIRE(get(node, cudaLaunchAttributePriority).priority == greatest);
    REQUIRE_CUDA(set(node, cudaLaunchAttributePriority, priority_value(100)));
    REQUIRE(get(node, cudaLaunchAttributePriority).priority == least);
}

TEST_CASE("a memory synchronisation domain and a carveout that cannot be are refused", "[graph][attributes]") {
    Graph graph;
    Call call(nothing);
    const cudaGraphNode_t node = add_kernel(graph, call);
    const auto refused = [&](cudaLaunchAttributeID id, const Value& value) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(node, id, value));
    };
    refused(cudaLaunchAttributeMemSyncDomain, priority_value(2));
    Value map{};
    map.memSyncDomainMap.remote = 200;
    refused(cudaLaunchAttributeMemSyncDomainMap, map);
    refused(cudaLaunchAttributePreferredSharedMemoryCarveout, priority_value(101));
    REQUIRE_CUDA(set(node, cudaLaunchAttributePreferredSharedMemoryCarveout, priority_value(100)));
    REQUIRE(get(node, cudaLaunchAttributePreferredSharedMemoryCarveout).sharedMemCarveout == 100);
}

// A GPU then runs the kernel in the clusters that it had.
TEST_CASE("a whole update to another cluster succeeds", "[exec][attributes]") {
    Stream stream;
    DeviceInts data(1);
    data.write({0});
    Call call(add, data.data(), 0, 1);
    call.grid = dim3(4);
    Graph graph;
    Graph other;
    add_kernel(graph, call);
    REQUIRE_CUDA(set(add_kernel(other, call), cudaLaunchAttributeClusterDimension, cluster_of(2)));
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, other, nullptr));
    exec.run(stream);
    REQUIRE(data.read() == std::vector{4});
}

TEST_CASE("a whole update may change the priority, unless launches use it", "[exec][attributes]") {
    Call call(nothing);
    Graph graph;
    Graph other;
    add_kernel(graph, call);
    REQUIRE_CUDA(set(add_kernel(other, call), cudaLaunchAttributePriority, priority_value(-1)));
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, other, nullptr));
    const Exec fixed(graph, cudaGraphInstantiateFlagUseNodePriority);
    cudaGraphExecUpdateResultInfo info{};
    REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(fixed, other, &info));
    REQUIRE(info.result == cudaGraphExecUpdateErrorAttributesChanged);
}

TEST_CASE("the driver reads and writes attributes", "[graph][attributes][driver]") {
    const auto read = entry_point<PFN_cuGraphKernelNodeGetAttribute_v11000>("cuGraphKernelNodeGetAttribute", 11000);
    const auto write = entry_point<PFN_cuGraphKernelNodeSetAttribute_v11000>("cuGraphKernelNodeSetAttribute", 11000);
    Graph graph;
    Call call(nothing);
    const cudaGraphNode_t node = add_kernel(graph, call);
    CUkernelNodeAttrValue value{};
    value.priority = -4;
    REQUIRE(write(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value) == CUDA_SUCCESS);
    REQUIRE(get(node, cudaLaunchAttributePriority).priority == -4);
    value = {};
    REQUIRE(read(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value) == CUDA_SUCCESS);
    REQUIRE(value.priority == -4);
    REQUIRE(write(add_empty(graph), CU_LAUNCH_ATTRIBUTE_PRIORITY, &value) == CUDA_ERROR_INVALID_VALUE);
}
