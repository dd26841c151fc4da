// Probes: what they see in built and captured graphs, what a failed check does, and which calls are refused.
#include <cudag/observer.hpp>
#include <cudag/probe.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "test.hpp"
#include "watched.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::HostError;
using cudag::PinnedBuffer;
using cudag::Probe;
using cudag::ProbeError;
using cudag::ProbeFailure;
using cudag::ProbeFinding;
using cudag::ProbeRun;
using cudag::Stream;

namespace {

constexpr cudag::ProbeOptions record{.on_failure = cudag::OnProbeFailure::record};
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

using Ints = std::vector<int>;

/// A check that keeps what it sees.
auto into(std::vector<Ints>& seen) {
    return [&seen](std::span<const int> values) { seen.emplace_back(values.begin(), values.end()); };
}

std::vector<std::string> texts_of(const Probe& probe) {
    std::vector<std::string> texts;
    for (const ProbeFailure& failure : probe.failures())
        texts.push_back(failure.text);
    return texts;
}

std::string at(unsigned line) {
    return "probe.cpp:" + std::to_string(line);
}

/// Runs a graph with one probe of `values`, and returns the texts of its failures without name and run.
template <class Element, class Check>
std::vector<std::string> found(const std::vector<Element>& values, const Check& check) {
    auto memory = device(values);
    GraphBuilder b;
    const Probe probe = cudag::probe(b, memory, check, record);
    run(std::move(b));
    CHECK(probe.runs() == 1);
    std::vector<std::string> texts = texts_of(probe);
    for (std::string& text : texts)
        text.erase(0, text.find("run 1: ") + 7);
    return texts;
}

using Texts = std::vector<std::string>;

} // namespace

TEST_CASE("a probe sees the values between two writers", "[probe]") {
    auto x = device({1, 2, 3});
    std::vector<Ints> seen;
    GraphBuilder b;
    const auto fill = b.memset(x, 5);
    const Probe probe = cudag::probe(b, x, into(seen)).label("fives").after(fill);
    b.memset(x, 7).after(probe.reader());
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    run(exec, stream);
    run(exec, stream);
    CHECK(seen == std::vector<Ints>(2, Ints{5, 5, 5}));
    CHECK(read(x) == Ints{7, 7, 7});
    CHECK(probe.runs() == 2);
    CHECK(probe.failures().empty());
    CHECK_NOTHROW(probe.check());
}

TEST_CASE("a probe of host memory needs no copy", "[probe]") {
    auto x = device({4, 4});
    PinnedBuffer<int> host(2);
    std::vector<Ints> seen;
    GraphBuilder b;
    const Probe probe = cudag::probe(b, host, into(seen)).after(b.memcpy(host, x));
    CHECK(!probe.copy());
    CHECK(probe.reader() == probe.node());
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 2);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(seen == std::vector<Ints>{{4, 4}});
}

TEST_CASE("race checks and inferred edges know what a probe reads", "[probe]") {
    auto x = device({1});
    SECTION("a race") {
        GraphBuilder b;
        b.memset(x, 5).label("writer");
        cudag::probe(b, x, cudag::print(0)).label("probe");
        CHECK(refused<cudag::RaceError>([&] { b.check(); }).labels() == Labels{"writer", "probe (copy)"});
    }
    SECTION("a race of host memory") {
        PinnedBuffer<int> host(1);
        GraphBuilder b;
        b.memcpy(host, x).label("writer");
        cudag::probe(b, host, cudag::print(0)).label("probe");
        CHECK(refused<cudag::RaceError>([&] { b.check(); }).labels() == Labels{"writer", "probe"});
    }
    SECTION("inferred edges") {
        std::vector<Ints> seen;
        std::mutex mutex; // nothing orders the checks
        GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
        for (int i = 0; i < 20; ++i) {
            b.memset(x, i);
            cudag::probe(b, x, [&](std::span<const int> values) {
                const std::scoped_lock lock(mutex);
                seen.emplace_back(values.begin(), values.end());
            });
        }
        const Graph graph = std::move(b).build();
        CHECK(graph.untracked().empty());
        Exec exec = graph.instantiate();
        run(exec, Stream());
        std::sort(seen.begin(), seen.end());
        std::vector<Ints> expected;
        for (int i = 0; i < 20; ++i)
            expected.push_back({i});
        CHECK(seen == expected);
    }
}

TEST_CASE("a probe in a capture stands between the work before it and after it", "[probe]") {
    auto x = device({1, 1});
    const Stream stream;
    std::vector<Ints> seen;
    Probe probe;
    const Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
        cudag::memset_async(stream, x, 8);
        c.step("look", [&] { probe = cudag::probe(c, x, into(seen)); });
        cudag::memset_async(stream, x, 9);
        cudag::probe(c, x.span().first(1), into(seen), record).label("second");
    });
    CHECK(graph.races().empty());
    Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(seen == std::vector<Ints>{{8, 8}, {9}});
    CHECK(probe.node().label() == "look");
    CHECK(graph.find_one("second").kind() == cudag::NodeKind::host);
    CHECK(graph.find_one("second (copy)").kind() == cudag::NodeKind::memcpy);
    CHECK(probe.runs() == 1);
    probe.disable(exec);
    run(exec, stream);
    CHECK(seen == std::vector<Ints>{{8, 8}, {9}, {9}});
    probe.enable(exec);
    run(exec, stream);
    CHECK(seen.size() == 5);
}

TEST_CASE("a capture with a probe of nothing fails, and the stream stays usable", "[probe]") {
    auto x = device({1});
    const Stream stream;
    CHECK_THROWS_AS(cudag::capture(stream,
                                   [&](cudag::StreamCapture& c) {
                                       cudag::memset_async(stream, x, 8);
                                       cudag::probe(c, x.span().first(0), cudag::print(0));
                                   }),
                    GraphError);
    CHECK_NOTHROW(stream.synchronize());
}

TEST_CASE("the next synchronisation throws a failed check, with label, run, index and value", "[probe]") {
    auto x = device({0.0f, 1.0f, not_a_number, not_a_number});
    GraphBuilder b;
    const Probe probe = cudag::probe(b, x, cudag::no_nan).label("norm");
    const unsigned line = __LINE__ - 1;
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    exec.launch(stream);
    try {
        stream.synchronize();
        FAIL("nothing thrown");
    } catch (const HostError& error) {
        CHECK(error.failures().front().label == "norm");
        try {
            error.rethrow_nested();
        } catch (const ProbeError& nested) {
            CHECK(nested.failures().size() == 1);
            CHECK(nested.labels() == Labels{"norm"});
            CHECK(nested.location().line == line);
            CHECK_THAT(nested.what(), ContainsSubstring("cudag: probe \"norm\" at") && ContainsSubstring(at(line)) &&
                                          ContainsSubstring(", run 1: element 2 is nan: it is not a number"));
        }
    }
    const ProbeFailure failure = probe.failures().at(0);
    CHECK(failure.label == "norm");
    CHECK(failure.location.line == line);
    CHECK(failure.run == 1);
    CHECK(failure.index == 2);
    CHECK(failure.value == "nan");
    CHECK_THROWS_AS(probe.check(), ProbeError);
    probe.clear();
    CHECK_NOTHROW(probe.check());
    write(x.span(), {0.0f, 1.0f, 2.0f, 3.0f});
    CHECK_NOTHROW(run(exec, stream));
    CHECK(probe.failures().empty());
    CHECK(probe.runs() == 2);
}

TEST_CASE("a probe that records only throws nothing until it is asked", "[probe]") {
    auto x = device({not_a_number});
    GraphBuilder b;
    const Probe probe = cudag::probe(b, x, cudag::no_nan, record);
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    for (int i = 0; i < 40; ++i)
        REQUIRE_NOTHROW(run(exec, stream));
    CHECK(probe.failures().size() == 16);
    CHECK(probe.failures().back().run == 16);
    CHECK(probe.runs() == 40);
    const ProbeError error = refused<ProbeError>([&] { probe.check(); });
    CHECK(error.failures().size() == 16);
    CHECK_THAT(error.what(),
               ContainsSubstring("run 1: element 0 is nan") && ContainsSubstring("; 15 more runs failed"));
    CHECK(error.labels().empty());
}

TEST_CASE("the ready checks find the first wrong element", "[probe]") {
    constexpr float inf = std::numeric_limits<float>::infinity();
    CHECK(found<float>({1, 2, 3}, cudag::no_nan).empty());
    CHECK(found<float>({inf}, cudag::no_nan).empty());
    CHECK(found<double>({1, not_a_number}, cudag::no_nan) == Texts{"element 1 is nan: it is not a number"});
    CHECK(found<int>({1, 2}, cudag::no_nan).empty());
    CHECK(found<float>({1, -inf, not_a_number}, cudag::all_finite) == Texts{"element 1 is -inf: it is not finite"});
    CHECK(found<float>({not_a_number}, cudag::all_finite).size() == 1);
    CHECK(found<float>({1, 2}, cudag::all_finite).empty());
    CHECK(found<int>({1, 2}, cudag::all_finite).empty());
    CHECK(found<float>({0, 0.5, 1}, cudag::in_range(0.0f, 1.0f)).empty());
    CHECK(found<float>({0, 1.5, 2}, cudag::in_range(0.0f, 1.0f)) == Texts{"element 1 is 1.5: it is not in [0, 1]"});
    CHECK(found<float>({0, not_a_number}, cudag::in_range(0, 1)) == Texts{"element 1 is nan: it is not in [0, 1]"});
    CHECK(found<int>({5, 4}, cudag::in_range(5, 5)) == Texts{"element 1 is 4: it is not in [5, 5]"});
    CHECK(found<unsigned>({0, 4000000000U}, cudag::in_range(-1, 5)) ==
          Texts{"element 1 is 4000000000: it is not in [-1, 5]"});
    CHECK(found<signed char>({-7}, cudag::in_range(0U, 200U)) == Texts{"element 0 is -7: it is not in [0, 200]"});
    CHECK(found<long long>({9007199254740993LL}, cudag::in_range(0LL, 9007199254740992LL)) ==
          Texts{"element 0 is 9007199254740993: it is not in [0, 9007199254740992]"});
}

TEST_CASE("in_range refuses bounds that no value satisfies", "[probe]") {
    CHECK_THAT(refused<GraphError>([] { static_cast<void>(cudag::in_range(2, 1)); }).what(),
               ContainsSubstring("in_range(2, 1): the lower bound must not exceed the upper one"));
    CHECK_THROWS_AS(cudag::in_range(not_a_number, 1.0f), GraphError);
    CHECK_THROWS_AS(cudag::in_range(0.0f, not_a_number), GraphError);
    CHECK_NOTHROW(cudag::in_range(1, 1));
}

TEST_CASE("a check may be any function, return bool or a finding, or throw", "[probe]") {
    CHECK(found<int>({1}, [](std::span<const int> v) { return v[0] == 1; }).empty());
    CHECK(found<int>({1}, [](std::span<const int> v) { return v[0] == 2; }) == Texts{"the check returned false"});
    CHECK(found<int>({1}, [](std::span<const int>) -> std::optional<ProbeFinding> { return {}; }).empty());
    CHECK(found<int>({1}, [](std::span<const int>) {
              return ProbeFinding{0, "one", "is odd"};
          }) == Texts{"element 0 is one: it is odd"});
    CHECK(found<int>({1}, [](std::span<const int>) -> bool { throw std::runtime_error("no"); }) ==
          Texts{"the check threw: no"});
    CHECK(found<int>({1}, [](std::span<const int>) -> bool { throw 7; }) ==
          Texts{"the check threw: an object that is no std::exception"});
    auto x = device({1});
    GraphBuilder b;
    const Probe probe = cudag::probe(b, x, [](std::span<const int>) -> bool { throw std::invalid_argument("own"); });
    Exec exec = std::move(b).build().instantiate();
    exec.launch(cudag::Stream());
    cudag::check(cudaDeviceSynchronize());
    try {
        exec.rethrow();
        FAIL("nothing thrown");
    } catch (const HostError& error) {
        CHECK_THROWS_AS(error.rethrow_nested(), std::invalid_argument);
    }
    CHECK(probe.failures().size() == 1);
}

TEST_CASE("a check sees label, place and number of its run", "[probe]") {
    auto x = device({1});
    std::vector<std::pair<std::string, std::uint64_t>> runs;
    std::vector<unsigned> lines;
    GraphBuilder b;
    const Probe probe = cudag::probe(b, x, [&](std::span<const int>, const ProbeRun& r) {
        runs.emplace_back(r.label, r.number);
        lines.push_back(r.location.line);
    });
    const unsigned line = __LINE__ - 4;
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    run(exec, stream);
    probe.label("late");
    run(exec, stream);
    CHECK(runs == std::vector<std::pair<std::string, std::uint64_t>>{{"", 1}, {"late", 2}});
    CHECK(lines == std::vector<unsigned>(2, line));
}

TEST_CASE("checksums are equal for equal bytes only", "[probe]") {
    std::vector<std::uint64_t> sums;
    const auto sum_of = [&](const Ints& values) {
        found(values, cudag::checksum([&](std::uint64_t sum) { sums.push_back(sum); }));
        CHECK(sums.back() == cudag::checksum_of(std::span(values)));
    };
    for (const Ints& values : {Ints{1, 2, 3}, Ints{1, 2, 4}, Ints{2, 1, 3}, Ints{1, 2}, Ints{1, 2, 0}, Ints{1, 2, 3}})
        sum_of(values);
    CHECK(sums.front() == sums.back());
    sums.pop_back();
    std::sort(sums.begin(), sums.end());
    CHECK(std::unique(sums.begin(), sums.end()) == sums.end());
    std::uint64_t number = 0;
    found(Ints{1}, cudag::checksum([&](std::uint64_t, const ProbeRun& run) { number = run.number; }));
    CHECK(number == 1);
}

TEST_CASE("print writes the first elements as one line", "[probe]") {
    const auto printed_by = [](const auto& values, std::size_t count) {
        std::FILE* file = std::tmpfile();
        REQUIRE(file != nullptr);
        found(values, cudag::print(count, file));
        std::rewind(file);
        std::string text(200, '\0');
        text.resize(std::fread(text.data(), 1, text.size(), file));
        std::fclose(file);
        CHECK_THAT(text, StartsWith("probe at ") && EndsWith("\n"));
        return text.erase(0, text.find(", run 1: ") + 9);
    };
    CHECK(printed_by(Ints{1, -2, 3}, 2) == "3 elements: 1, -2, ...\n");
    CHECK(printed_by(Ints{1, 2}, 2) == "2 elements: 1, 2\n");
    CHECK(printed_by(Ints{1}, 9) == "1 element: 1\n");
    CHECK(printed_by(Ints{1}, 0) == "1 element\n");
    CHECK(printed_by(std::vector<float>{0.1f, not_a_number}, 2) == "2 elements: 0.1, nan\n");
    CHECK(printed_by(std::vector<Colour>{Colour::red}, 1) == "1 element: 3\n");
    CHECK(printed_by(std::vector<std::array<unsigned char, 2>>{{1, 31}}, 1) == "1 element: 0x011f\n");
}

TEST_CASE("a disabled probe neither copies nor checks, in its Exec only", "[probe]") {
    auto x = device({1});
    GraphBuilder b;
    std::vector<Ints> seen;
    const Probe probe = cudag::probe(b, x, into(seen));
    PinnedBuffer<int> host(1);
    host[0] = 3;
    const Probe on_host = cudag::probe(b, host, into(seen)).after(probe.node());
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    Exec other = graph.instantiate();
    const Stream stream;
    probe.disable(exec);
    on_host.disable(exec);
    CHECK(!exec.is_enabled(*probe.copy()));
    run(exec, stream);
    CHECK(seen.empty());
    CHECK(probe.runs() == 0);
    run(other, stream);
    CHECK(seen == std::vector<Ints>{{1}, {3}});
    write(x.span(), {2});
    probe.disable(exec); // once more
    probe.enable(exec);
    probe.enable(exec);
    run(exec, stream);
    CHECK(seen == std::vector<Ints>{{1}, {3}, {2}});
    on_host.enable(exec);
    run(exec, stream);
    CHECK(seen.size() == 5);
}

TEST_CASE("a probe of another graph is refused by disable and enable, which change nothing", "[probe]") {
    auto x = device({1});
    const auto make = [&] {
        GraphBuilder b;
        Probe probe = cudag::probe(b, x, cudag::print(0)).label("looks");
        return std::pair(std::move(b).build(), probe);
    };
    const auto [graph, probe] = make();
    const auto other = make();
    const Probe& foreign = other.second;
    Exec exec = graph.instantiate();
    CHECK_THAT(refused<cudag::UpdateError>([&] { foreign.disable(exec); }).what(), ContainsSubstring("looks"));
    CHECK_THAT(refused<cudag::UpdateError>([&] { foreign.enable(exec); }).what(), ContainsSubstring("looks"));
    CHECK(exec.is_enabled(*probe.copy()));
    CHECK_THROWS_AS(foreign.in(graph), GraphError);
}

TEST_CASE("a probe is found in clones and children, and shares its failures with them", "[probe]") {
    auto x = device({not_a_number});
    GraphBuilder inner;
    const Probe probe = cudag::probe(inner, x, cudag::no_nan, record).label("looks");
    const Graph graph = std::move(inner).build();
    const Stream stream;
    const Graph clone = graph.clone();
    Exec cloned = clone.instantiate();
    run(cloned, stream);
    CHECK(probe.failures().size() == 1);
    probe.in(clone).disable(cloned);
    run(cloned, stream);
    CHECK(probe.runs() == 1);

    GraphBuilder b;
    const auto child = b.child(graph);
    Exec outer = std::move(b).build().instantiate();
    run(outer, stream);
    CHECK(probe.runs() == 2);
    probe.inside(child).disable(outer);
    run(outer, stream);
    CHECK(probe.runs() == 2);
    probe.inside(child).enable(outer);
    run(outer, stream);
    CHECK(probe.inside(child).failures().size() == 3);
}

TEST_CASE("probes survive whole updates, and bind moves them with their buffer", "[probe]") {
    auto x = device({1}), y = device({2});
    std::vector<Ints> seen;
    GraphBuilder b;
    const auto param = b.parameter<int>(1);
    cudag::probe(b, param.span(), into(seen)).after(b.memset(param, 4));
    const Graph graph = std::move(b).build();
    const auto graph_of = [&](DeviceBuffer<int>& memory, std::vector<Ints>& to) {
        GraphBuilder other;
        cudag::probe(other, memory, into(to));
        return std::move(other).build();
    };
    const Stream stream;
    Exec exec = graph.instantiate();
    CHECK(exec.bind(param, x) == 2);
    run(exec, stream);
    CHECK(seen == std::vector<Ints>{{4}});
    seen.clear();
    std::vector<Ints> later;
    Exec updated = graph_of(x, seen).instantiate();
    REQUIRE(updated.update(graph_of(y, later)).updated());
    run(updated, stream);
    CHECK(seen.empty());
    CHECK(later == std::vector<Ints>{{2}});
}

TEST_CASE("a whole update takes the check of the other graph, and a disabled probe must be disabled again", "[probe]") {
    auto x = device({1});
    std::vector<Ints> seen, later;
    const auto make = [&](std::vector<Ints>& to) {
        GraphBuilder b;
        const Probe probe = cudag::probe(b, x, into(to));
        return std::pair(std::move(b).build(), probe);
    };
    const auto [graph, probe] = make(seen);
    const auto [other, same] = make(later);
    const Stream stream;
    Exec exec = graph.instantiate();
    probe.disable(exec);
    REQUIRE(exec.update(other).updated());
    CHECK(!exec.is_enabled(*probe.copy()));
    run(exec, stream);
    CHECK(later.size() == 1);
    probe.disable(exec);
    run(exec, stream);
    CHECK(later.size() == 1);
    CHECK(seen.empty());
}

TEST_CASE("a probe of nothing is refused, and adds no node", "[probe]") {
    auto x = device({1});
    GraphBuilder b;
    const unsigned line = __LINE__ + 1;
    const auto empty = refused<GraphError>([&] { cudag::probe(b, x.span().first(0), cudag::print(0)); });
    CHECK_THAT(empty.what(),
               ContainsSubstring(at(line)) && ContainsSubstring("0 elements to look at; leave the probe out"));
    CHECK_THAT(
        refused<GraphError>([&] { cudag::probe(b, cudag::DeviceSpan<int>(nullptr, 3), cudag::print(0)); }).what(),
        ContainsSubstring("the memory to look at is null"));
    const std::span<int> none;
    CHECK_THROWS_AS(cudag::probe(b, none, cudag::print(0)), GraphError);
    CHECK_THROWS_AS(cudag::probe(b, std::shared_ptr<DeviceBuffer<int>>(), cudag::print(0)), GraphError);
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a probe in the body of a conditional is refused, and the body stays as it was", "[probe]") {
    auto x = device({1});
    GraphBuilder b;
    const auto condition = b.condition(1);
    const auto node = b.if_(condition, [&](GraphBuilder& body) {
        body.memset(x, 5);
        const auto error = refused<GraphError>([&] { cudag::probe(body, x, cudag::no_nan); });
        CHECK_THAT(error.what(), ContainsSubstring("host") && ContainsSubstring("body"));
    });
    CHECK(node.body().node_count() == 1);
    run(std::move(b));
    CHECK(read(x) == Ints{5});
}

TEST_CASE("an empty handle of a probe is refused", "[probe]") {
    const Probe none;
    auto x = device({1});
    GraphBuilder b;
    const auto node = b.memset(x, 1);
    Exec exec = std::move(b).build().instantiate();
    for (const auto& call : std::vector<std::function<void()>>{
             [&] { none.check(); }, [&] { none.clear(); }, [&] { static_cast<void>(none.runs()); },
             [&] { static_cast<void>(none.failures()); }, [&] { none.label("x"); }, [&] { none.after(node); },
             [&] { static_cast<void>(none.reader()); }, [&] { static_cast<void>(none.copy()); },
             [&] { none.disable(exec); }, [&] { none.enable(exec); }})
        CHECK_THAT(refused<GraphError>([&] { call(); }).what(), ContainsSubstring("an empty Probe refers to no probe"));
}

TEST_CASE("the observer receives failed checks", "[probe]") {
    std::mutex mutex;
    std::vector<cudag::ObservedProbe> events;
    std::vector<std::string> texts;
    const auto former = cudag::set_observer([&](const cudag::Observation& event) {
        const std::lock_guard lock(mutex);
        if (const auto* failed = event.find<cudag::ObservedProbe>()) {
            events.push_back(*failed);
            texts.push_back(to_string(event));
        }
    });
    auto x = device({not_a_number});
    GraphBuilder b;
    const Probe probe = cudag::probe(b, x, cudag::no_nan, record).label("norm");
    const unsigned line = __LINE__ - 1;
    run(std::move(b));
    cudag::set_observer(former);
    CHECK(texts == texts_of(probe));
    REQUIRE(events.size() == 1);
    CHECK(events[0].label == "norm");
    CHECK(events[0].run == 1);
    CHECK(events[0].location.line == line);
    CHECK(events[0].text == texts[0]);
}

TEST_CASE("the graph keeps the memory and the check of a probe without handle", "[probe]") {
    const Stream stream;
    auto kept = std::make_shared<int>(0);
    const std::weak_ptr<int> watch = kept;
    {
        Exec exec = [&] {
            auto x = device({1});
            GraphBuilder b;
            cudag::probe(b, x, [kept = std::exchange(kept, nullptr)](std::span<const int> v) { *kept += v[0]; });
            return std::move(b).build().instantiate();
        }();
        run(exec, stream);
        run(exec, stream);
        const auto now = watch.lock();
        REQUIRE(now);
        CHECK(*now == 2);
    }
    CHECK(released(watch, stream));
}
