// Parts of a device by green contexts: the limits of splits, and what graphs do on their parts.
#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "green_nodes.hpp"

#include <cudag/graph_text.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using cudag::DeviceBuffer;
using cudag::diff;
using cudag::Error;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GreenContext;
using cudag::Stream;

namespace {

constexpr unsigned least = 8; // groups of multiprocessors have no more

unsigned all_of_device() {
    int count = 0;
    cudag::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
    return static_cast<unsigned>(count);
}

/// Returns the most multiprocessors that one part can have. Devices of one model differ in it, as in the
/// multiprocessors that are beside groups of `size`.
unsigned most_in_groups(unsigned size) {
    unsigned count = all_of_device() / size * size;
    while (count > size) {
        try {
            static_cast<void>(GreenContext::split({count}));
            break;
        } catch (const Error&) {
            count -= size;
        }
    }
    return count;
}

/// Three layers of fills, each after all of the layer before, in turn on both parts.
void add_layers(GraphBuilder& first, GraphBuilder& second, const DeviceBuffer<int>& cells) {
    std::vector<cudag::Node> before;
    for (int layer = 0; layer < 3; ++layer) {
        std::vector<cudag::Node> now;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            auto node = (i % 2 == 0 ? first : second).memset(cells.span().subspan(i, 1), layer);
            for (const cudag::Node& each : before)
                node.after(each);
            now.push_back(node);
        }
        before = std::move(now);
    }
}

} // namespace

TEST_CASE("a split takes all groups of a device, and the rest what is left beside them", "[green]") {
    if (!has_green_contexts()) return;
    const unsigned all = all_of_device();
    const auto one = GreenContext::split({1});
    const unsigned size = one[0].multiprocessors();
    const unsigned in_groups = most_in_groups(size);
#ifdef CUDART_CPU
    CHECK(in_groups == all / size * size);
#endif
    const auto whole = GreenContext::split({in_groups});
    REQUIRE(whole.size() == 1);
    CHECK(whole[0].multiprocessors() == in_groups);
    const auto two = GreenContext::split({in_groups - size, size});
    CHECK(two[0].multiprocessors() == in_groups - size);
    CHECK(two[1].multiprocessors() == size);
    const auto with_rest = [&] { return GreenContext::split({in_groups, GreenContext::rest}); };
    if (in_groups == all)
        CHECK_THAT(refused<Error>([&] { static_cast<void>(with_rest()); }).what(),
                   ContainsSubstring("which leaves none for the rest"));
    else
        CHECK(with_rest()[1].multiprocessors() == all - in_groups);
}

TEST_CASE("a stream of a green context has its priority", "[green]") {
    if (!has_green_contexts()) return;
    int least_urgent = 0, most_urgent = 0;
    cudag::check(cudaDeviceGetStreamPriorityRange(&least_urgent, &most_urgent));
    const GreenContext part(least);
    for (const int priority : {least_urgent, most_urgent}) {
        const Stream stream(part, priority);
        int found = 99;
        cudag::check(cudaStreamGetPriority(stream.get(), &found));
        CHECK(found == priority);
    }
}

TEST_CASE("a view inside a body leaves the body on its green context", "[green]") {
    if (!has_green_contexts()) return;
    const GreenContext part(least);
    const DeviceBuffer<int> cells(2);
    write(cells.span(), {0, 0});
    GraphBuilder b;
    GraphBuilder on_part = b.on(part);
    on_part.if_(on_part.condition(1U), [&](GraphBuilder& body) {
        body.on(part).kernel({}, store, cells.data(), 1);
        const auto own = body.kernel({}, store, cells.data() + 1, 2);
        CHECK_THAT(to_string(own), ContainsSubstring("on green context"));
    });
    run(std::move(b));
    CHECK(read(cells) == std::vector{1, 2});
}

TEST_CASE("the plan joins layers of fills on parts of one device, also with a recorder", "[green]") {
    if (!has_green_contexts()) return;
    const auto parts = GreenContext::split({least, GreenContext::rest});
    const DeviceBuffer<int> cells(32);
    GraphBuilder b;
    GraphBuilder first = b.on(parts[0]), second = b.on(parts[1]);
    add_layers(first, second, cells);
    const Graph graph = std::move(b).build();
    GraphBuilder plain;
    add_layers(plain, plain, cells);
    const std::size_t kernels = std::move(plain).build().instantiate().plan().kernels();
    for (const bool recorder : {false, true}) {
        Exec exec = graph.instantiate({.recorder = recorder});
        CHECK(exec.plan().kernels() == kernels); // one device
        write(cells.span(), std::vector<int>(cells.size()));
        run(exec, Stream());
        CHECK(read(cells) == std::vector<int>(32, 2));
    }
}

TEST_CASE("the plan and the recorder add to a body on a green context", "[green]") {
    if (!has_green_contexts() || older_than(12080)) return;
    const GreenContext part(least);
    const DeviceBuffer<int> cells(32);
    GraphBuilder b;
    GraphBuilder on_part = b.on(part);
    on_part.if_(on_part.condition(1U), [&](GraphBuilder& body) { add_layers(body, body, cells); });
    const Graph graph = std::move(b).build();
    {
        Exec exec = graph.instantiate();
        run(exec, Stream());
        CHECK(read(cells) == std::vector<int>(32, 2));
    }
    write(cells.span(), std::vector<int>(cells.size()));
    Exec recorded = graph.instantiate({.recorder = true});
    run(recorded, Stream());
    CHECK(read(cells) == std::vector<int>(32, 2));
}

TEST_CASE("an inlined fill takes the context of the view, also in updates", "[green]") {
    if (!has_green_contexts()) return;
    const GreenContext part(least);
    const DeviceBuffer<int> cells(4);
    GraphBuilder plain;
    const auto fill = plain.memset(cells, 1).label("fill");
    const Graph graph = std::move(plain).build();
    GraphBuilder b;
    const auto inlined = b.on(part).inline_graph(graph);
    const auto copy = inlined.counterpart(fill);
    CHECK_THAT(to_string(copy), ContainsSubstring("on green context"));
    Graph outer = std::move(b).build();
    Exec exec = outer.instantiate();
    exec.update(copy, cells, 2);
    run(exec, Stream());
    CHECK(read(cells) == std::vector<int>(4, 2));
    outer.update(copy, cells, 3);
    CHECK(exec.apply(outer) == 1);
    run(exec, Stream());
    CHECK(read(cells) == std::vector<int>(4, 3));
}

TEST_CASE("an update of a fill leaves the caller its context", "[green]") {
    if (!has_green_contexts()) return;
    const GreenContext part(least);
    const DeviceBuffer<int> cells(4);
    const auto current = [] {
        CUcontext context = nullptr;
        const auto get = reinterpret_cast<CUresult(CUDAAPI*)(CUcontext*)>(driver_function("cuCtxGetCurrent", 12000));
        CHECK(get(&context) == CUDA_SUCCESS);
        return context;
    };
    GraphBuilder b;
    const auto fill = b.on(part).memset(cells, 1);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const CUcontext before = current();
    CHECK(before != part.get());
    exec.update(fill, cells, 2);
    CHECK(current() == before);
    graph.update(fill, cells, 3);
    CHECK(current() == before);
    exec.disable(fill);
    CHECK(current() == before);
    exec.enable(fill);
    CHECK(current() == before);
    const Exec recorded = graph.instantiate({.recorder = true});
    CHECK(current() == before);
}

TEST_CASE("diff tells a fill of the device from one of a green context, both ways", "[green]") {
    if (!has_green_contexts()) return;
    const GreenContext part(least);
    const DeviceBuffer<int> cells(4);
    GraphBuilder a, b;
    a.memset(cells, 1).label("fill");
    b.on(part).memset(cells, 1).label("fill");
    const Graph plain = std::move(a).build(), green = std::move(b).build();
    for (const auto& differences : {diff(plain, green), diff(green, plain)}) {
        REQUIRE(differences.size() == 1);
        CHECK(differences[0].field == "context");
    }
}

TEST_CASE("texts and pictures tell fills and conditions of green contexts", "[green]") {
    if (!has_green_contexts()) return;
    const auto parts = GreenContext::split({least, GreenContext::rest});
    const DeviceBuffer<int> cells(2);
    GraphBuilder b;
    GraphBuilder first = b.on(parts[0]), second = b.on(parts[1]);
    const auto fill = first.memset(cells.span().first(1), 1).label("one");
    second.memset(cells.span().last(1), 1).label("two");
    first.if_(first.condition(1U), [&](GraphBuilder& body) { body.memset(cells.span().first(1), 2); }).after(fill);
    const Graph graph = std::move(b).build();
    const std::string text = to_text(graph, names_of(graph));
    CHECK_THAT(text, ContainsSubstring("context: its own") && !ContainsSubstring("device -"));
    const std::string one = to_string(graph.find_one("one")), two = to_string(graph.find_one("two"));
    CHECK_THAT(one, ContainsSubstring("(8 multiprocessors)"));
    CHECK_THAT(two, ContainsSubstring("(" + std::to_string(parts[1].multiprocessors()) + " multiprocessors)"));
    CHECK_THAT(one, !ContainsSubstring("green context 0") && !ContainsSubstring("green context -"));
    const std::string picture = graph.dot({.color = cudag::DotColor::device});
    const auto color_of = [&](const std::string& label) {
        const std::size_t line = picture.find(label);
        REQUIRE(line != std::string::npos);
        return picture.substr(picture.find("fillcolor=", line), 19);
    };
    CHECK(color_of("one") != color_of("two"));
}
