// Managed memory as only this runtime can show it: what discarded memory holds, and advice about several devices.
#include "check.hpp"

#include <cudart_cpu/control.hpp>

namespace {

constexpr std::size_t page = 4096;

cudaError_t advise(void* memory, std::size_t bytes, cudaMemoryAdvise advice, int device) {
#if CUDART_VERSION >= 13000
    return cudaMemAdvise(memory, bytes, advice, {cudaMemLocationTypeDevice, device});
#else
    return cudaMemAdvise(memory, bytes, advice, device);
#endif
}

void devices_that_access_it() {
    void* memory = nullptr;
    CHECK_OK(cudaMallocManaged(&memory, 3 * page, cudaMemAttachGlobal));
    CHECK_OK(advise(memory, 3 * page, cudaMemAdviseSetAccessedBy, 2));
    CHECK_OK(advise(memory, 3 * page, cudaMemAdviseSetAccessedBy, 0));
    CHECK_OK(advise(memory, page, cudaMemAdviseSetAccessedBy, 1));
    int devices[4] = {};
    CHECK_OK(cudaMemRangeGetAttribute(devices, sizeof devices, cudaMemRangeAttributeAccessedBy, memory, 3 * page));
    CHECK(devices[0] == 0 && devices[1] == 2 && devices[2] == cudaInvalidDeviceId);
    CHECK_OK(cudaMemRangeGetAttribute(devices, 2 * sizeof(int), cudaMemRangeAttributeAccessedBy, memory, page));
    CHECK(devices[0] == 0 && devices[1] == 1);
    CHECK_CODE(cudaErrorInvalidValue, advise(memory, page, cudaMemAdviseSetAccessedBy, 3));
    CHECK_OK(cudaFree(memory));
}

/// What is said of a page holds for all its bytes, and for no other page's.
void advice_counts_pages() {
    char* memory = nullptr;
    CHECK_OK(cudaMallocManaged(reinterpret_cast<void**>(&memory), 2 * page + 5, cudaMemAttachGlobal));
    CHECK_OK(advise(memory + page + 10, 1, cudaMemAdviseSetReadMostly, 0));
    const auto read_mostly = [&](std::size_t begin, std::size_t bytes) {
        int value = -1;
        CHECK_OK(
            cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, memory + begin, bytes));
        return value;
    };
    CHECK(read_mostly(page, page) == 1);
    CHECK(read_mostly(0, page) == 0);
    CHECK(read_mostly(page - 1, 2) == 0);
    CHECK(read_mostly(2 * page, 5) == 0);
    CHECK_OK(advise(memory + 2 * page, 5, cudaMemAdviseSetReadMostly, 0));
    CHECK(read_mostly(page, page + 5) == 1);
    CHECK_CODE(cudaErrorInvalidValue, advise(memory + 2 * page, 6, cudaMemAdviseSetReadMostly, 0));
    CHECK_OK(cudaFree(memory));
}

/// New memory at an address that was freed has no advice from before.
void advice_ends_with_its_memory() {
    for (int i = 0; i < 8; ++i) {
        void* memory = nullptr;
        CHECK_OK(cudaMallocManaged(&memory, page, cudaMemAttachGlobal));
        int value = -1;
        CHECK_OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, memory, page));
        CHECK(value == 0);
        CHECK_OK(advise(memory, page, cudaMemAdviseSetReadMostly, 0));
        CHECK_OK(cudaFree(memory));
        CHECK_CODE(cudaErrorInvalidValue, advise(memory, page, cudaMemAdviseSetReadMostly, 0));
    }
}

#if CUDART_VERSION >= 13000
void discarded_memory_reads_as_fresh() {
    unsigned char* memory = nullptr;
    CHECK_OK(cudaMallocManaged(reinterpret_cast<void**>(&memory), 2 * page, cudaMemAttachGlobal));
    cudaStream_t stream = nullptr;
    CHECK_OK(cudaStreamCreate(&stream));
    CHECK_OK(cudaMemsetAsync(memory, 0, 2 * page, stream));
    void* pointer = memory;
    std::size_t bytes = page;
    CHECK_OK(cudaMemDiscardBatchAsync(&pointer, &bytes, 1, 0, stream));
    CHECK_OK(cudaStreamSynchronize(stream));
    CHECK(memory[0] == 0xCD && memory[page - 1] == 0xCD && memory[page] == 0);
    CHECK_OK(cudaStreamDestroy(stream));
    CHECK_OK(cudaFree(memory));
}
#endif

} // namespace

int main() {
    cudart_cpu::set_devices(3);
    devices_that_access_it();
    advice_counts_pages();
    advice_ends_with_its_memory();
#if CUDART_VERSION >= 13000
    discarded_memory_reads_as_fresh();
#endif
}
