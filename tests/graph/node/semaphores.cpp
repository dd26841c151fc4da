// External semaphores, as far as they can be had without another API: what is refused.
#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "test.hpp"

using cudag::Error;
using cudag::ExternalSemaphore;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::SemaphoreSignal;
using cudag::SemaphoreWait;

namespace {

/// A file descriptor that is open, but names no semaphore.
class NoSemaphore {
  public:
    NoSemaphore() : fd_(open("/dev/null", O_RDONLY | O_CLOEXEC)) { REQUIRE(fd_ >= 0); }
    ~NoSemaphore() { close(fd_); }
    NoSemaphore(const NoSemaphore&) = delete;
    NoSemaphore& operator=(const NoSemaphore&) = delete;
    [[nodiscard]] int fd() const { return fd_; }

  private:
    int fd_;
};

} // namespace

TEST_CASE("a file descriptor that is not open is no semaphore", "[semaphore]") {
    const int closed = fcntl(NoSemaphore().fd(), F_DUPFD, 500); // so high that CUDA does not take it meanwhile
    REQUIRE(closed >= 500);
    close(closed);
    for (const int fd : {-1, closed}) {
        const auto timeline = refused<Error>([&] { static_cast<void>(ExternalSemaphore::import_timeline(fd)); });
        CHECK(timeline.code() == cuda_code(cudaErrorInvalidValue));
        CHECK_THAT(timeline.what(), ContainsSubstring("import of a timeline semaphore from file descriptor " +
                                                      std::to_string(fd) + ": it is not open"));
        const auto opaque = refused<Error>([&] { static_cast<void>(ExternalSemaphore::import_opaque(fd)); });
        CHECK_THAT(opaque.what(), ContainsSubstring("import of a semaphore from file descriptor ") &&
                                      ContainsSubstring("it is not open"));
    }
}

TEST_CASE("a null semaphore is refused by its place in the list", "[semaphore]") {
    const auto check = [](auto&& add, const char* text) {
        GraphBuilder b;
        b.host([] {});
        const auto error = refused<GraphError>([&] { add(b); });
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK_THAT(error.what(), ContainsSubstring(text) && ContainsSubstring("null or was moved from"));
        CHECK(std::move(b).build().node_count() == 1);
    };
    const cudaExternalSemaphore_t none = nullptr;
    const std::shared_ptr<ExternalSemaphore> empty;
    check([&](GraphBuilder& b) { b.signal({none, 1}); }, "signal_semaphore at ");
    check([&](GraphBuilder& b) { b.wait(SemaphoreWait{none, 1}); }, "wait_semaphore at ");
    check([&](GraphBuilder& b) { b.signal({{empty, 1}, {none, 2}}); }, "semaphore 0 of 2");
    check([&](GraphBuilder& b) { b.wait({{empty, 1}, {none, 2}}); }, "semaphore 0 of 2");
}

TEST_CASE("a list of no semaphores is refused", "[semaphore]") {
    GraphBuilder b;
    CHECK_THAT(refused<GraphError>([&] { b.signal(std::vector<SemaphoreSignal>()); }).what(),
               ContainsSubstring("signal_semaphore at ") && ContainsSubstring("a list of 0 semaphores"));
    CHECK_THAT(refused<GraphError>([&] { b.wait(std::vector<SemaphoreWait>()); }).what(),
               ContainsSubstring("wait_semaphore at ") && ContainsSubstring("a list of 0 semaphores"));
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("the body of a conditional takes no semaphores", "[semaphore]") {
    const cudaExternalSemaphore_t any = nullptr;
    const auto check = [](auto&& add, const char* text) {
        GraphBuilder b;
        const auto condition = b.condition(1);
        const auto error =
            refused<GraphError>([&] { b.if_(condition, [&](GraphBuilder& body) { add(body); }).label("when"); });
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK_THAT(error.what(), ContainsSubstring(text));
        b.if_(condition, [](GraphBuilder&) {});
        CHECK(std::move(b).build().node_count() == 1);
    };
    check([&](GraphBuilder& body) { body.signal({any, 1}); }, "CUDA allows no signal_semaphore node in the body of");
    check([&](GraphBuilder& body) { body.wait({any, 1}); }, "CUDA allows no wait_semaphore node in the body of");
}
