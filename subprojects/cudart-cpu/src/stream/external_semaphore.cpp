// External semaphores: what cudaImportExternalSemaphore makes of a file descriptor.
#include "external_semaphore.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <utility>

namespace cudart_cpu::detail {

namespace {

using FileIdentity = std::pair<dev_t, ino_t>;

/// Descriptors of what is no file of its own, such as an eventfd, have no identity: each is a semaphore of its own.
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

} // namespace cudart_cpu::detail
