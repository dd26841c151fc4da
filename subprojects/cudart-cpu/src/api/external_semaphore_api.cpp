// cuda*ExternalSemaphore*.
#include "capture/capture.hpp"
#include "graph/graph_semaphore_work.hpp"
#include "runtime/call.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/live_counts.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"
#include "stream/external_semaphore_ops.hpp"
#include "stream/stream.hpp"

#include <cudart_cpu/control.hpp>

#include <fcntl.h>

#include <algorithm>

namespace cudart_cpu {

namespace detail {

namespace {

struct OwnedSemaphore {
    OwnedSemaphore(int fd, bool is_timeline) : semaphore(std::make_shared<ExternalSemaphore>(fd, is_timeline)) {}

    std::shared_ptr<ExternalSemaphore> semaphore;
    Counted<Kind::external_semaphore> counted;
};

using SemaphoreTable = HandleTable<OwnedSemaphore, cudaExternalSemaphore_t>;

SemaphoreTable& semaphores() {
    static auto* table = new SemaphoreTable;
    return *table;
}

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
    return semaphores().add(std::make_shared<OwnedSemaphore>(fd, is_timeline));
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

std::shared_ptr<ExternalSemaphore> external_semaphore_of(cudaExternalSemaphore_t handle) {
    const std::shared_ptr<OwnedSemaphore> found = semaphores().find(handle);
    if (!found) fail(cudaErrorInvalidResourceHandle, text("external semaphore ", handle, " is not alive"));
    return found->semaphore;
}

} // namespace detail

std::uint64_t external_semaphore_value(cudaExternalSemaphore_t semaphore) {
    const auto found = detail::semaphores().find(semaphore);
    return found ? found->semaphore->value() : 0;
}

} // namespace cudart_cpu

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
    return api("cudaDestroyExternalSemaphore", [&] {
        if (!semaphores().take(extSem))
            fail(cudaErrorInvalidResourceHandle, text("external semaphore ", extSem, " is not alive"));
    });
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
