// Attributes of streams, and callbacks.
#include "handles.hpp"

#include <atomic>
#include <cstring>

namespace {

cudaLaunchAttributeValue attribute_of(cudaStream_t stream, cudaLaunchAttributeID id) {
    cudaLaunchAttributeValue value{};
    REQUIRE_CUDA(cudaStreamGetAttribute(stream, id, &value));
    return value;
}

struct Called {
    std::atomic<int> times = 0;
    cudaStream_t stream = nullptr;
    cudaError_t status = cudaErrorUnknown;
    cudaError_t call_inside = cudaSuccess;

    static void CUDART_CB note(cudaStream_t stream, cudaError_t status, void* data) {
        auto& self = *static_cast<Called*>(data);
        self.stream = stream;
        self.status = status;
        void* memory = nullptr;
        self.call_inside = cudaMalloc(&memory, 16);
        static_cast<void>(cudaGetLastError());
        ++self.times;
    }
};

} // namespace

TEST_CASE("a stream has attributes from the start", "[stream-attributes]") {
    Stream stream;
    REQUIRE(attribute_of(stream, cudaLaunchAttributeAccessPolicyWindow).accessPolicyWindow.num_bytes == 0);
    REQUIRE(attribute_of(stream, cudaLaunchAttributeMemSyncDomain).memSyncDomain == cudaLaunchMemSyncDomainDefault);
    REQUIRE(attribute_of(stream, cudaLaunchAttributePriority).priority == 0);
    SECTION("no policy of how threads wait for it") {
        const auto value = attribute_of(stream, cudaLaunchAttributeSynchronizationPolicy);
        int policy = 0; // -1, which is no cudaSynchronizationPolicy
        std::memcpy(&policy, &value.syncPolicy, sizeof policy);
        REQUIRE(policy == -1);
    }
}

TEST_CASE("attributes of a stream are set, and copied to another", "[stream-attributes]") {
    Stream stream;
    Stream other;
    cudaLaunchAttributeValue value{};
    value.syncPolicy = cudaSyncPolicyBlockingSync;
    REQUIRE_CUDA(cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
    REQUIRE(attribute_of(stream, cudaLaunchAttributeSynchronizationPolicy).syncPolicy == cudaSyncPolicyBlockingSync);
    value = {};
    value.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    REQUIRE_CUDA(cudaStreamSetAttribute(stream, cudaLaunchAttributeMemSyncDomain, &value));
    REQUIRE(attribute_of(other, cudaLaunchAttributeMemSyncDomain).memSyncDomain == cudaLaunchMemSyncDomainDefault);
    REQUIRE_CUDA(cudaStreamCopyAttributes(other, stream));
    REQUIRE(attribute_of(other, cudaLaunchAttributeMemSyncDomain).memSyncDomain == cudaLaunchMemSyncDomainRemote);
    REQUIRE(attribute_of(other, cudaLaunchAttributeSynchronizationPolicy).syncPolicy == cudaSyncPolicyBlockingSync);
}

TEST_CASE("attributes that a stream does not have are refused", "[stream-attributes]") {
    Stream stream;
    cudaLaunchAttributeValue value{};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaStreamGetAttribute(stream, cudaLaunchAttributeClusterDimension, &value));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaStreamSetAttribute(stream, cudaLaunchAttributeClusterDimension, &value));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamSetAttribute(stream, cudaLaunchAttributeCooperative, &value));
}

TEST_CASE("values that an attribute of a stream cannot have are refused", "[stream-attributes]") {
    Stream stream;
    cudaLaunchAttributeValue value{};
    value.syncPolicy = static_cast<cudaSynchronizationPolicy>(5);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
    value = {};
    value.accessPolicyWindow.hitRatio = 2;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaStreamSetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &value));
}

TEST_CASE("a callback is called in the order of its stream", "[stream-callbacks]") {
    Stream stream;
    Called called;
    REQUIRE_CUDA(cudaStreamAddCallback(stream, &Called::note, &called, 0));
    stream.synchronize();
    REQUIRE(called.times == 1);
    REQUIRE(called.stream == stream);
    REQUIRE(called.status == cudaSuccess);
    REQUIRE(called.call_inside == cudaErrorNotPermitted);
}

TEST_CASE("a callback that cannot be is refused", "[stream-callbacks]") {
    Stream stream;
    Called called;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamAddCallback(stream, nullptr, &called, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamAddCallback(stream, &Called::note, &called, 1));
    stream.synchronize();
    REQUIRE(called.times == 0);
}

TEST_CASE("a callback is not captured", "[stream-callbacks]") {
    Stream stream;
    Called called;
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, cudaStreamAddCallback(stream, &Called::note, &called, 0));
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
    REQUIRE(called.times == 0);
}
