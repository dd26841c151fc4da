// Nodes that signal and wait: the CPU runtime imports any file, so that a test can be the other side.
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <optional>
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
using cudag::SemaphoreWaitNode;
using cudag::SignalNode;
using cudag::Stream;
using cudag::UpdateError;

namespace {

/// A timeline, and the other side's import of it.
struct Timeline {
    int fd = memfd_create("timeline", MFD_CLOEXEC);
    int other_fd = dup(fd);
    ExternalSemaphore ours = ExternalSemaphore::import_timeline(fd);
    ExternalSemaphore theirs = ExternalSemaphore::import_timeline(other_fd);

    [[nodiscard]] std::uint64_t value() const { return cudart_cpu::external_semaphore_value(theirs.get()); }
    void signal(std::uint64_t value, const Stream& stream) const {
        const cudaExternalSemaphore_t semaphore = theirs.get();
        cudaExternalSemaphoreSignalParams params{};
        params.params.fence.value = value;
        cudag::check(cudaSignalExternalSemaphoresAsync(&semaphore, &params, 1, stream.get()));
    }
};

} // namespace

TEST_CASE("semaphore nodes tell their semaphores and values, also after an update", "[semaphore][values]") {
    const Timeline one;
    const Timeline two;
    GraphBuilder b;
    const SignalNode signal = b.signal({{one.ours, 5}, {two.ours, 6}});
    const SemaphoreWaitNode wait = b.wait(SemaphoreWait{two.ours, 7});
    Graph graph = std::move(b).build();
    REQUIRE(signal.signals().size() == 2);
    CHECK(signal.signals()[0].semaphore.get() == one.ours.get());
    CHECK(signal.signals()[1].semaphore.get() == two.ours.get());
    CHECK(signal.signals()[1].value == 6);
    REQUIRE(wait.waits().size() == 1);
    CHECK(wait.waits()[0].semaphore.get() == two.ours.get());
    CHECK(wait.waits()[0].value == 7);
    graph.update(wait, SemaphoreWait{one.ours, 8});
    CHECK(wait.waits()[0].semaphore.get() == one.ours.get());
    CHECK(wait.waits()[0].value == 8);
}

TEST_CASE("a graph signals a timeline when what comes before has finished", "[semaphore]") {
    const Timeline timeline;
    const auto cell = device({0});
    GraphBuilder b;
    const auto work = b.kernel({}, store, cell, 3);
    const auto signal = b.signal({timeline.ours, 5}).label("tell").after(work);
    const Graph graph = std::move(b).build();
    CHECK(signal.kind() == NodeKind::signal_semaphore);
    CHECK(native_type(signal) == cudaGraphNodeTypeExtSemaphoreSignal);
    CHECK(graph.find("tell").at(0).as<SignalNode>() == signal);
    Exec exec = graph.instantiate();
    CHECK(timeline.value() == 0);
    run(exec, Stream());
    CHECK(timeline.value() == 5);
}

TEST_CASE("a graph waits for a timeline to reach a value", "[semaphore]") {
    const Timeline timeline;
    const auto cell = device({0});
    GraphBuilder b;
    const auto wait = b.wait({timeline.ours, 7}).label("listen");
    b.kernel({}, store, cell, 3).after(wait);
    const Graph graph = std::move(b).build();
    CHECK(native_type(wait) == cudaGraphNodeTypeExtSemaphoreWait);
    CHECK(graph.find("listen").at(0).as<SemaphoreWaitNode>() == wait);
    Exec exec = graph.instantiate();
    const Stream stream;
    const Stream other;
    exec.launch(stream);
    timeline.signal(6, other);
    cudag::check(cudaStreamSynchronize(other.get()));
    CHECK_FALSE(stream.query());
    timeline.signal(7, other);
    stream.synchronize();
    CHECK(read(cell) == std::vector{3});
}

TEST_CASE("a list of semaphores is signalled and waited for as one", "[semaphore]") {
    const Timeline first;
    const Timeline second;
    GraphBuilder b;
    const auto signal = b.signal({{first.ours, 2}, {second.ours, 3}});
    const std::vector<SemaphoreWait> waits{{first.ours, 2}, {second.ours, 3}};
    b.wait(waits).after(signal);
    run(std::move(b));
    CHECK(first.value() == 2);
    CHECK(second.value() == 3);
}

TEST_CASE("a binary semaphore passes a signal on", "[semaphore]") {
    const int fd = memfd_create("binary", MFD_CLOEXEC);
    const ExternalSemaphore semaphore = ExternalSemaphore::import_opaque(fd);
    GraphBuilder b;
    const auto signal = b.signal({semaphore});
    b.wait(SemaphoreWait{semaphore}).after(signal);
    run(std::move(b));
    CHECK(cudart_cpu::external_semaphore_value(semaphore.get()) == 0);
}

TEST_CASE("a shared semaphore lives as long as the graph and its launches", "[semaphore]") {
    auto shared =
        std::make_shared<ExternalSemaphore>(ExternalSemaphore::import_timeline(memfd_create("shared", MFD_CLOEXEC)));
    const std::weak_ptr<ExternalSemaphore> watch = shared;
    const Stream stream;
    {
        GraphBuilder b;
        b.signal({shared, 1});
        shared.reset();
        REQUIRE_FALSE(watch.expired());
        Exec exec = std::move(b).build().instantiate();
        run(exec, stream);
        CHECK(cudart_cpu::external_semaphore_value(watch.lock()->get()) == 1);
    }
    CHECK(released(watch, stream));
}

TEST_CASE("an update gives other semaphores and values", "[semaphore]") {
    const Timeline first;
    const Timeline second;
    GraphBuilder b;
    const auto signal = b.signal({first.ours, 1}).label("tell");
    const auto wait = b.wait({first.ours, 1}).label("listen").after(signal);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.update(signal, {second.ours, 4});
    exec.update(wait, {second.ours, 4});
    const Stream stream;
    run(exec, stream);
    CHECK(first.value() == 0);
    CHECK(second.value() == 4);
    graph.update(signal, SemaphoreSignal{first.ours, 9});
    graph.update(wait, SemaphoreWait{first.ours, 9});
    CHECK(exec.apply(graph) == 2);
    run(exec, stream);
    CHECK(first.value() == 9);
}

TEST_CASE("an update cannot change the number of semaphores", "[semaphore]") {
    const Timeline timeline;
    GraphBuilder b;
    const auto signal = b.signal({timeline.ours, 1}).label("tell");
    const auto wait = b.wait({timeline.ours, 1}).label("listen").after(signal);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const auto check = [&](const char* label, const char* text, auto&& update) {
        const auto error = refused<UpdateError>(update);
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK(error.labels() == Labels{label});
        CHECK_THAT(error.what(), ContainsSubstring(text));
    };
    const char* const counts = "the node has 1 semaphores, the update 2";
    check("tell", counts, [&] { exec.update(signal, {{timeline.ours, 2}, {timeline.ours, 3}}); });
    check("listen", counts, [&] { exec.update(wait, {{timeline.ours, 2}, {timeline.ours, 3}}); });
    check("tell", counts, [&] { graph.update(signal, {{timeline.ours, 2}, {timeline.ours, 3}}); });
    check("tell", "0 semaphores", [&] { exec.update(signal, std::vector<SemaphoreSignal>()); });
    check("tell", "semaphore 0 of 1 is null", [&] { exec.update(signal, {cudaExternalSemaphore_t(), 1}); });
    CHECK(exec.apply(graph) == 0);
    run(exec, Stream());
    CHECK(timeline.value() == 1);
}

TEST_CASE("semaphore nodes of a clone and of an adopted graph are the same", "[semaphore]") {
    const Timeline timeline;
    GraphBuilder b;
    const auto signal = b.signal({timeline.ours, 3});
    b.wait({timeline.ours, 3}).after(signal);
    const Graph graph = std::move(b).build();
    const Graph clone = graph.clone();
    Exec cloned = clone.instantiate();
    run(cloned, Stream());
    CHECK(timeline.value() == 3);

    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, graph.native()));
    const Graph adopted = Graph::adopt(copy);
    Exec exec = adopted.instantiate();
    exec.update(adopted.nodes().at(0).as<SignalNode>(), {timeline.ours, 8});
    run(exec, Stream());
    CHECK(timeline.value() == 8);
}

TEST_CASE("a semaphore that was moved from is refused", "[semaphore]") {
    Timeline timeline;
    const ExternalSemaphore taken = std::move(timeline.ours);
    GraphBuilder b;
    CHECK_THAT(refused<cudag::GraphError>([&] {
                   b.signal({{taken, 1}, {timeline.ours, 1}});
               }).what(),
               ContainsSubstring("semaphore 1 of 2 is null or was moved from"));
}

TEST_CASE("imported semaphores are given back", "[semaphore]") {
    const std::size_t before = cudart_cpu::live().external_semaphores;
    {
        std::optional<Timeline> timeline(std::in_place);
        CHECK(cudart_cpu::live().external_semaphores == before + 2);
        ExternalSemaphore moved = std::move(timeline->ours);
        timeline.reset();
        CHECK(cudart_cpu::live().external_semaphores == before + 1);
    }
    CHECK(cudart_cpu::live().external_semaphores == before);
}

TEST_CASE("captured signals and waits are read with their semaphores and values", "[semaphore]") {
    const Timeline first;
    const Timeline second;
    const Stream stream;
    const auto captured = [&](bool signals, const std::vector<std::pair<const Timeline*, std::uint64_t>>& list) {
        return cudag::capture(stream, [&](cudaStream_t s) {
            std::vector<cudaExternalSemaphore_t> semaphores;
            std::vector<cudaExternalSemaphoreSignalParams> signalled(list.size());
            std::vector<cudaExternalSemaphoreWaitParams> awaited(list.size());
            for (std::size_t i = 0; i < list.size(); ++i) {
                semaphores.push_back(list[i].first->ours.get());
                signalled[i].params.fence.value = awaited[i].params.fence.value = list[i].second;
            }
            const auto count = static_cast<unsigned>(list.size());
            cudag::check(signals ? cudaSignalExternalSemaphoresAsync(semaphores.data(), signalled.data(), count, s)
                                 : cudaWaitExternalSemaphoresAsync(semaphores.data(), awaited.data(), count, s));
        });
    };
    for (const bool signals : {true, false}) {
        CAPTURE(signals);
        const Graph before = captured(signals, {{&first, 3}, {&second, 4}});
        CHECK(diff(before, captured(signals, {{&first, 3}, {&second, 4}})).empty());
        const auto values = diff(before, captured(signals, {{&first, 3}, {&second, 5}}));
        REQUIRE(values.size() == 1);
        CHECK_THAT(to_string(values[0]), ContainsSubstring("value: 4 -> 5"));
        const auto semaphores = diff(before, captured(signals, {{&second, 3}, {&second, 4}}));
        REQUIRE(semaphores.size() == 1);
        CHECK(semaphores[0].field == "semaphore");
    }
}
