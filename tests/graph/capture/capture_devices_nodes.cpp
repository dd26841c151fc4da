// The nodes of captures over two devices: where they are, when they are written again, updated, profiled and drawn.
#include "cuda_version.hpp"
#include "test.hpp"

#include <cudag/profile.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using cudag::check;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::launch;
using cudag::Node;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

bool skipped_on_one_device() {
    int count = 0;
    check(cudaGetDeviceCount(&count));
    if (count >= 2) return false;
    WARN("skipped: it needs two devices, and there is one");
    return true;
}

DeviceBuffer<int> memory_there(int device, std::size_t count) {
    check(cudaSetDevice(device));
    DeviceBuffer<int> memory(count);
    check(cudaMemset(memory.data(), 0, memory.size_bytes()));
    check(cudaDeviceSynchronize());
    check(cudaSetDevice(0));
    return memory;
}

/// A stream of device 1, and memory of both.
struct Two {
    explicit Two(std::size_t n = 1) : here(memory_there(0, n)), there(memory_there(1, n)) {
        check(cudaSetDevice(1));
        far.emplace();
        check(cudaSetDevice(0));
    }
    DeviceBuffer<int> here, there;
    Stream stream = {};
    std::optional<Stream> far = {};

    /// "here" and "there" beside each other, and "last" after both.
    [[nodiscard]] Graph captured(int first, int second, bool far_first = false) const {
        return cudag::capture(stream, [&](StreamCapture& c) {
            c.fork(*far);
            const auto near_work = [&] { c.step("here", [&] { launch(stream, {}, store, here, first); }); };
            if (!far_first) near_work();
            c.step("there", [&] { launch(*far, {}, store, there, second); });
            if (far_first) near_work();
            c.join(*far);
            c.step("last", [&] { launch(stream, {}, add, here, here, 100); });
        });
    }
};

std::vector<int> both(const Two& two) {
    return {read(two.here).front(), read(two.there).front()};
}

std::vector<int> devices(const std::vector<Node>& nodes) {
    std::vector<int> list;
    for (const Node& node : nodes)
        list.push_back(node.device().value_or(-1));
    return list;
}

void run_far(Exec& exec, const Two& two) {
    exec.launch(two.stream);
    two.stream.synchronize();
}

} // namespace

TEST_CASE("captured nodes know their devices, and so do their copies", "[capture][device]") {
    if (skipped_on_one_device()) return;
    const Two two;
    const Graph graph = two.captured(1, 2);
    const std::vector expected{0, 1, 0};
    CHECK(devices(graph.nodes()) == expected);
    const auto run_one = [&](const Graph& copy) {
        Exec exec = copy.instantiate();
        run_far(exec, two);
        CHECK(both(two) == std::vector{101, 2});
    };
    run_one(graph);
    SECTION("a clone") {
        const Graph clone = graph.clone();
        CHECK(devices(clone.nodes()) == expected);
        CHECK(diff(graph, clone).empty());
        run_one(clone);
    }
    SECTION("nodes written again, while another device is current") {
        GraphBuilder b;
        check(cudaSetDevice(1));
        const auto part = b.inline_graph(graph);
        check(cudaSetDevice(0));
        CHECK(devices(part.nodes()) == expected);
        run_one(std::move(b).build());
    }
    SECTION("a child") {
        GraphBuilder b;
        const auto child = b.child(graph);
        CHECK(devices(child.graph().nodes()) == expected);
        run_one(std::move(b).build());
    }
    SECTION("a region") {
        GraphBuilder b;
        const auto region = b.capture(two.stream, [&](StreamCapture& c) {
            c.fork(*two.far);
            launch(*two.far, {}, store, two.there, 2);
            launch(two.stream, {}, store, two.here, 101);
            c.join(*two.far);
        });
        CHECK(devices(region.nodes()) == std::vector{1, 0});
        run_one(std::move(b).build());
    }
}

TEST_CASE("fills, copies and memory of captures know their devices", "[capture][device]") {
    if (skipped_on_one_device()) return;
    const Two two(4);
    void* memory = nullptr;
    const Graph graph = cudag::capture(two.stream, [&](StreamCapture& c) {
        c.fork(*two.far);
        c.step("alloc", [&] {
            check(cudaSetDevice(1)); // and stays so for the rest of the capture
            check(cudaMallocAsync(&memory, 4 * sizeof(int), two.far->get()));
        });
        c.step("fill", [&] { cudag::memset_async(*two.far, cudag::DeviceSpan<int>(static_cast<int*>(memory), 4), 7); });
        c.step("copy",
               [&] { cudag::memcpy_async(*two.far, two.there, cudag::DeviceSpan<int>(static_cast<int*>(memory), 4)); });
        c.step("free", [&] { check(cudaFreeAsync(memory, two.far->get())); });
        c.join(*two.far);
        c.step("peer", [&] { cudag::memcpy_async(two.stream, two.here, two.there); });
        c.step("kernel", [&] { launch(two.stream, {}, add, two.here, two.here, 1); });
    });
    check(cudaSetDevice(0));
    for (const char* label : {"alloc", "fill", "copy", "free"})
        CHECK(graph.find_one(label).device().value_or(-1) == 1);
    CHECK(graph.find_one("peer").kind() == cudag::NodeKind::memcpy);
    CHECK(graph.find_one("peer").device().value_or(-1) == 0); // of its destination
    CHECK(graph.find_one("kernel").device().value_or(-1) == 0);
    CHECK(graph.races().empty());
    {
        Exec exec = graph.instantiate();
        for (int i = 0; i < 3; ++i)
            run_far(exec, two);
        CHECK(read(two.here) == std::vector{8, 7, 7, 7});
    }
    const Graph clone = graph.clone(); // writes each node again: CUDA clones no memory nodes
    CHECK(devices(clone.nodes()) == devices(graph.nodes()));
    Exec exec = clone.instantiate();
    run_far(exec, two);
    CHECK(read(two.here) == std::vector{8, 7, 7, 7});
}

TEST_CASE("captured fills and copies of another device are updated", "[capture][update][device]") {
    if (skipped_on_one_device()) return;
    const Two two(2);
    const auto captured = [&](int value) {
        return cudag::capture(two.stream, [&](StreamCapture& c) {
            c.fork(*two.far);
            c.step("fill", [&] { cudag::memset_async(*two.far, two.there, value); });
            c.step("copy", [&] { cudag::memcpy_async(*two.far, two.here, two.there); });
            c.join(*two.far);
        });
    };
    const Graph graph = captured(1);
    Exec exec = graph.instantiate();
    run_far(exec, two);
    CHECK(read(two.here) == std::vector{1, 1});
    exec.update(graph.find_one("fill").as<cudag::MemsetNode>(), two.there.span(), 2);
    run_far(exec, two);
    CHECK(read(two.here) == std::vector{2, 2});
    exec.update(graph.find_one("copy").as<cudag::MemcpyNode>(), two.here.span().subspan(1, 1),
                two.there.span().subspan(0, 1));
    exec.update(graph.find_one("fill").as<cudag::MemsetNode>(), two.there.span(), 3);
    run_far(exec, two);
    CHECK(read(two.here) == std::vector{2, 3});
    CHECK(exec.update(captured(4), {.match = GENERATE(cudag::Match::order, cudag::Match::structure)}).updated());
    run_far(exec, two);
    CHECK(read(two.here) == std::vector{4, 4});
}

TEST_CASE("joins and host nodes are on no device", "[builder][device]") {
    GraphBuilder b;
    const auto host = b.host([] {});
    CHECK(Node(b.join(host)).device().value_or(-1) == -1);
    CHECK(Node(host).device().value_or(-1) == -1);
    CHECK(Node(b.kernel({}, nothing)).device().value_or(-1) == 0);
}

TEST_CASE("a capture over two devices is updated: a node, all of them, and by structure", "[capture][update][device]") {
    if (skipped_on_one_device()) return;
    const Two two;
    const Graph graph = two.captured(1, 2);
    Exec exec = graph.instantiate();
    const auto far_node = graph.find_one("there").as(store);
    exec.update(far_node, two.there, 3);
    run_far(exec, two);
    CHECK(both(two) == std::vector{101, 3});
    CHECK(exec.update(two.captured(4, 5)).updated());
    run_far(exec, two);
    CHECK(both(two) == std::vector{104, 5});
    CHECK(exec.update(two.captured(6, 7, true), {.match = cudag::Match::structure}).updated());
    run_far(exec, two);
    CHECK(both(two) == std::vector{106, 7});
}

TEST_CASE("an update does not move a kernel to another device", "[capture][update][device]") {
    if (skipped_on_one_device()) return;
    const Two two;
    Exec exec = cudag::capture(two.stream, [&](StreamCapture& c) {
                    c.fork(*two.far);
                    launch(*two.far, {}, store, two.there, 2);
                    c.join(*two.far);
                    launch(two.stream, {}, store, two.here, 1);
                }).instantiate();
    const Graph moved = cudag::capture(two.stream, [&](cudaStream_t) {
        launch(two.stream, {}, store, two.here, 3);
        launch(two.stream, {}, store, two.here, 4);
    });
    const auto match = GENERATE(cudag::Match::order, cudag::Match::structure);
    const cudag::UpdateReport report = exec.update(moved, {.match = match});
    CHECK_FALSE(report.updated());
    CHECK_THAT(to_string(report), ContainsSubstring("kernel: store -> store of another device, context or library"));
    run_far(exec, two);
    CHECK(both(two) == std::vector{1, 2});
}

TEST_CASE("races, profiles and pictures show both devices", "[capture][profile][device]") {
    if (skipped_on_one_device()) return;
    const Two two;
    const Graph raced = cudag::capture(two.stream, [&](StreamCapture& c) {
        c.fork(*two.far);
        c.step("here", [&] { launch(two.stream, {}, store, two.here, 1); });
        c.step("there", [&] { launch(*two.far, {}, store, two.here, 2); });
        c.join(*two.far);
    });
    REQUIRE(raced.races().size() == 1);
    CHECK(raced.races()[0].second.device().value_or(-1) != raced.races()[0].first.device().value_or(-1));

    const Graph graph = two.captured(1, 2);
    const std::string dot = graph.dot({.color = cudag::DotColor::device});
    std::vector<std::string> colors;
    for (std::size_t at = dot.find("fillcolor="); at != std::string::npos; at = dot.find("fillcolor=", at + 1))
        colors.push_back(dot.substr(at, dot.find(']', at) - at).substr(0, 20));
    REQUIRE(colors.size() == 3);
    CHECK(colors[0] == colors[2]);
    CHECK(colors[0] != colors[1]);

    Exec exec = graph.instantiate();
    const cudag::Profile profile = cudag::profile(exec, two.stream, {.launches = 3});
    const std::string table = to_string(profile);
    CHECK(profile.find("here")->device == 0);
    CHECK(profile.find("there")->device == 1);
    CHECK_THAT(table, ContainsSubstring("device 0 is busy for ") && ContainsSubstring("device 1 is busy for ") &&
                          ContainsSubstring("lane device  node"));
    const std::string trace = profile.chrome_trace();
    CHECK_THAT(trace, ContainsSubstring("\"name\": \"device 1\"") && ContainsSubstring("{\"pid\": 2, \"ph\": \"X\""));
    CHECK_THAT(profile.dot(), ContainsSubstring("us\\ndevice 1"));
}

TEST_CASE("the profile of one device names none", "[profile][device]") {
    GraphBuilder b;
    b.kernel({}, nothing).label("only");
    Exec exec = std::move(b).build().instantiate();
    const cudag::Profile profile = cudag::profile(exec, Stream(), {.launches = 1});
    CHECK(profile.find("only")->device == 0);
    CHECK_THAT(to_string(profile), !ContainsSubstring("device 0") && !ContainsSubstring("lane device"));
    CHECK_THAT(profile.chrome_trace(), !ContainsSubstring("device 0") && !ContainsSubstring("\"pid\": 1"));
    CHECK_THAT(profile.dot(), !ContainsSubstring("device 0"));
}
