// Branches of a graph in green contexts stay on the multiprocessors of their parts.
#include "green_kernels.hpp"
#include "green_nodes.hpp"

#include <algorithm>
#include <utility>

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GreenContext;
using cudag::Stream;

namespace {

constexpr std::size_t most = 1024;
const cudag::LaunchConfig many_blocks_each{.grid = 4096, .block = 256};

/// The multiprocessors that have run blocks since `seen` was cleared.
std::size_t used(const DeviceBuffer<int>& seen) {
    const std::vector<int> cells = read(seen);
    return static_cast<std::size_t>(std::ranges::count(cells, 1));
}
void clear(const DeviceBuffer<int>& seen) {
    write(seen.span(), std::vector<int>(seen.size()));
}
/// Those in both.
std::size_t shared(const DeviceBuffer<int>& a, const DeviceBuffer<int>& b) {
    const std::vector<int> first = read(a), second = read(b);
    std::size_t found = 0;
    for (std::size_t i = 0; i < first.size(); ++i)
        if (first[i] != 0 && second[i] != 0) ++found;
    return found;
}

} // namespace

TEST_CASE("branches of a graph stay on their multiprocessors", "[green]") {
    if (!has_green_contexts()) return;
    const auto parts = GreenContext::split({16, 24, GreenContext::rest});
    const DeviceBuffer<int> seen[] = {DeviceBuffer<int>(most), DeviceBuffer<int>(most), DeviceBuffer<int>(most)};
    const DeviceBuffer<int> whole(most);
    GraphBuilder b;
    std::vector<cudag::Node> branches;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        auto first = b.on(parts[i]).kernel(many_blocks_each, mark_multiprocessor, seen[i].data());
        branches.push_back(b.on(parts[i]).kernel(many_blocks_each, mark_multiprocessor, seen[i].data()).after(first));
    }
    auto last = b.kernel(many_blocks_each, mark_multiprocessor, whole.data());
    for (const cudag::Node& branch : branches)
        last.after(branch);
    const Graph graph = std::move(b).build();
    const Stream plain, green(parts[1]);
    const auto check = [&](Exec& exec, const Stream& stream) {
        for (const DeviceBuffer<int>& each : seen)
            clear(each);
        clear(whole);
        run(exec, stream);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            CAPTURE(i);
            CHECK(used(seen[i]) == parts[i].multiprocessors());
            for (std::size_t j = 0; j < i; ++j)
                CHECK(shared(seen[i], seen[j]) == 0);
        }
        CHECK(used(whole) > parts[2].multiprocessors());
    };
    Exec exec = graph.instantiate();
    check(exec, plain);
    check(exec, green); // the stream of a launch does not matter
    Exec clone = graph.clone().instantiate();
    check(clone, plain);
    CHECK(exec.update(graph.clone()).updated());
    check(exec, plain);
    GraphBuilder around;
    around.inline_graph(graph);
    Exec inlined = std::move(around).build().instantiate();
    check(inlined, plain);
}

TEST_CASE("the body of a conditional stays on its multiprocessors", "[green]") {
    if (!has_green_contexts()) return;
    const GreenContext part(16);
    const DeviceBuffer<int> seen(most);
    clear(seen);
    GraphBuilder b;
    GraphBuilder on_part = b.on(part);
    const auto condition = on_part.condition(1U);
    on_part.if_(condition, [&](GraphBuilder& body) {
        auto first = body.kernel(many_blocks_each, mark_multiprocessor, seen.data());
        body.kernel(many_blocks_each, mark_multiprocessor, seen.data()).after(first);
    });
    Exec exec = std::move(b).build().instantiate();
    run(exec, Stream());
    CHECK(used(seen) == part.multiprocessors());
}

TEST_CASE("streams of a green context run on its multiprocessors", "[green]") {
    if (!has_green_contexts()) return;
    const GreenContext part(16);
    const Stream stream(part);
    const DeviceBuffer<int> seen(most);
    clear(seen);
    cudag::launch(stream, many_blocks_each, mark_multiprocessor, seen.data());
    stream.synchronize();
    CHECK(used(seen) == part.multiprocessors());
    const Graph graph = cudag::capture(
        stream, [&](cudaStream_t s) { cudag::launch(s, many_blocks_each, mark_multiprocessor, seen.data()); });
    clear(seen);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(used(seen) == part.multiprocessors());
}
