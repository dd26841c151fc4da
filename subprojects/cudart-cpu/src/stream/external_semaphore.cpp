// External semaphores, made by cudaImportExternalSemaphore from file descriptors.
#include "external_semaphore.hpp"

#include "runtime/call.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/live_counts.hpp"
#include "runtime/text.hpp"

#include <cudart_cpu/control.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <utility>

namespace cudart_cpu::detail {

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

using FileIdentity = std::pair<dev_t, ino_t>;

/// Descriptors without a file, such as an eventfd, have no identity: each becomes a separate semaphore.
std::shared_ptr<SemaphoreState> state_of_file(int fd) {
    static auto& mutex = *new std::mutex; // never destroyed: a semaphore may be imported after main()
    static auto& states = *new std::map<FileIdentity, std::weak_ptr<SemaphoreState>>;
    struct stat file {};
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return std::make_shared<SemaphoreState>();
    const std::lock_guard lock(mutex);
    std::weak_ptr<SemaphoreState>& known = states[{file.st_dev, file.st_ino}];
    std::shared_ptr<SemaphoreState> state = known.lock();
    if (!state) known = state = std::make_shared<SemaphoreState>();
    return state;
}

} // namespace

void SemaphoreState::set(std::uint64_t value) {
    const std::lock_guard lock(mutex_);
    value_ = value;
    changed_.notify_all();
}

void SemaphoreState::wait_for(std::uint64_t value) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return value_ >= value; });
}

void SemaphoreState::take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return value_ != 0; });
    value_ = 0;
}

std::uint64_t SemaphoreState::value() const {
    const std::lock_guard lock(mutex_);
    return value_;
}

ExternalSemaphore::ExternalSemaphore(int fd, bool is_timeline)
    : fd_(fd), is_timeline_(is_timeline), state_(state_of_file(fd)) {}

ExternalSemaphore::~ExternalSemaphore() {
    close(fd_);
}

cudaExternalSemaphore_t add_external_semaphore(int fd, bool is_timeline) {
    return semaphores().add(std::make_shared<OwnedSemaphore>(fd, is_timeline));
}

void destroy_external_semaphore(cudaExternalSemaphore_t handle) {
    if (!semaphores().take(handle))
        fail(cudaErrorInvalidResourceHandle, text("external semaphore ", handle, " is not alive"));
}

std::shared_ptr<ExternalSemaphore> external_semaphore_of(cudaExternalSemaphore_t handle) {
    const std::shared_ptr<OwnedSemaphore> found = semaphores().find(handle);
    if (!found) fail(cudaErrorInvalidResourceHandle, text("external semaphore ", handle, " is not alive"));
    return found->semaphore;
}

} // namespace cudart_cpu::detail

namespace cudart_cpu {

std::uint64_t external_semaphore_value(cudaExternalSemaphore_t semaphore) {
    const auto found = detail::semaphores().find(semaphore);
    return found ? found->semaphore->value() : 0;
}

} // namespace cudart_cpu
