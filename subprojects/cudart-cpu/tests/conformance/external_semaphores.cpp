// External semaphores, as far as they can be had without another API that makes them: what is refused.
#include "nodes.hpp"

namespace {

cudaExternalSemaphoreHandleDesc description(cudaExternalSemaphoreHandleType type, int fd) {
    cudaExternalSemaphoreHandleDesc result{};
    result.type = type;
    result.handle.fd = fd;
    return result;
}

} // namespace

TEST_CASE("an external semaphore is not imported from no file descriptor", "[external_semaphores]") {
    auto semaphore = untouched<cudaExternalSemaphore_t>();
    const auto type =
        GENERATE(cudaExternalSemaphoreHandleTypeOpaqueFd, cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd);
    const cudaExternalSemaphoreHandleDesc closed = description(type, -1);
    const cudaError_t code = cudaImportExternalSemaphore(&semaphore, &closed);
    REQUIRE(code != cudaSuccess);
    REQUIRE(cudaGetLastError() == code);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaImportExternalSemaphore(nullptr, &closed));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaImportExternalSemaphore(&semaphore, nullptr));
}

TEST_CASE("a node of another kind has no external semaphores", "[external_semaphores]") {
    Graph graph;
    const cudaGraphNode_t empty = add_empty(graph);
    cudaExternalSemaphoreSignalNodeParams signal{};
    cudaExternalSemaphoreWaitNodeParams wait{};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExternalSemaphoresSignalNodeGetParams(empty, &signal));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExternalSemaphoresWaitNodeGetParams(empty, &wait));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExternalSemaphoresSignalNodeSetParams(empty, &signal));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExternalSemaphoresWaitNodeSetParams(empty, &wait));
    const Exec exec(graph);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecExternalSemaphoresSignalNodeSetParams(exec, empty, &signal));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphExecExternalSemaphoresWaitNodeSetParams(exec, empty, &wait));
    REQUIRE(nodes_of(graph) == Nodes{empty});
}
