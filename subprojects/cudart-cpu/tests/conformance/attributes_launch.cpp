// Attributes of launches.
#include "attributes.hpp"
#include "capture.hpp"

namespace {

/// Adds 1 to a counter from each thread; gives the code, and the counter in `count`.
struct Launched {
    cudaError_t code;
    int count;
};

Launched launch(unsigned blocks, std::vector<cudaLaunchAttribute> attributes) {
    DeviceInts data(1);
    data.write({0});
    Call call(add, data.data(), 0, 1);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(1);
    config.attrs = attributes.data();
    config.numAttrs = static_cast<unsigned>(attributes.size());
    const cudaError_t code = cudaLaunchKernelExC(&config, call.function(), call.arguments());
    static_cast<void>(cudaGetLastError());
    REQUIRE_CUDA(cudaDeviceSynchronize());
    return {code, data.read()[0]};
}

cudaLaunchAttribute attribute(cudaLaunchAttributeID id, const Value& value) {
    cudaLaunchAttribute result{};
    result.id = id;
    result.val = value;
    return result;
}

/// The cluster scheduling policy that CUDA tells of a captured launch.
int captured_scheduling(std::vector<cudaLaunchAttribute> attributes) {
    Stream stream;
    Call call(add, nullptr, 0, 1);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(1);
    config.stream = stream;
    config.attrs = attributes.data();
    config.numAttrs = static_cast<unsigned>(attributes.size());
    Capture capture(stream);
    REQUIRE_CUDA(cudaLaunchKernelExC(&config, call.function(), call.arguments()));
    const Nodes nodes = nodes_of(capture.end());
    return get(nodes.at(0), cudaLaunchAttributeClusterSchedulingPolicyPreference).clusterSchedulingPolicyPreference;
}

} // namespace

TEST_CASE("a captured launch tells the cluster scheduling policy that the default is", "[launch][attributes]") {
    const auto asking = [](cudaClusterSchedulingPolicy policy) {
        Value value{};
        value.clusterSchedulingPolicyPreference = policy;
        return captured_scheduling({attribute(cudaLaunchAttributeClusterSchedulingPolicyPreference, value)});
    };
    REQUIRE(captured_scheduling({}) == cudaClusterSchedulingPolicySpread);
    REQUIRE(asking(cudaClusterSchedulingPolicyDefault) == cudaClusterSchedulingPolicySpread);
    REQUIRE(asking(cudaClusterSchedulingPolicySpread) == cudaClusterSchedulingPolicySpread);
    REQUIRE(asking(cudaClusterSchedulingPolicyLoadBalancing) == cudaClusterSchedulingPolicyLoadBalancing);
}

TEST_CASE("a launch in clusters runs, if they divide the grid and have at most eight blocks", "[launch][attributes]") {
    const auto in_clusters = [](unsigned blocks, unsigned cluster) {
        return launch(blocks, {attribute(cudaLaunchAttributeClusterDimension, cluster_of(cluster))});
    };
    REQUIRE(in_clusters(4, 2).count == 4);
    REQUIRE(in_clusters(8, 8).count == 8);
    REQUIRE(in_clusters(4, 3).code == cudaErrorInvalidClusterSize);
    REQUIRE(in_clusters(16, 16).code == cudaErrorInvalidClusterSize);
}

TEST_CASE("a cooperative launch runs if its grid fits on the device", "[launch][attributes]") {
    Call call(add, nullptr, 0, 0);
    const unsigned resident = resident_blocks(call);
    const auto cooperative = attribute(cudaLaunchAttributeCooperative, cooperative_value());
    REQUIRE(launch(4, {cooperative}).count == 4);
    REQUIRE(launch(resident + 1, {cooperative}).code == cudaErrorCooperativeLaunchTooLarge);
    const auto off = attribute(cudaLaunchAttributeCooperative, cooperative_value(0));
    REQUIRE(launch(resident + 1, {off}).code == cudaSuccess);
}

TEST_CASE("a launch with hints runs", "[launch][attributes]") {
    Value carveout{};
    carveout.sharedMemCarveout = 50;
    Value serialization{};
    serialization.programmaticStreamSerializationAllowed = 1;
    Value domain{};
    domain.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    const Launched launched =
        launch(2, {attribute(cudaLaunchAttributePreferredSharedMemoryCarveout, carveout),
                   attribute(cudaLaunchAttributeProgrammaticStreamSerialization, serialization),
                   attribute(cudaLaunchAttributeMemSyncDomain, domain), attribute(cudaLaunchAttributeIgnore, {}),
                   attribute(cudaLaunchAttributePriority, priority_value(-1))});
    REQUIRE(launched.code == cudaSuccess);
    REQUIRE(launched.count == 2);
}

TEST_CASE("an attribute that launches do not have is refused", "[launch][attributes]") {
    REQUIRE(launch(1, {attribute(unnamed_attribute, {})}).code == cudaErrorInvalidValue);
    Value updatable{};
    updatable.deviceUpdatableKernelNode.deviceUpdatable = 1;
    const auto outside_of_a_capture = attribute(cudaLaunchAttributeDeviceUpdatableKernelNode, updatable);
    REQUIRE(launch(1, {outside_of_a_capture}).code == cudaErrorNotSupported);
    REQUIRE(launch(1, {attribute(cudaLaunchAttributeSynchronizationPolicy, {})}).code == cudaErrorInvalidValue);
    REQUIRE(launch(1, {attribute(cudaLaunchAttributePreferredSharedMemoryCarveout, priority_value(101))}).code ==
            cudaErrorInvalidValue);
    REQUIRE(launch(1, {attribute(cudaLaunchAttributeClusterSchedulingPolicyPreference, priority_value(9))}).code ==
            cudaErrorInvalidValue);
}
