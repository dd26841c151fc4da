// Managed memory: advice, prefetches, and what a range of it says about them.
#include "handles.hpp"
#include "memory.hpp"

#include <array>
#include <vector>

namespace {

constexpr std::size_t page = 64 * 1024; // a multiple of every page size

class ManagedPages {
  public:
    explicit ManagedPages(std::size_t count) : bytes_(count * page) {
        REQUIRE_CUDA(cudaMallocManaged(reinterpret_cast<void**>(&data_), bytes_, cudaMemAttachGlobal));
    }
    ~ManagedPages() { CHECK(cudaFree(data_) == cudaSuccess); }
    ManagedPages(const ManagedPages&) = delete;
    ManagedPages& operator=(const ManagedPages&) = delete;

    int* data() const { return data_; }
    char* page_at(std::size_t index) const { return reinterpret_cast<char*>(data_) + index * page; }
    std::size_t size_bytes() const { return bytes_; }

  private:
    int* data_ = nullptr;
    std::size_t bytes_;
};

#if CUDART_VERSION >= 13000
cudaMemLocation place(int device) {
    cudaMemLocation location{};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}

cudaError_t prefetch(const void* data, std::size_t bytes, int device, cudaStream_t stream = nullptr) {
    return cudaMemPrefetchAsync(data, bytes, place(device), 0, stream);
}

cudaError_t advise(const void* data, std::size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(data, bytes, advice, place(device));
}
#else
cudaError_t prefetch(const void* data, std::size_t bytes, int device, cudaStream_t stream = nullptr) {
    return cudaMemPrefetchAsync(data, bytes, device, stream);
}

cudaError_t advise(const void* data, std::size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(data, bytes, advice, device);
}
#endif

int attribute_of(const void* data, std::size_t bytes, cudaMemRangeAttribute attribute) {
    int value = 77;
    REQUIRE_CUDA(cudaMemRangeGetAttribute(&value, sizeof value, attribute, data, bytes));
    return value;
}

} // namespace

TEST_CASE("managed memory is the host's and the device's", "[managed]") {
    ManagedPages memory(1);
    memory.data()[0] = 1;
    Stream stream;
    REQUIRE_CUDA(cudaMemsetAsync(memory.data() + 1, 0, sizeof(int), stream));
    stream.synchronize();
    REQUIRE(memory.data()[0] == 1);
    REQUIRE(memory.data()[1] == 0);
    cudaPointerAttributes attributes{};
    REQUIRE_CUDA(cudaPointerGetAttributes(&attributes, memory.data()));
    REQUIRE(attributes.type == cudaMemoryTypeManaged);
}

TEST_CASE("nothing is advised of fresh managed memory", "[managed]") {
    ManagedPages memory(2);
    const std::size_t all = memory.size_bytes();
    REQUIRE(attribute_of(memory.data(), all, cudaMemRangeAttributeReadMostly) == 0);
    REQUIRE(attribute_of(memory.data(), all, cudaMemRangeAttributePreferredLocation) == cudaInvalidDeviceId);
    REQUIRE(attribute_of(memory.data(), all, cudaMemRangeAttributeAccessedBy) == cudaInvalidDeviceId);
    REQUIRE(attribute_of(memory.data(), all, cudaMemRangeAttributeLastPrefetchLocation) == cudaInvalidDeviceId);
}

TEST_CASE("the last prefetch is remembered, page by page", "[managed]") {
    ManagedPages memory(4);
    REQUIRE_CUDA(prefetch(memory.data(), memory.size_bytes(), 0));
    REQUIRE(attribute_of(memory.data(), memory.size_bytes(), cudaMemRangeAttributeLastPrefetchLocation) == 0);
    REQUIRE_CUDA(prefetch(memory.page_at(1), page, cudaCpuDeviceId));
    REQUIRE(attribute_of(memory.page_at(1), page, cudaMemRangeAttributeLastPrefetchLocation) == cudaCpuDeviceId);
    REQUIRE(attribute_of(memory.page_at(0), page, cudaMemRangeAttributeLastPrefetchLocation) == 0);
    REQUIRE(attribute_of(memory.page_at(2), 2 * page, cudaMemRangeAttributeLastPrefetchLocation) == 0);
    REQUIRE(attribute_of(memory.page_at(0), 2 * page, cudaMemRangeAttributeLastPrefetchLocation) ==
            cudaInvalidDeviceId);
    REQUIRE_CUDA(cudaDeviceSynchronize());
}

TEST_CASE("a prefetch keeps the data and the order of the stream", "[managed]") {
    ManagedPages memory(1);
    Stream stream;
    REQUIRE_CUDA(cudaMemsetAsync(memory.data(), 0x11, page, stream));
    REQUIRE_CUDA(prefetch(memory.data(), page, 0, stream));
    REQUIRE_CUDA(cudaMemsetAsync(memory.data(), 0x22, 4, stream));
    REQUIRE_CUDA(prefetch(memory.data(), page, cudaCpuDeviceId, stream));
    stream.synchronize();
    REQUIRE(memory.data()[0] == 0x22222222);
    REQUIRE(memory.data()[1] == 0x11111111);
}

TEST_CASE("advice is given and taken back", "[managed]") {
    ManagedPages memory(2);
    const std::size_t all = memory.size_bytes();
    SECTION("that it is mostly read") {
        REQUIRE_CUDA(advise(memory.data(), page, cudaMemAdviseSetReadMostly, 0));
        REQUIRE(attribute_of(memory.data(), page, cudaMemRangeAttributeReadMostly) == 1);
        REQUIRE(attribute_of(memory.data(), all, cudaMemRangeAttributeReadMostly) == 0);
        REQUIRE_CUDA(advise(memory.data(), page, cudaMemAdviseUnsetReadMostly, 0));
        REQUIRE(attribute_of(memory.data(), page, cudaMemRangeAttributeReadMostly) == 0);
    }
    SECTION("where it should be") {
        REQUIRE_CUDA(advise(memory.data(), all, cudaMemAdviseSetPreferredLocation, 0));
        REQUIRE(attribute_of(memory.data(), all, cudaMemRangeAttributePreferredLocation) == 0);
        REQUIRE_CUDA(advise(memory.data(), page, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
        REQUIRE(attribute_of(memory.data(), page, cudaMemRangeAttributePreferredLocation) == cudaCpuDeviceId);
        REQUIRE(attribute_of(memory.data(), all, cudaMemRangeAttributePreferredLocation) == cudaInvalidDeviceId);
        REQUIRE_CUDA(advise(memory.data(), all, cudaMemAdviseUnsetPreferredLocation, 0));
        REQUIRE(attribute_of(memory.data(), page, cudaMemRangeAttributePreferredLocation) == cudaInvalidDeviceId);
    }
    SECTION("who accesses it") {
        REQUIRE_CUDA(advise(memory.data(), all, cudaMemAdviseSetAccessedBy, 0));
        std::array<int, 3> devices{77, 77, 77};
        REQUIRE_CUDA(cudaMemRangeGetAttribute(devices.data(), sizeof devices, cudaMemRangeAttributeAccessedBy,
                                              memory.data(), all));
        REQUIRE(devices == std::array{0, cudaInvalidDeviceId, cudaInvalidDeviceId});
        REQUIRE_CUDA(advise(memory.data(), page, cudaMemAdviseUnsetAccessedBy, 0));
        REQUIRE(attribute_of(memory.data(), all, cudaMemRangeAttributeAccessedBy) == cudaInvalidDeviceId);
        REQUIRE(attribute_of(memory.page_at(1), page, cudaMemRangeAttributeAccessedBy) == 0);
    }
}

TEST_CASE("several attributes are asked for at once", "[managed]") {
    ManagedPages memory(1);
    REQUIRE_CUDA(advise(memory.data(), page, cudaMemAdviseSetReadMostly, 0));
    REQUIRE_CUDA(prefetch(memory.data(), page, 0));
    int read_mostly = 77;
    int prefetched = 77;
    std::array<void*, 2> data{&read_mostly, &prefetched};
    std::array<std::size_t, 2> sizes{sizeof(int), sizeof(int)};
    std::array<cudaMemRangeAttribute, 2> attributes{cudaMemRangeAttributeReadMostly,
                                                    cudaMemRangeAttributeLastPrefetchLocation};
    REQUIRE_CUDA(
        cudaMemRangeGetAttributes(data.data(), sizes.data(), attributes.data(), 2, memory.data(), memory.size_bytes()));
    REQUIRE(read_mostly == 1);
    REQUIRE(prefetched == 0);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemRangeGetAttributes(nullptr, sizes.data(), attributes.data(), 2, memory.data(), page));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemRangeGetAttributes(data.data(), nullptr, attributes.data(), 2, memory.data(), page));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemRangeGetAttributes(data.data(), sizes.data(), nullptr, 2, memory.data(), page));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemRangeGetAttributes(data.data(), sizes.data(), attributes.data(), 0, memory.data(), page));
}

TEST_CASE("memory that is not managed has no advice", "[managed]") {
    DeviceInts device(1024);
    PinnedInts pinned(1024);
    int value = 77;
    for (void* const pointer : {static_cast<void*>(device.data()), static_cast<void*>(pinned.data())}) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, prefetch(pointer, 4096, 0));
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, advise(pointer, 4096, cudaMemAdviseSetReadMostly, 0));
        REQUIRE_CUDA_ERROR(
            cudaErrorInvalidValue,
            cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, pointer, 4096));
    }
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, prefetch(nullptr, 4096, 0));
    REQUIRE(value == 77);
}

TEST_CASE("ranges that are empty, and places that do not exist, are refused", "[managed]") {
    ManagedPages memory(1);
    int count = 0;
    REQUIRE_CUDA(cudaGetDeviceCount(&count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, prefetch(memory.data(), 0, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, advise(memory.data(), 0, cudaMemAdviseSetReadMostly, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, prefetch(memory.data(), page, count));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, advise(memory.data(), page, cudaMemAdviseSetPreferredLocation, count));
}

TEST_CASE("a range that leaves its allocation is refused", "[managed]") {
    ManagedPages memory(1);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, prefetch(memory.data(), std::size_t{1} << 40, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       advise(memory.data(), std::size_t{1} << 40, cudaMemAdviseSetReadMostly, 0));
}

TEST_CASE("a prefetch is not captured", "[managed]") {
    ManagedPages memory(1);
    Stream stream;
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureUnsupported, prefetch(memory.data(), page, 0, stream));
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
}

TEST_CASE("managed memory is attached to a stream", "[managed]") {
    ManagedPages memory(1);
    Stream stream;
    REQUIRE_CUDA(cudaStreamAttachMemAsync(stream, memory.data(), 0, cudaMemAttachSingle));
    REQUIRE_CUDA(cudaStreamAttachMemAsync(stream, memory.data(), memory.size_bytes(), cudaMemAttachGlobal));
    stream.synchronize();
    DeviceInts device(4);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, device.data(), 0, cudaMemAttachGlobal));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, memory.data(), 0, 8));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaStreamAttachMemAsync(stream, memory.data(), 5, cudaMemAttachGlobal));
    REQUIRE(cudaStreamAttachMemAsync(nullptr, memory.data(), 0, cudaMemAttachSingle) != cudaSuccess);
    static_cast<void>(cudaGetLastError());
}

#if CUDART_VERSION >= 13000

TEST_CASE("places of memory are told by type and number", "[managed]") {
    ManagedPages memory(1);
    REQUIRE_CUDA(prefetch(memory.data(), page, 0));
    REQUIRE_CUDA(advise(memory.data(), page, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    REQUIRE(attribute_of(memory.data(), page, cudaMemRangeAttributeLastPrefetchLocationType) ==
            cudaMemLocationTypeDevice);
    REQUIRE(attribute_of(memory.data(), page, cudaMemRangeAttributeLastPrefetchLocationId) == 0);
    REQUIRE(attribute_of(memory.data(), page, cudaMemRangeAttributePreferredLocationType) == cudaMemLocationTypeHost);
    REQUIRE_CUDA(advise(memory.data(), page, cudaMemAdviseUnsetPreferredLocation, 0));
    REQUIRE(attribute_of(memory.data(), page, cudaMemRangeAttributePreferredLocationType) ==
            cudaMemLocationTypeInvalid);
}

namespace {

struct ThreePages {
    ManagedPages memory{3};
    Stream stream;
    std::array<void*, 3> pointers{memory.page_at(0), memory.page_at(1), memory.page_at(2)};
    std::array<std::size_t, 3> sizes{page, page, page};
    std::array<cudaMemLocation, 2> places{place(0), place(cudaCpuDeviceId)};

    /// The second place begins at page `second`.
    cudaError_t prefetch(std::size_t second) {
        std::array<std::size_t, 2> first{0, second};
        return cudaMemPrefetchBatchAsync(pointers.data(), sizes.data(), 3, places.data(), first.data(), 2, 0, stream);
    }
};

} // namespace

TEST_CASE("prefetches come in batches", "[managed]") {
    ThreePages pages;
    REQUIRE_CUDA(pages.prefetch(2));
    pages.stream.synchronize();
    REQUIRE(attribute_of(pages.memory.data(), 2 * page, cudaMemRangeAttributeLastPrefetchLocation) == 0);
    REQUIRE(attribute_of(pages.memory.page_at(2), page, cudaMemRangeAttributeLastPrefetchLocation) == cudaCpuDeviceId);
}

TEST_CASE("two places may begin at one range, and none behind the last", "[managed]") {
    ThreePages pages;
    REQUIRE_CUDA(pages.prefetch(0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, pages.prefetch(3));
}

TEST_CASE("memory that is discarded and written again holds what was written", "[managed]") {
    ManagedPages memory(2);
    Stream stream;
    std::array<void*, 2> pointers{memory.page_at(0), memory.page_at(1)};
    std::array<std::size_t, 2> sizes{page, page};
    REQUIRE_CUDA(cudaMemDiscardBatchAsync(pointers.data(), sizes.data(), 2, 0, stream));
    REQUIRE_CUDA(cudaMemsetAsync(memory.data(), 0x33, memory.size_bytes(), stream));
    stream.synchronize();
    REQUIRE(memory.data()[0] == 0x33333333);
    REQUIRE(memory.data()[page / sizeof(int)] == 0x33333333);

    std::array<cudaMemLocation, 1> places{place(0)};
    std::array<std::size_t, 1> first{0};
    REQUIRE_CUDA(cudaMemDiscardAndPrefetchBatchAsync(pointers.data(), sizes.data(), 2, places.data(), first.data(), 1,
                                                     0, stream));
    stream.synchronize();
    REQUIRE(attribute_of(memory.data(), memory.size_bytes(), cudaMemRangeAttributeLastPrefetchLocation) == 0);
    DeviceInts device(16);
    pointers[1] = device.data();
    sizes[1] = device.size_bytes();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemDiscardBatchAsync(pointers.data(), sizes.data(), 2, 0, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemDiscardBatchAsync(nullptr, sizes.data(), 2, 0, stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemDiscardBatchAsync(pointers.data(), sizes.data(), 1, 7, stream));
}

#endif
