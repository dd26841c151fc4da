// What fresh memory holds, by CUDART_CPU_ZERO. The argument is the byte of managed memory, then that of all other.
#include "check.hpp"

#include <cstring>

namespace {

/// Copied, as a program would look at it.
void check_bytes(const void* memory, int expected) {
    unsigned char bytes[100];
    CHECK_OK(cudaMemcpy(bytes, memory, sizeof bytes, cudaMemcpyDefault));
    for (const unsigned char byte : bytes)
        CHECK(byte == expected);
}

void check_pointers(int managed_byte, int other_byte) {
    void* managed = nullptr;
    CHECK_OK(cudaMallocManaged(&managed, 100, cudaMemAttachGlobal));
    check_bytes(managed, managed_byte);
    std::memset(managed, 7, 100);
    CHECK_OK(cudaFree(managed));
    CHECK_OK(cudaMallocManaged(&managed, 100, cudaMemAttachHost)); // at the address of the first one, perhaps
    check_bytes(managed, managed_byte);
    CHECK_OK(cudaFree(managed));
    void* device = nullptr;
    CHECK_OK(cudaMalloc(&device, 100));
    check_bytes(device, other_byte);
    CHECK_OK(cudaFree(device));
    CHECK_OK(cudaMallocAsync(&device, 100, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    check_bytes(device, other_byte);
    CHECK_OK(cudaFree(device));
    void* host = nullptr;
    CHECK_OK(cudaMallocHost(&host, 100));
    check_bytes(host, other_byte);
    CHECK_OK(cudaFreeHost(host));
}

void check_array(int other_byte) {
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    cudaArray_t array = nullptr;
    CHECK_OK(cudaMallocArray(&array, &desc, 100));
    unsigned char bytes[100];
    CHECK_OK(cudaMemcpy2DFromArray(bytes, 100, array, 0, 0, 100, 1, cudaMemcpyDeviceToHost));
    for (const unsigned char byte : bytes)
        CHECK(byte == other_byte);
    CHECK_OK(cudaFreeArray(array));
}

void check_graph(int other_byte) {
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaMemAllocNodeParams params{};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = 100;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    CHECK_OK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_OK(cudaGraphLaunch(exec, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    check_bytes(params.dptr, other_byte);
    CHECK_OK(cudaFree(params.dptr));
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK_OK(cudaGraphDestroy(graph));
}

} // namespace

int main(int argc, char** argv) {
    CHECK(argc == 3);
    const int managed_byte = std::atoi(argv[1]);
    const int other_byte = std::atoi(argv[2]);
    check_pointers(managed_byte, other_byte);
    check_array(other_byte);
    check_graph(other_byte);
}
