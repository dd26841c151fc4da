// cuda*ExternalSemaphore*.
#include "capture/capture.hpp"
#include "graph/graph_semaphore_work.hpp"
#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"
#include "stream/external_semaphore_ops.hpp"
#include "stream/stream.hpp"

#include <fcntl.h>

namespace cudart_cpu::detail {

namespace {

cudaExternalSemaphore_t import_checked(const cudaExternalSemaphoreHandleDesc& description) {
    const int type = number_in(description.type);
    if (type < cudaExternalSemaphoreHandleTypeOpaqueFd || type > cudaExternalSemaphoreHandleTypeTimelineSemaphoreWin32)
        fail(cudaErrorInvalidValue, text(type, " is no type of an external semaphore"));
    if (description.flags != 0) fail(cudaErrorInvalidValue, "the flags of an external semaphore must be 0");
    const bool is_timeline = type == cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd;
    if (!is_timeline && type != cudaExternalSemaphoreHandleTypeOpaqueFd)
        fail(cudaErrorNotSupported, text("cudart-cpu imports external semaphores of the types OpaqueFd and "
                                         "TimelineSemaphoreFd, not of type ",
                                         type));
    const int fd = description.handle.fd;
    if (fcntl(fd, F_GETFD) == -1) fail(cudaErrorOperatingSystem, text(fd, " is no open file descriptor"));
    return add_external_semaphore(fd, is_timeline);
}

template <class Kind>
cudaError_t enqueue_operations(const char* name, const cudaExternalSemaphore_t* handles,
                               const typename Kind::Operation::Params* params, unsigned count,
                               cudaStream_t stream) noexcept {
    using Operation = typename Kind::Operation;
    return api(name, [&] {
        Stream& target = stream_of(stream);
        const typename Kind::Params node{const_cast<cudaExternalSemaphore_t*>(handles), params, count};
        if (captured(target, [&](auto&&...) { return std::make_shared<SemaphoreWork<Kind>>(node); })) return;
        enqueue(target, [operations = SemaphoreOperations<Operation>(handles, params, count)] { operations.run(); });
    });
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaImportExternalSemaphore(
    cudaExternalSemaphore_t* extSem_out, const struct cudaExternalSemaphoreHandleDesc* semHandleDesc) {
    return api("cudaImportExternalSemaphore", [&] {
        require_pointer(extSem_out, "extSem_out");
        require_pointer(semHandleDesc, "semHandleDesc");
        *extSem_out = import_checked(*semHandleDesc);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaDestroyExternalSemaphore(cudaExternalSemaphore_t extSem) {
    return api("cudaDestroyExternalSemaphore", [&] { destroy_external_semaphore(extSem); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaSignalExternalSemaphoresAsync(
    const cudaExternalSemaphore_t* extSemArray, const struct cudaExternalSemaphoreSignalParams* paramsArray,
    unsigned int numExtSems, cudaStream_t stream) {
    return enqueue_operations<SignalNode>("cudaSignalExternalSemaphoresAsync", extSemArray, paramsArray, numExtSems,
                                          stream);
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaWaitExternalSemaphoresAsync(
    const cudaExternalSemaphore_t* extSemArray, const struct cudaExternalSemaphoreWaitParams* paramsArray,
    unsigned int numExtSems, cudaStream_t stream) {
    return enqueue_operations<WaitNode>("cudaWaitExternalSemaphoresAsync", extSemArray, paramsArray, numExtSems,
                                        stream);
}
