// Captured kernels that may start early: edges that say what they wait for.
#include <array>
#include <type_traits>

#include "test.hpp"
#include "waiting_kernels.hpp"

using cudag::capture;
using cudag::check;
using cudag::Edge;
using cudag::EdgeKind;
using cudag::Event;
using cudag::Graph;
using cudag::launch;
using cudag::Stream;

namespace {

/// A launch with a programmatic attribute by CUDA's own function.
template <class... P>
void launch_with(cudaStream_t stream, cudaLaunchAttribute attribute, void (*kernel)(P...),
                 std::type_identity_t<P>... arguments) {
    std::array<void*, sizeof...(P) + 1> values{&arguments...};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(1);
    config.blockDim = dim3(1);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    check(cudaLaunchKernelExC(&config, cudag::detail::kernel_symbol(kernel), values.data()));
}

/// The kernel need not wait for the end of the one before it in the stream.
cudaLaunchAttribute may_start_early() {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    return attribute;
}

/// The event is reached when all blocks have triggered it, or when all have started.
cudaLaunchAttribute triggers(const Event& event, bool at_start) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = event.get();
    attribute.val.programmaticEvent.triggerAtBlockStart = at_start ? 1 : 0;
    return attribute;
}

cudaLaunchAttribute tells_its_start(const Event& event) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent.event = event.get();
    return attribute;
}

void wait(const Stream& stream, const Event& event) {
    check(cudaStreamWaitEvent(stream.get(), event.get()));
}

/// `first`, which `attribute` is given to, then a kernel in another stream that waits for `event`.
Graph captured_with_event(const Event& event, const cudaLaunchAttribute& attribute) {
    const Stream stream;
    const Stream side;
    return capture(stream, [&](cudag::StreamCapture& c) {
        launch_with(c.stream(), attribute, nothing);
        wait(side, event);
        launch(side, {}, nothing);
        launch(c.stream(), {}, nothing);
        c.join(side);
    });
}

} // namespace

TEST_CASE("a captured kernel that may start early has a programmatic edge from a kernel", "[capture][edges]") {
    const auto cells = device({0, 0, 0});
    int* const p = cells.data();
    const Stream stream;
    const auto work = [&](int value) {
        return capture(stream, [&](cudaStream_t s) {
            launch(s, {}, store, p, value);
            launch_with(s, may_start_early(), wait_and_add, p + 1, p, 10);
            memset_async(s, cudag::DeviceSpan<int>(p + 2, 1), 7);
            launch_with(s, may_start_early(), add, p + 2, p + 2, 100);
        });
    };
    const Graph graph = work(1);
    const auto nodes = graph.nodes();
    REQUIRE(nodes.size() == 4);
    CHECK(graph.edges() == std::vector<Edge>{{nodes[0], nodes[1], EdgeKind::programmatic},
                                             {nodes[1], nodes[2], EdgeKind::full},
                                             {nodes[2], nodes[3], EdgeKind::full}});
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, 11, 107});
    exec.update(graph.find(store).at(0), cudag::arg<1>(2));
    exec.update(graph.find(wait_and_add).at(0), cudag::arg<2>(20));
    run(exec, stream);
    CHECK(read(cells) == std::vector{2, 22, 107});
    CHECK(exec.update(work(3)).updated());
    run(exec, stream);
    CHECK(read(cells) == std::vector{3, 13, 107});
}

TEST_CASE("a captured wait for a kernel's trigger is a programmatic edge", "[capture][edges]") {
    const Event event({.timing = false});
    const Graph graph = captured_with_event(event, triggers(event, false));
    const auto nodes = graph.nodes();
    CHECK(graph.edges() == std::vector<Edge>{{nodes[0], nodes[1], EdgeKind::programmatic}, {nodes[0], nodes[2]}});
    cudag::Exec exec = graph.instantiate();
    run(exec, Stream());
}

TEST_CASE("a captured wait for a kernel's start is an edge of launch completion", "[capture][edges]") {
    const Event event({.timing = false});
    const bool by_trigger = GENERATE(true, false);
    const Graph graph = captured_with_event(event, by_trigger ? triggers(event, true) : tells_its_start(event));
    const auto nodes = graph.nodes();
    CHECK(graph.edges() == std::vector<Edge>{{nodes[0], nodes[1], EdgeKind::launch_completion}, {nodes[0], nodes[2]}});
    cudag::Exec exec = graph.instantiate();
    run(exec, Stream());
}

TEST_CASE("a clone of a captured graph has the kinds of its edges", "[capture][edges]") {
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {}, nothing);
        launch_with(s, may_start_early(), nothing);
    });
    const Graph clone = graph.clone();
    const auto nodes = clone.nodes();
    CHECK(clone.edges() == std::vector<Edge>{{nodes[0], nodes[1], EdgeKind::programmatic}});
    CHECK(cudag::diff(graph, clone).empty());
    CHECK_THAT(clone.dot(), ContainsSubstring("programmatic"));
}

TEST_CASE("captures that differ in the kind of an edge differ in it alone", "[capture][edges]") {
    const Stream stream;
    const auto work = [&](bool early) {
        return capture(stream, [&](cudaStream_t s) {
            launch(s, {}, nothing);
            if (early)
                launch_with(s, may_start_early(), nothing);
            else
                launch(s, {}, nothing);
        });
    };
    const auto differences = cudag::diff(work(false), work(true));
    REQUIRE(differences.size() == 2);
    for (const cudag::Difference& difference : differences) {
        CHECK(difference.kind == cudag::DifferenceKind::edge);
        CHECK(difference.needs_instantiate);
    }
    CHECK_THAT(cudag::to_string(differences.back()),
               ContainsSubstring("programmatic edge from") && ContainsSubstring("missing -> there"));
}
