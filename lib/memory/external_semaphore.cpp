// ExternalSemaphore: imports from file descriptors.
#include <cudag/external_semaphore.hpp>

#include "cuda/failure.hpp"

#include <fmt/format.h>

#include <fcntl.h>

namespace cudag {

namespace {

cudaExternalSemaphore_t import(cudaExternalSemaphoreHandleType type, const char* name, int fd) {
    const auto subject = [&] { return detail::Subject{fmt::format("import of {} from file descriptor {}", name, fd)}; };
    if (fcntl(fd, F_GETFD) == -1)
        detail::refuse<Error>("it is not open; pass the descriptor that the other API has exported", subject());
    cudaExternalSemaphoreHandleDesc description{};
    description.type = type;
    description.handle.fd = fd;
    cudaExternalSemaphore_t semaphore = nullptr;
    const cudaError_t status = cudaImportExternalSemaphore(&semaphore, &description);
    if (status != cudaSuccess) detail::raise_call<Error>(status, "cudaImportExternalSemaphore", subject());
    return semaphore;
}

} // namespace

ExternalSemaphore ExternalSemaphore::import_timeline(int fd) {
    return ExternalSemaphore(import(cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd, "a timeline semaphore", fd));
}

ExternalSemaphore ExternalSemaphore::import_opaque(int fd) {
    return ExternalSemaphore(import(cudaExternalSemaphoreHandleTypeOpaqueFd, "a semaphore", fd));
}

ExternalSemaphore::~ExternalSemaphore() {
    if (semaphore_ != nullptr)
        detail::report_release(cudaDestroyExternalSemaphore(semaphore_), "cudaDestroyExternalSemaphore");
}

} // namespace cudag
