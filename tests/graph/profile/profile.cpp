// profile: each node's times by label, in children and bodies too, and as text, trace and durations.
#include <cudag/profile.hpp>
#include <cudag/profile_diff.hpp>

#include "cuda_version.hpp"
#include "json.hpp"
#include "plan_graphs.hpp"
#include "test.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using cudag::CaptureError;
using cudag::DeviceBuffer;
using cudag::Error;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::NodeKind;
using cudag::NodeProfile;
using cudag::NodeRun;
using cudag::Profile;
using cudag::profile;
using cudag::ProfileSource;
using cudag::Stream;

namespace {

constexpr int length = 1 << 12;

cudag::LaunchConfig blocks() {
    return cudag::grid_1d(length, 256);
}

/// Two vectors, and a graph that fills both, adds one to the other and reads the sum.
struct Diamond {
    DeviceBuffer<float> x{length}, y{length};
    cudag::PinnedBuffer<float> sum{length};

    [[nodiscard]] Graph graph() {
        GraphBuilder b;
        auto ones = b.memset(x, 1.0f).label("ones");
        auto twos = b.memset(y, 2.0f).label("twos");
        auto axpy = b.kernel(blocks(), saxpy, length, 3.0f, x, y).label("axpy").after(ones, twos);
        b.memcpy(sum, y).label("read").after(axpy);
        return std::move(b).build();
    }
};

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
        ++found;
    return found;
}

const NodeProfile& node(const Profile& profile, std::string_view label) {
    const NodeProfile* const found = profile.find(label);
    REQUIRE(found != nullptr);
    return *found;
}

std::size_t index(const Profile& profile, std::string_view label) {
    return static_cast<std::size_t>(&node(profile, label) - profile.nodes().data());
}

} // namespace

TEST_CASE("a profile has label, kind, kernel, place, predecessors and times of each node", "[profile]") {
    Diamond diamond;
    const Graph graph = diamond.graph();
    Exec exec = graph.instantiate();
    const Stream stream;
    const Profile times = profile(exec, stream, {.launches = 5});

    REQUIRE(times.nodes().size() == 4);
    CHECK(times.launches() == 5);
    CHECK(exec.replays() == 6);
    CHECK(diamond.sum[7] == 5.0f);
    const NodeProfile& axpy = times.nodes()[2];
    CHECK(axpy.label == "axpy");
    CHECK(axpy.kind == NodeKind::kernel);
    CHECK(axpy.kernel == "saxpy");
    CHECK(axpy.location.line != 0);
    CHECK(axpy.description == to_string(graph.find("axpy").at(0)));
    CHECK(axpy.dependencies == std::vector<std::size_t>{0, 1});
    CHECK(!axpy.outer);
    CHECK(times.nodes()[0].kind == NodeKind::memset);
    CHECK(times.nodes()[0].kernel.empty());
    CHECK(times.nodes()[3].kind == NodeKind::memcpy);
    CHECK(times.find("none") == nullptr);

    for (const NodeProfile& each : times.nodes()) {
        CHECK(each.runs == 1);
        CHECK(each.duration.median > 0);
    }
    CHECK(axpy.start.median >= times.nodes()[0].duration.median);
    CHECK(times.nodes()[3].start.median >= axpy.start.median + 0.5 * axpy.duration.median);
    CHECK(times.gpu_time().median >= axpy.duration.median + times.nodes()[3].duration.median);
    CHECK(times.idle_time().median < times.gpu_time().median);
    CHECK(times.concurrency() >= 1);
    REQUIRE(times.launch_gap());
    CHECK(times.launch_gap()->median >= 0);
}

TEST_CASE("the timeline of a profile is one launch, and its critical path ends with the last node", "[profile]") {
    Diamond diamond;
    Exec exec = diamond.graph().instantiate();
    const Profile times = profile(exec, Stream(), {.launches = 3});
    REQUIRE(times.timeline().size() == 4);
    CHECK(times.timeline().front().begin == 0);
    CHECK(times.timeline().back().node == 3);
    for (const NodeRun& run : times.timeline())
        CHECK(run.begin < run.end);
    REQUIRE(times.critical_path().size() == 3);
    CHECK(times.critical_path().back() == 3);
    CHECK(times.nodes()[2].is_critical);
    CHECK(times.nodes()[0].is_critical != times.nodes()[1].is_critical);
    CHECK(times.critical_busy_time() <= times.critical_time());
}

TEST_CASE("a profile outlives its graph and its exec", "[profile]") {
    const Profile times = [] {
        Diamond diamond;
        Exec exec = diamond.graph().instantiate();
        return profile(exec, Stream());
    }();
    const std::string text = times.to_string();
    INFO(text);
    CHECK(text.find("profile of 20 launches") == 0);
    CHECK(count(text, "\n*") == 3);
    CHECK(text.find("kernel \"axpy\" at ") != std::string::npos);
    CHECK(text.find("-> axpy -> read\n") != std::string::npos);
    CHECK(to_string(times) == text);
}

TEST_CASE("a profile has the nodes inside children, with the time of the child", "[profile]") {
    DeviceBuffer<float> x(length), y(length);
    GraphBuilder inner;
    auto first = inner.kernel(blocks(), saxpy, length, 1.0f, x, y).label("first");
    inner.kernel(blocks(), saxpy, length, 2.0f, x, y).label("second").after(first);
    GraphBuilder b;
    auto fill = b.memset(x, 1.0f).label("fill x");
    auto also = b.memset(y, 1.0f).label("fill y").after(fill);
    auto layer = add_child(b, std::move(inner).build()).label("layer").after(also);
    b.kernel(blocks(), saxpy, length, 3.0f, x, y).label("last").after(layer);
    Exec exec = std::move(b).build().instantiate();
    const Profile times = profile(exec, Stream(), {.launches = 4});
    INFO(times.to_string());

    REQUIRE(times.nodes().size() == 6);
    CHECK(index(times, "layer") == 2);
    CHECK(node(times, "first").outer == 2);
    CHECK(node(times, "second").outer == 2);
    CHECK(node(times, "second").dependencies == std::vector<std::size_t>{3});
    CHECK(node(times, "second").description.find("inside child \"layer\"") != std::string::npos);
    CHECK(node(times, "first").runs == 1);
    CHECK(node(times, "layer").runs == 1);
    CHECK(node(times, "layer").duration.median >= node(times, "first").duration.median);
    CHECK(node(times, "layer").is_critical);
    CHECK(times.timeline().size() == 5);
    CHECK(times.critical_path().size() == 5);
    CHECK(times.durations().size() == 4);
    CHECK(times.durations()[2] == node(times, "layer").duration.median);
}

TEST_CASE("a profile tells nodes of children from the kernels of a plan in another child", "[profile]") {
    DeviceBuffer<float> x(length), y(length);
    GraphBuilder dense;
    add_join(dense, 12, "one");
    add_join(dense, 12, "two");
    GraphBuilder behind;
    behind.kernel(blocks(), saxpy, length, 1.0f, x, y).label("axpy");
    GraphBuilder b;
    auto fill = b.memset(x, 1.0f).label("fill x");
    auto also = b.memset(y, 1.0f).label("fill y").after(fill);
    auto layers = add_child(b, std::move(dense).build()).label("layers").after(also);
    add_child(b, std::move(behind).build()).label("behind").after(layers);
    Exec exec = std::move(b).build().instantiate();
    REQUIRE(exec.plan().kernels() == (older_than(12080) ? 0 : 2));
    const Profile times = profile(exec, Stream(), {.launches = 2});
    INFO(times.to_string());
    CHECK(node(times, "axpy").runs == 1);
    CHECK(node(times, "axpy").duration.median > 0);
}

TEST_CASE("a profile tells equal nodes of two children of one graph apart", "[profile]") {
    DeviceBuffer<float> x(length), y(length);
    GraphBuilder inner;
    inner.kernel(blocks(), saxpy, length, 1.0f, x, y).label("step");
    const Graph step = std::move(inner).build();
    GraphBuilder b;
    auto one = b.child(step).label("one");
    auto two = b.child(step).label("two").after(one);
    b.child(step).label("three").after(two);
    Exec exec = std::move(b).build().instantiate();
    const Profile times = profile(exec, Stream(), {.launches = 4});
    INFO(times.to_string());
    REQUIRE(times.nodes().size() == 6);
    for (const std::size_t i : {1U, 3U, 5U}) {
        CHECK(times.nodes()[i].label == "step");
        CHECK(times.nodes()[i].runs == 1);
    }
    CHECK(times.nodes()[1].start.median < times.nodes()[3].start.median);
    CHECK(times.nodes()[3].start.median < times.nodes()[5].start.median);
    CHECK(times.critical_path() == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("a profile counts the runs of nodes in bodies", "[profile]") {
    if (older_than(12080)) return;
    DeviceBuffer<float> x(length), y(length);
    GraphBuilder b;
    auto fill = b.memset(y, 1.0f).label("fill");
    auto loop = b.repeat(3, [&](GraphBuilder& body) { body.kernel(blocks(), saxpy, length, 1.0f, x, y).label("turn"); })
                    .label("loop")
                    .after(fill);
    const cudag::Condition never = b.condition(0);
    b.if_(never, [&](GraphBuilder& body) {
         body.kernel(blocks(), saxpy, length, 1.0f, x, y).label("never");
     }).after(loop);
    Exec exec = std::move(b).build().instantiate();
    const Profile times = profile(exec, Stream(), {.launches = 4});
    INFO(times.to_string());
    const int turns = static_cast<int>(node(times, "turn").runs);
    const bool may_lack_turns = times.source() == ProfileSource::cupti; // it may record the last one only
    CHECK((turns == 3 || (may_lack_turns && turns == 1)));
    CHECK(node(times, "turn").outer == index(times, "loop"));
    CHECK(node(times, "loop").runs == 1);
    CHECK(node(times, "loop").duration.median >= node(times, "turn").duration.median);
    CHECK(node(times, "never").runs == 0);
    CHECK(node(times, "never").duration == cudag::MeasuredTime{});
    const std::size_t turn = index(times, "turn");
    CHECK(std::ranges::count(times.timeline(), turn, &NodeRun::node) == turns);
    CHECK(count(times.chrome_trace(), "\"name\": \"turn\"") == static_cast<std::size_t>(turns));
    CHECK(times.to_string().find("without times") != std::string::npos);
}

TEST_CASE("a disabled node has no runs in a profile", "[profile]") {
    Diamond diamond;
    const Graph graph = diamond.graph();
    Exec exec = graph.instantiate();
    exec.disable(graph.find_one("axpy"));
    const Profile times = profile(exec, Stream(), {.launches = 2});
    CHECK(node(times, "axpy").runs == 0);
    CHECK(node(times, "read").runs == 1);
    CHECK(times.durations().at(2) == 0);
    exec.enable(graph.find_one("axpy"));
    CHECK(node(profile(exec, Stream(), {.launches = 2}), "axpy").runs == 1);
}

TEST_CASE("a profile names the kernels that updates brought", "[profile]") {
    const DeviceBuffer<int> cells = device({1, 2});
    const auto graph_of = [&](auto kernel) {
        GraphBuilder b;
        b.kernel({.grid = 1, .block = 1}, kernel, cells.data(), cells.data() + 1, 1).label("change");
        return std::move(b).build();
    };
    Exec exec = graph_of(add).instantiate();
    CHECK(node(profile(exec, Stream(), {.launches = 1}), "change").kernel == "add");
    REQUIRE(exec.update(graph_of(subtract)).updated());
    const Profile times = profile(exec, Stream(), {.launches = 2});
    CHECK(node(times, "change").kernel == "subtract");
    CHECK(node(times, "change").runs == 1);
}

TEST_CASE("a profile of a captured graph has the labels of its steps", "[profile]") {
    DeviceBuffer<float> x(length), y(length);
    const Stream stream;
    cudag::StreamCapture c(stream);
    c.step("fill", [&](cudaStream_t s) { cudag::check(cudaMemsetAsync(x.data(), 0, x.size() * 4, s)); });
    c.step("axpy", [&](cudaStream_t s) { cudag::launch(s, blocks(), saxpy, length, 1.0f, x, y); });
    const Graph graph = std::move(c).finish();
    Exec exec = graph.instantiate();
    const Profile times = profile(exec, stream, {.launches = 2});
    INFO(times.to_string());
    REQUIRE(times.nodes().size() == 2);
    CHECK(node(times, "axpy").kernel == "saxpy");
    CHECK(node(times, "axpy").runs == 1);
    CHECK(node(times, "fill").runs == 1);
}

TEST_CASE("the durations of a profile are durations for a plan", "[profile]") {
    Diamond diamond;
    const Graph graph = diamond.graph();
    Exec exec = graph.instantiate();
    const Stream stream;
    const Profile times = profile(exec, stream, {.launches = 2});
    Exec planned = graph.instantiate({.plan = {.durations = times.durations()}});
    CHECK(planned.options().plan.durations == times.durations());
    const Profile again = profile(planned, stream, {.launches = 2});
    CHECK(again.nodes().size() == 4);
    const auto changes = diff(times, again);
    CHECK(changes.unmatched().empty());
    CHECK(changes.slower().size() + changes.faster().size() + changes.same().size() == 4);

    const std::vector<cudag::Plan> candidates{cudag::Plan{}, cudag::Plan{.durations = times.durations()}};
    const cudag::Tuned tuned = cudag::tune(graph, stream, {.candidates = candidates, .repetitions = 1});
    CHECK(tuned.report.rows().size() == 2);
}

TEST_CASE("the critical path of a profile goes along a lane of the plan", "[profile]") {
    Diamond diamond;
    GraphBuilder b;
    b.kernel(blocks(), saxpy, length, 3.0f, diamond.x, diamond.y).label("one");
    b.kernel({}, nothing).label("other");
    Exec exec = std::move(b).build().instantiate({.plan = cudag::Plan{.lanes = 1}});
    const Profile times = profile(exec, Stream(), {.launches = 1});
    CHECK(times.critical_path().size() == 2);
}

TEST_CASE("the trace of a profile is valid JSON with slices, lanes and edges", "[profile]") {
    Diamond diamond;
    GraphBuilder b;
    auto fill = b.memset(diamond.x, 1.0f).label("quoted \"fill\" \\ \n \x01 \xff \xc3\xa9 \xf0\x90\x80\x80");
    auto join = b.join(fill);
    b.kernel(blocks(), saxpy, length, 3.0f, diamond.x, diamond.y).label("axpy").after(join);
    Exec exec = std::move(b).build().instantiate();
    const Profile times = profile(exec, Stream(), {.launches = 1});
    const std::string trace = times.chrome_trace();
    INFO(trace);
    CHECK(JsonReader::is_valid(trace));
    CHECK(count(trace, "\"ph\": \"X\"") == times.timeline().size());
    CHECK(count(trace, "\"thread_name\"") >= 1);
    CHECK(count(trace, "\"ph\": \"s\"") == count(trace, "\"ph\": \"f\""));
    CHECK(count(trace, "\"ph\": \"s\"") >= 1);
    CHECK(trace.find(R"(quoted \"fill\" \\ \u000a \u0001 \ufffd )"
                     "\xc3\xa9 \xf0\x90\x80\x80\"") != std::string::npos);
    CHECK(!JsonReader::is_valid(trace + "}"));
}

TEST_CASE("events measure the nodes of a copy of the graph", "[profile]") {
    Diamond diamond;
    const Graph graph = diamond.graph();
    Exec exec = graph.instantiate();
    const Profile times = profile(exec, Stream(), {.launches = 3, .source = ProfileSource::events});
    INFO(times.to_string());
    CHECK(times.source() == ProfileSource::events);
    CHECK(times.remark().empty());
    CHECK(exec.replays() == 1); // the others are the copy's
    CHECK(diamond.sum[7] == 5.0f);
    for (const NodeProfile& each : times.nodes()) {
        CHECK(each.runs == 1);
        CHECK(each.duration.median > 0);
    }
    CHECK(times.nodes()[3].start.median > times.nodes()[2].start.median);
    CHECK(!times.critical_path().empty());
    CHECK(!times.launch_gap());
    CHECK(graph.edges().size() == 3); // the graph is as before
    CHECK(node(profile(exec, Stream(), {.launches = 1}), "axpy").runs == 1);
}

TEST_CASE("events measure a child as a whole", "[profile]") {
    DeviceBuffer<float> x(length), y(length);
    GraphBuilder inner;
    inner.kernel(blocks(), saxpy, length, 1.0f, x, y).label("step");
    GraphBuilder b;
    add_child(b, std::move(inner).build()).label("layer").after(b.memset(x, 1.0f));
    Exec exec = std::move(b).build().instantiate();
    const Profile times = profile(exec, Stream(), {.launches = 2, .source = ProfileSource::events});
    INFO(times.to_string());
    CHECK(node(times, "layer").runs == 1);
    CHECK(node(times, "layer").duration.median > 0);
    CHECK(node(times, "layer").is_critical);
    CHECK(node(times, "step").runs == 0);
    CHECK(times.timeline().size() == 2);
    CHECK(JsonReader::is_valid(times.chrome_trace()));
}

TEST_CASE("events refuse graphs that have no copy, or another one", "[profile]") {
    const auto refusal = [](Exec& exec) {
        return std::string(refused<Error>([&] {
                               static_cast<void>(profile(exec, Stream(), {.source = ProfileSource::events}));
                           }).what());
    };
    Diamond diamond;
    const Graph graph = diamond.graph();
    Exec exec = graph.instantiate();
    exec.disable(graph.find_one("axpy"));
    CHECK(refusal(exec).find("kernel \"axpy\"") != std::string::npos);
    exec.enable(graph.find_one("axpy"));
    exec.update(graph.find_one(saxpy), cudag::arg<1>(4.0f));
    CHECK(refusal(exec).find("lacks the updates of this Exec") != std::string::npos);

    if (older_than(12080)) return;
    GraphBuilder b;
    b.repeat(2, [&](GraphBuilder& body) {
         body.kernel(blocks(), saxpy, length, 1.0f, diamond.x, diamond.y);
     }).label("loop");
    Exec loop = std::move(b).build().instantiate();
    CHECK(refusal(loop).find("CUDA copies none with while \"loop\"") != std::string::npos);
}

TEST_CASE("a source that the program does not have is refused", "[profile]") {
    Diamond diamond;
    Exec exec = diamond.graph().instantiate();
    const bool has_clock = profile(exec, Stream(), {.launches = 1}).source() == ProfileSource::cpu_runtime;
    const ProfileSource missing = has_clock ? ProfileSource::cupti : ProfileSource::cpu_runtime;
    const Error error =
        refused<Error>([&] { static_cast<void>(profile(exec, Stream(), {.launches = 1, .source = missing})); });
    CHECK(error.code() == cuda_code(cudaErrorNotSupported));
}

TEST_CASE("an empty graph has an empty profile", "[profile]") {
    Exec exec = GraphBuilder().build().instantiate();
    const Profile times = profile(exec, Stream());
    CHECK(times.nodes().empty());
    CHECK(times.gpu_time().median == 0);
    CHECK(JsonReader::is_valid(times.chrome_trace()));
}

TEST_CASE("a profile of no launches, or in a captured stream, is refused", "[profile]") {
    Diamond diamond;
    Exec exec = diamond.graph().instantiate();
    const Stream stream;
    CHECK(refused<GraphError>([&] { static_cast<void>(profile(exec, stream, {.launches = 0})); }).what() ==
          std::string("cudag: profile: launches is 0; it must be at least 1"));
    cudag::StreamCapture capture(stream, {.allow_empty = true});
    CHECK(std::string(refused<CaptureError>([&] { static_cast<void>(profile(exec, stream)); }).what())
              .starts_with("cudag: profile: the stream is being captured"));
    CHECK(std::move(capture).finish().node_count() == 0); // it is not broken
    CHECK(exec.replays() == 0);
    const Exec moved = std::move(exec);
    refused<GraphError>([&] { static_cast<void>(profile(exec, stream)); }); // NOLINT: moved-from on purpose
}

TEST_CASE("a profile reports what host nodes throw, and the next profile is whole", "[profile]") {
    Diamond diamond;
    int calls = 0;
    GraphBuilder b;
    auto fill = b.memset(diamond.x, 1.0f).label("fill");
    b.host([&] {
         if (++calls == 2) throw std::runtime_error("second");
     })
        .label("host")
        .after(fill);
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    CHECK_THROWS_AS(static_cast<void>(profile(exec, stream, {.launches = 3})), cudag::HostError);
    const Profile times = profile(exec, stream, {.launches = 3});
    CHECK(node(times, "fill").runs == 1);
    const bool has_host_times = times.source() == ProfileSource::cpu_runtime; // CUPTI has none
    CHECK(node(times, "host").runs == (has_host_times ? 1 : 0));
    CHECK(calls == 8);
}
