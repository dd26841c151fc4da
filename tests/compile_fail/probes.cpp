// Probes: checks, memory, bounds.
#include <cudag/probe.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

void probes(cudag::GraphBuilder& builder, cudag::DeviceBuffer<float>& x, [[maybe_unused]] cudag::Graph& graph,
            cudag::Exec& exec) {
    const cudag::Probe probe = cudag::probe(builder, x, cudag::no_nan);
    probe.after(builder.memset(x, 1.0f)).label("x").disable(exec);
#if CUDAG_MISTAKE == 1 // expect-error: cudag: a probe calls check(std::span<const Element>)
    cudag::probe(builder, x, [](std::span<const int>) {});
#elif CUDAG_MISTAKE == 2  // expect-error: cudag: a probe calls check(std::span<const Element>)
    cudag::probe(builder, x, [](std::span<float>) {});
#elif CUDAG_MISTAKE == 3  // expect-error: cudag: a probe calls check(std::span<const Element>)
    cudag::probe(builder, x, "no_nan");
#elif CUDAG_MISTAKE == 4  // expect-error: cudag: a probe's check returns nothing, bool or std::optional
    cudag::probe(builder, x, [](std::span<const float>) { return "no"; });
#elif CUDAG_MISTAKE == 5  // expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer
    cudag::probe(builder, x.data(), cudag::no_nan);
#elif CUDAG_MISTAKE == 6  // expect-error: cudag: a temporary host range is gone when the graph runs
    cudag::probe(builder, std::vector<float>(3), cudag::no_nan);
#elif CUDAG_MISTAKE == 7  // expect-error: cudag: probe(builder, memory, check
    cudag::probe(graph, x, cudag::no_nan);
#elif CUDAG_MISTAKE == 8  // expect-error: cudag: a probe needs trivially copyable elements
    std::vector<std::string> texts;
    cudag::probe(builder, texts, [](std::span<const std::string>) {});
#elif CUDAG_MISTAKE == 9  // expect-error: cudag: in_range(low, high) takes two numbers of one type
    static_cast<void>(cudag::in_range(0, 1.0));
#elif CUDAG_MISTAKE == 10 // expect-error: cudag: checksum(receiver) calls receiver(std::uint64_t)
    static_cast<void>(cudag::checksum([](std::string) {}));
#elif CUDAG_MISTAKE == 11 // expect-error: cudag: disable(exec) takes an Exec of the probe's graph
    probe.disable(graph);
#endif
}
