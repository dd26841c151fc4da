// Pools of stream-ordered memory: made, chosen, accounted for, trimmed.
#include "gate.hpp"
#include "nodes.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20;

cudaMemPoolProps on_device() {
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = 0;
    return props;
}

class Pool {
  public:
    Pool() {
        const cudaMemPoolProps props = on_device();
        REQUIRE_CUDA(cudaMemPoolCreate(&pool_, &props));
    }
    ~Pool() {
        if (pool_ != nullptr) {
            CHECK(cudaMemPoolDestroy(pool_) == cudaSuccess);
        }
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    operator cudaMemPool_t() const { return pool_; }
    void destroy() {
        REQUIRE_CUDA(cudaMemPoolDestroy(pool_));
        pool_ = nullptr;
    }

  private:
    cudaMemPool_t pool_ = nullptr;
};

std::uint64_t get(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    std::uint64_t value = 0;
    REQUIRE_CUDA(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

void set(cudaMemPool_t pool, cudaMemPoolAttr attribute, std::uint64_t value) {
    REQUIRE_CUDA(cudaMemPoolSetAttribute(pool, attribute, &value));
}

void* allocate(cudaMemPool_t pool, std::size_t bytes, cudaStream_t stream) {
    void* pointer = nullptr;
    REQUIRE_CUDA(cudaMallocFromPoolAsync(&pointer, bytes, pool, stream));
    return pointer;
}

} // namespace

TEST_CASE("a device has a default pool, which is its current pool at first", "[pools]") {
    cudaMemPool_t standard = nullptr;
    cudaMemPool_t current = nullptr;
    REQUIRE_CUDA(cudaDeviceGetDefaultMemPool(&standard, 0));
    REQUIRE_CUDA(cudaDeviceGetMemPool(&current, 0));
    REQUIRE(standard != nullptr);
    REQUIRE(current == standard);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemPoolDestroy(standard));
}

TEST_CASE("memory from a pool is usable in its stream and freed as other stream-ordered memory", "[pools]") {
    Stream stream;
    const Pool pool;
    PinnedInts result(1);
    const auto data = static_cast<int*>(allocate(pool, sizeof(int), stream));
    Call write(store, data, 0, 7);
    write.launch(stream);
    REQUIRE_CUDA(cudaMemcpyAsync(result.data(), data, sizeof(int), cudaMemcpyDeviceToHost, stream));
    REQUIRE_CUDA(cudaFreeAsync(data, stream));
    stream.synchronize();
    REQUIRE(result[0] == 7);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeAsync(data, stream));

    void* other = allocate(pool, 64, stream);
    stream.synchronize();
    REQUIRE_CUDA(cudaFree(other));
}

TEST_CASE("cudaMallocAsync allocates from the device's current pool", "[pools]") {
    Stream stream;
    const Pool pool;
    cudaMemPool_t standard = nullptr;
    REQUIRE_CUDA(cudaDeviceGetDefaultMemPool(&standard, 0));
    REQUIRE_CUDA(cudaDeviceSetMemPool(0, pool));
    cudaMemPool_t current = nullptr;
    REQUIRE_CUDA(cudaDeviceGetMemPool(&current, 0));
    REQUIRE(current == pool);
    void* pointer = nullptr;
    REQUIRE_CUDA(cudaMallocAsync(&pointer, 1024, stream));
    REQUIRE(get(pool, cudaMemPoolAttrUsedMemCurrent) >= 1024);
    REQUIRE_CUDA(cudaFreeAsync(pointer, stream));
    REQUIRE_CUDA(cudaDeviceSetMemPool(0, standard));
    stream.synchronize();
    REQUIRE(get(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
}

TEST_CASE("a destroyed pool is no longer current, and what it gave out is freed later", "[pools]") {
    Stream stream;
    Pool pool;
    cudaMemPool_t standard = nullptr;
    REQUIRE_CUDA(cudaDeviceGetDefaultMemPool(&standard, 0));
    REQUIRE_CUDA(cudaDeviceSetMemPool(0, pool));
    void* pointer = allocate(pool, 1024, stream);
    pool.destroy();
    cudaMemPool_t current = nullptr;
    REQUIRE_CUDA(cudaDeviceGetMemPool(&current, 0));
    REQUIRE(current == standard);
    REQUIRE_CUDA(cudaFreeAsync(pointer, stream));
    stream.synchronize();
}

TEST_CASE("a pool counts what is in use and what it holds", "[pools]") {
    Stream stream;
    const Pool pool;
    REQUIRE(get(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    REQUIRE(get(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    void* first = allocate(pool, 1000, stream);
    void* second = allocate(pool, 3 * megabyte, stream);
    stream.synchronize();
    const std::uint64_t used = get(pool, cudaMemPoolAttrUsedMemCurrent);
    REQUIRE(used == 3 * megabyte + 1000);
    REQUIRE(get(pool, cudaMemPoolAttrReservedMemCurrent) >= used);
    REQUIRE_CUDA(cudaFreeAsync(second, stream));
    stream.synchronize();
    REQUIRE(get(pool, cudaMemPoolAttrUsedMemCurrent) == 1000);
    REQUIRE(get(pool, cudaMemPoolAttrUsedMemHigh) == used);
    REQUIRE_CUDA(cudaFreeAsync(first, stream));
    stream.synchronize();
    REQUIRE(get(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
}

TEST_CASE("memory is not in use from the call on that frees it", "[pools]") {
    Stream stream;
    const Pool pool;
    Gate gate;
    gate.block(stream);
    REQUIRE_CUDA(cudaFreeAsync(allocate(pool, 1000, stream), stream));
    REQUIRE(get(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    REQUIRE(get(pool, cudaMemPoolAttrReservedMemCurrent) >= 1000);
    gate.open();
    stream.synchronize();
}

TEST_CASE("a pool's high watermarks can be reset, but only to zero", "[pools]") {
    Stream stream;
    const Pool pool;
    REQUIRE_CUDA(cudaFreeAsync(allocate(pool, 1000, stream), stream));
    stream.synchronize();
    REQUIRE(get(pool, cudaMemPoolAttrUsedMemHigh) >= 1000);
    std::uint64_t one = 1;
    for (const cudaMemPoolAttr high : {cudaMemPoolAttrUsedMemHigh, cudaMemPoolAttrReservedMemHigh}) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemPoolSetAttribute(pool, high, &one));
        set(pool, high, 0);
    }
    REQUIRE(get(pool, cudaMemPoolAttrUsedMemHigh) == 0);
    std::uint64_t zero = 0;
    for (const cudaMemPoolAttr current : {cudaMemPoolAttrUsedMemCurrent, cudaMemPoolAttrReservedMemCurrent}) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemPoolSetAttribute(pool, current, &zero));
    }
}

TEST_CASE("a pool keeps freed memory up to its threshold, until it is trimmed", "[pools]") {
    Stream stream;
    const Pool pool;
    REQUIRE(get(pool, cudaMemPoolAttrReleaseThreshold) == 0);
    REQUIRE_CUDA(cudaFreeAsync(allocate(pool, megabyte, stream), stream));
    stream.synchronize();
    REQUIRE(get(pool, cudaMemPoolAttrReservedMemCurrent) == 0);

    set(pool, cudaMemPoolAttrReleaseThreshold, std::numeric_limits<std::uint64_t>::max());
    REQUIRE(get(pool, cudaMemPoolAttrReleaseThreshold) == std::numeric_limits<std::uint64_t>::max());
    REQUIRE_CUDA(cudaFreeAsync(allocate(pool, megabyte, stream), stream));
    stream.synchronize();
    REQUIRE(get(pool, cudaMemPoolAttrReservedMemCurrent) >= megabyte);
    REQUIRE_CUDA(cudaMemPoolTrimTo(pool, 0));
    REQUIRE(get(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
}

TEST_CASE("a pool reuses memory in every way until told otherwise", "[pools]") {
    const Pool pool;
    for (const cudaMemPoolAttr attribute : {cudaMemPoolReuseFollowEventDependencies, cudaMemPoolReuseAllowOpportunistic,
                                            cudaMemPoolReuseAllowInternalDependencies}) {
        int value = 9;
        REQUIRE_CUDA(cudaMemPoolGetAttribute(pool, attribute, &value));
        REQUIRE(value == 1);
        value = 0;
        REQUIRE_CUDA(cudaMemPoolSetAttribute(pool, attribute, &value));
        value = 9;
        REQUIRE_CUDA(cudaMemPoolGetAttribute(pool, attribute, &value));
        REQUIRE(value == 0);
    }
}

TEST_CASE("a pool's own device reads and writes its memory", "[pools]") {
    const Pool pool;
    cudaMemAccessFlags flags{};
    cudaMemLocation here{cudaMemLocationTypeDevice, 0};
    REQUIRE_CUDA(cudaMemPoolGetAccess(&flags, pool, &here));
    REQUIRE(flags == cudaMemAccessFlagsProtReadWrite);
    cudaMemAccessDesc access{here, cudaMemAccessFlagsProtReadWrite};
    REQUIRE_CUDA(cudaMemPoolSetAccess(pool, &access, 1));
    access.flags = cudaMemAccessFlagsProtNone;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaMemPoolSetAccess(pool, &access, 1));
    access.flags = cudaMemAccessFlagsProtRead;
    REQUIRE_CUDA_ERROR(cudaErrorNotSupported, cudaMemPoolSetAccess(pool, &access, 1));
    access = {{cudaMemLocationTypeDevice, 99}, cudaMemAccessFlagsProtReadWrite};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaMemPoolSetAccess(pool, &access, 1));
    cudaMemLocation elsewhere{cudaMemLocationTypeDevice, 99};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemPoolGetAccess(&flags, pool, &elsewhere));
}

TEST_CASE("bad pools are refused", "[pools]") {
    cudaMemPool_t pool = nullptr;
    cudaMemPoolProps props = on_device();
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(nullptr, &props));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, nullptr));
    props.allocType = cudaMemAllocationTypeInvalid;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, &props));
    props = on_device();
    props.location.type = cudaMemLocationTypeInvalid;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, &props));
    props = on_device();
    props.location.id = 99;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, &props));
    props = on_device();
    props.reserved[0] = 1;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemPoolCreate(&pool, &props));
}

TEST_CASE("bad arguments of the calls for pools are refused", "[pools]") {
    Stream stream;
    const Pool pool;
    std::uint64_t value = 0;
    cudaMemPool_t found = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(15), &value));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidDevice, cudaDeviceGetDefaultMemPool(&found, 99));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaDeviceGetMemPool(&found, 99));
    void* pointer = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorMemoryAllocation,
                       cudaMallocFromPoolAsync(&pointer, std::size_t{1} << 50, pool, stream));
    pointer = &value;
    REQUIRE_CUDA(cudaMallocFromPoolAsync(&pointer, 0, pool, stream));
    REQUIRE(pointer == nullptr);
}
