// docs/compose.md: graphs that CUDA cannot clone, written again.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <utility>
#include <vector>

namespace pages {

void compose() {
    constexpr int n = 1 << 10;
    const cudag::LaunchConfig config = cudag::grid_1d(n, 256);
    const cudag::Stream stream;
    std::vector<float> host(1);
    cudag::DeviceBuffer<float> x(n), value(1);
    const auto read = [&](const cudag::DeviceBuffer<float>& from) {
        cudag::memcpy_async(stream, host, from.span().first(1));
        stream.synchronize();
        return host[0];
    };
    // original begins
    cudag::GraphBuilder part;
    auto again = part.condition(1);
    auto start = part.memset(value, 8.0f);
    part.while_(again, [&](cudag::GraphBuilder& body) { body.kernel({}, halve, 1.0f, value, again).label("halve"); })
        .label("loop")
        .after(start);
    cudag::Graph halving = std::move(part).build();
    // original ends
    // second begins
    cudag::Exec one = halving.instantiate();
    cudag::Exec two = halving.instantiate(); // of a copy, since CUDA refuses a second one
    two.update(halving.find_one(halve), cudag::arg<0>(4.0f));
    one.launch(stream); // value = 1
    two.launch(stream); // value = 4
    // second ends
    expect(read(value), 4, "value");
    // inlined begins
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f);
    auto loop = b.inline_graph(halving).after(ones); // with a condition of its own
    auto scaled = b.kernel(config, scale, n, 3.0f, x).after(loop.tails());
    auto step = loop.counterpart(halving.find_one(halve)); // in the body of the new loop
    // inlined ends
    static_cast<void>(scaled);
    expect(step.label() == "halve" ? 1 : 0, 1, "step");
    cudag::Exec all = std::move(b).build().instantiate();
    all.launch(stream);
    expect(read(x), 3, "x");
    expect(read(value), 1, "value");
    // captured begins
    cudag::Exec halved = halving.clone().instantiate();
    cudag::Graph graph = cudag::capture(stream, [&](cudaStream_t s) {
        cudag::memset_async(s, x, 3.0f);
        halved.launch(s); // writes its nodes into `graph`
        cudag::launch(s, {}, scale, 1, 5.0f, value);
    });
    // captured ends
    cudag::Exec captured = graph.instantiate();
    captured.launch(stream);
    expect(read(value), 5, "captured value");
    // memory begins
    cudag::GraphBuilder adding;
    auto scratch = adding.alloc<float>(n).label("scratch");
    auto twos = adding.memset(scratch.span(), 2.0f).after(scratch);
    auto sum = adding.kernel(config, add, n, scratch.span(), x, x).after(twos);
    adding.free(scratch).after(sum);
    cudag::Graph plus_two = std::move(adding).build();

    cudag::GraphBuilder twice;
    auto first = twice.inline_graph(plus_two); // each with memory of its own
    twice.inline_graph(plus_two).after(first.tails());
    auto its_scratch = first.counterpart(scratch); // its_scratch.span() is not scratch.span()
    // memory ends
    expect(its_scratch.span().data() != scratch.span().data() ? 1 : 0, 1, "other memory");
    cudag::Exec plus_four = std::move(twice).build().instantiate();
    plus_four.launch(stream);
    expect(read(x), 7, "x");
}

} // namespace pages
