// What nodes with semaphores keep alive, what they refuse, and updates of whole graphs that have them.
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include <cudart_cpu/control.hpp>

#include "native.hpp"
#include "watched.hpp"

using cudag::Exec;
using cudag::ExternalSemaphore;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::NodeKind;
using cudag::SemaphoreSignal;
using cudag::SemaphoreWait;
using cudag::Stream;

namespace {

int new_file() {
    const int fd = memfd_create("timeline", MFD_CLOEXEC);
    REQUIRE(fd >= 0);
    return fd;
}

ExternalSemaphore new_timeline() {
    return ExternalSemaphore::import_timeline(new_file());
}

std::uint64_t value_of(const ExternalSemaphore& semaphore) {
    return cudart_cpu::external_semaphore_value(semaphore.get());
}

Graph signalling(const std::vector<SemaphoreSignal>& signals) {
    GraphBuilder b;
    b.signal(signals).label("tell");
    return std::move(b).build();
}

} // namespace

TEST_CASE("a descriptor that CUDA does not import stays the caller's", "[semaphore]") {
    const int fd = new_file();
    cudart_cpu::fail_call(1, cudaErrorOperatingSystem);
    const auto error = refused<cudag::Error>([&] { static_cast<void>(ExternalSemaphore::import_timeline(fd)); });
    CHECK(error.code() == cuda_code(cudaErrorOperatingSystem));
    CHECK_THAT(error.what(), ContainsSubstring("from file descriptor " + std::to_string(fd)));
    CHECK(close(fd) == 0);
}

TEST_CASE("an imported descriptor belongs to CUDA", "[semaphore]") {
    const int fd = new_file();
    { const ExternalSemaphore semaphore = ExternalSemaphore::import_opaque(fd); }
    CHECK(close(fd) == -1);
}

TEST_CASE("semaphores and events are waited for by nodes of their own", "[semaphore]") {
    const ExternalSemaphore timeline = new_timeline();
    const cudag::Event event;
    const std::vector<SemaphoreWait> waits{{timeline, 1}};
    GraphBuilder b;
    CHECK(b.wait(event).kind() == NodeKind::wait_event);
    CHECK(b.wait(event.get()).kind() == NodeKind::wait_event);
    CHECK(b.wait({timeline, 1}).kind() == NodeKind::wait_semaphore);
    CHECK(b.wait(waits).kind() == NodeKind::wait_semaphore);
    CHECK(b.wait(waits.front()).kind() == NodeKind::wait_semaphore);
    CHECK(b.wait({waits.front(), waits.front()}).kind() == NodeKind::wait_semaphore);
}

TEST_CASE("an update keeps a shared semaphore until the next", "[semaphore]") {
    const ExternalSemaphore first = new_timeline();
    auto shared = std::make_shared<ExternalSemaphore>(new_timeline());
    const std::weak_ptr<ExternalSemaphore> watch = shared;
    GraphBuilder b;
    const auto signal = b.signal({{first, 1}, {first, 2}});
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    exec.update(signal, {{first, 3}, {shared, 1}});
    shared.reset();
    run(exec, stream);
    REQUIRE_FALSE(watch.expired());
    CHECK(value_of(*watch.lock()) == 1);
    exec.update(signal, {{first, 4}, {first, 5}});
    CHECK(released(watch, stream));
}

TEST_CASE("a refused update keeps the semaphores of before", "[semaphore]") {
    const ExternalSemaphore first = new_timeline();
    const ExternalSemaphore second = new_timeline();
    auto shared = std::make_shared<ExternalSemaphore>(new_timeline());
    const std::weak_ptr<ExternalSemaphore> watch = shared;
    GraphBuilder b;
    const auto signal = b.signal({{first, 1}, {second, 2}});
    Exec exec = std::move(b).build().instantiate();
    static_cast<void>(refused<cudag::UpdateError>([&] { exec.update(signal, {shared, 9}); }));
    static_cast<void>(refused<cudag::UpdateError>([&] {
        exec.update(signal, {{shared, 9}, {cudaExternalSemaphore_t(), 9}});
    }));
    shared.reset();
    CHECK(watch.expired());
    run(exec, Stream());
    CHECK(value_of(first) == 1);
    CHECK(value_of(second) == 2);
}

TEST_CASE("the update of a whole graph gives other semaphores", "[semaphore]") {
    const ExternalSemaphore first = new_timeline();
    const ExternalSemaphore second = new_timeline();
    const Graph graph = signalling({{first, 1}, {first, 2}});
    Exec exec = graph.instantiate();
    CHECK(exec.update(signalling({{first, 3}, {second, 4}})).updated());
    run(exec, Stream());
    CHECK(value_of(first) == 3);
    CHECK(value_of(second) == 4);
}

TEST_CASE("the update of a whole graph keeps the number of semaphores", "[semaphore]") {
    const ExternalSemaphore first = new_timeline();
    const ExternalSemaphore second = new_timeline();
    const Graph graph = signalling({{first, 1}});
    Exec exec = graph.instantiate();
    const cudag::UpdateReport report = exec.update(signalling({{second, 3}, {second, 4}}));
    CHECK_FALSE(report.updated());
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.to_string(), ContainsSubstring("\"tell\"") && ContainsSubstring("number of semaphores"));
    run(exec, Stream());
    CHECK(value_of(first) == 1);
    CHECK(value_of(second) == 0);
}

TEST_CASE("diff names the semaphores and values that differ", "[semaphore]") {
    const ExternalSemaphore first = new_timeline();
    const ExternalSemaphore second = new_timeline();
    const Graph graph = signalling({{first, 1}, {second, 2}});
    CHECK(diff(graph, signalling({{first, 1}, {second, 2}})).empty());
    const auto value = diff(graph, signalling({{first, 1}, {second, 70}}));
    REQUIRE(value.size() == 1);
    CHECK_THAT(to_string(value[0]), ContainsSubstring("value") && ContainsSubstring("2") && ContainsSubstring("70"));
    CHECK_FALSE(value[0].needs_instantiate);
    const auto semaphore = diff(graph, signalling({{second, 1}, {second, 2}}));
    REQUIRE(semaphore.size() == 1);
    CHECK_THAT(to_string(semaphore[0]), ContainsSubstring("semaphore"));
    CHECK_FALSE(semaphore[0].needs_instantiate);
    const auto number = diff(graph, signalling({{first, 1}}));
    REQUIRE(number.size() == 1);
    CHECK_THAT(to_string(number[0]), ContainsSubstring("number of semaphores: 2 -> 1"));
    CHECK(number[0].needs_instantiate);
}

TEST_CASE("a graph with semaphores is not launched by kernels", "[semaphore]") {
    const ExternalSemaphore timeline = new_timeline();
    GraphBuilder b;
    b.kernel({}, nothing);
    b.signal({timeline, 1}).label("tell");
    const Graph graph = std::move(b).build();
    const auto error =
        refused<cudag::InstantiateError>([&] { static_cast<void>(graph.instantiate({.device_launch = true})); });
    CHECK_THAT(error.what(), ContainsSubstring("\"tell\""));
}

TEST_CASE("a node with semaphores cannot be disabled", "[semaphore]") {
    const ExternalSemaphore timeline = new_timeline();
    GraphBuilder b;
    const auto signal = b.signal({timeline, 1}).label("tell");
    Exec exec = std::move(b).build().instantiate();
    const auto error = refused<cudag::UpdateError>([&] { exec.disable(signal); });
    CHECK_THAT(error.what(), ContainsSubstring("\"tell\""));
    run(exec, Stream());
    CHECK(value_of(timeline) == 1);
}

TEST_CASE("semaphores of graphs, clones and updates leave nothing behind", "[semaphore]") {
    const Stream stream;
    const cudart_cpu::LiveCounts before = cudart_cpu::live();
    {
        GraphBuilder b;
        const auto signal = b.signal({std::make_shared<ExternalSemaphore>(new_timeline()), 1});
        const Graph graph = std::move(b).build();
        const Graph clone = graph.clone();
        Exec exec = graph.instantiate();
        exec.update(signal, {std::make_shared<ExternalSemaphore>(new_timeline()), 2});
        run(exec, stream);
    }
    for (int attempt = 0; attempt < 2000 && !(cudart_cpu::live() == before); ++attempt)
        stream.synchronize();
    CHECK(cudart_cpu::live() == before);
}
