// Profiles of made-up records: times of nodes and launches, critical paths, lanes, comparisons.
#include "profile/profile_summary.hpp"
#include "profile/profile_texts.hpp"
#include "profile/run_order.hpp"

#include <cudag/profile_diff.hpp>

#include "catch.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using cudag::diff;
using cudag::MeasuredTime;
using cudag::NodeKind;
using cudag::NodeProfile;
using cudag::NodeRun;
using cudag::Profile;
using cudag::ProfileDiff;
using namespace cudag::detail;

namespace {

using Indices = std::vector<std::size_t>;
using Labels = std::vector<std::string>;

/// Nodes for a profile; each is named by its label.
class Nodes {
  public:
    Nodes& add(std::string label, Indices before, NodeKind kind = NodeKind::kernel,
               std::optional<std::size_t> outer = std::nullopt) {
        nodes_.nodes.push_back(
            {.label = label, .description = "the node " + label, .kind = kind, .outer = outer, .dependencies = before});
        nodes_.before.push_back(std::move(before));
        nodes_.is_loop.push_back(kind == NodeKind::conditional);
        return *this;
    }
    /// Adds an edge of the plan.
    Nodes& add_planned(std::size_t from, std::size_t to) {
        nodes_.before[to].push_back(from);
        return *this;
    }
    [[nodiscard]] Profile profile(std::vector<RunRecord> records, std::size_t launches = 1,
                                  Turns turns = Turns::all) const {
        ProfiledNodes nodes = nodes_;
        return summarise({.launches = launches, .turns = turns}, std::move(nodes), std::move(records));
    }

  private:
    ProfiledNodes nodes_{};
};

Labels path_of(const Profile& profile) {
    Labels labels;
    for (const std::size_t run : profile.critical_path())
        labels.push_back(profile.nodes()[profile.timeline()[run].node].label);
    return labels;
}

Indices lanes_of(const Profile& profile) {
    Indices lanes;
    for (const NodeRun& run : profile.timeline())
        lanes.push_back(run.lane);
    return lanes;
}

} // namespace

TEST_CASE("a profile has the median and the spread of each node's start and duration", "[profile]") {
    const Profile profile = Nodes().add("a", {}).add("b", {0}).profile(
        {{0, 0, 100, 110}, {0, 1, 112, 120}, {1, 0, 200, 212}, {1, 1, 213, 220}, {2, 0, 300, 311}, {2, 1, 317, 333}},
        3);
    CHECK(profile.launches() == 3);
    CHECK(profile.nodes()[0].start == MeasuredTime{0, 0});
    CHECK(profile.nodes()[0].duration == MeasuredTime{11, 1});
    CHECK(profile.nodes()[1].start == MeasuredTime{13, 1});
    CHECK(profile.nodes()[1].duration == MeasuredTime{8, 1});
    CHECK(profile.nodes()[1].runs == 1);
    CHECK(profile.gpu_time() == MeasuredTime{20, 0});
    CHECK(profile.idle_time() == MeasuredTime{2, 1});
    CHECK(profile.launch_gap() == MeasuredTime{80, 0});
    CHECK(profile.durations() == std::vector<double>{11, 8});
    CHECK(profile.timeline() == std::vector<NodeRun>{{0, 0, 12, 0}, {1, 13, 20, 0}}); // of the second
}

TEST_CASE("a profile of one launch has no launch gap", "[profile]") {
    CHECK(!Nodes().add("a", {}).profile({{0, 0, 1, 2}}).launch_gap());
}

TEST_CASE("launches without records count for the runs of nodes, and for no gap", "[profile]") {
    const Profile profile = Nodes().add("a", {}).profile({{0, 0, 10, 12}, {2, 0, 20, 22}}, 3);
    CHECK(profile.nodes()[0].runs == 2.0 / 3);
    CHECK(!profile.launch_gap());
}

TEST_CASE("a profile without records has no times", "[profile]") {
    const Profile profile = Nodes().add("a", {}).profile({}, 5);
    CHECK(profile.gpu_time() == MeasuredTime{});
    CHECK(profile.nodes()[0].runs == 0);
    CHECK(profile.timeline().empty());
    CHECK(profile.critical_path().empty());
    CHECK(profile.critical_time() == 0);
    CHECK(profile.durations() == std::vector<double>{0});
    CHECK(profile.to_string().find("1 node without times") != std::string::npos);
}

TEST_CASE("idle time and concurrency count overlapping nodes once and twice", "[profile]") {
    const Profile profile =
        Nodes().add("a", {}).add("b", {}).add("c", {0, 1}).profile({{0, 0, 0, 10}, {0, 1, 5, 15}, {0, 2, 20, 30}});
    CHECK(profile.idle_time().median == 5);
    CHECK(profile.concurrency() == 30.0 / 25);
}

TEST_CASE("the critical path goes back to the predecessor that ended last", "[profile]") {
    const Profile profile = Nodes()
                                .add("a", {})
                                .add("b", {})
                                .add("c", {0, 1})
                                .add("d", {0})
                                .profile({{0, 0, 0, 10}, {0, 1, 0, 15}, {0, 2, 16, 30}, {0, 3, 11, 12}});
    CHECK(path_of(profile) == Labels{"b", "c"});
    CHECK(profile.critical_time() == 30);
    CHECK(profile.critical_busy_time() == 29);
    CHECK(!profile.nodes()[0].is_critical);
    CHECK(profile.nodes()[1].is_critical);
    CHECK(!profile.nodes()[3].is_critical);
}

TEST_CASE("the critical path goes through joins without times", "[profile]") {
    const Profile profile =
        Nodes()
            .add("a", {})
            .add("b", {})
            .add("join", {0, 1}, NodeKind::empty)
            .add("join again", {2}, NodeKind::empty)
            .add("c", {3})
            .profile({{0, 0, 0, 20}, {0, 1, 0, 15}, {0, 2, 1, 2}, {0, 4, 21, 30}}); // the plan may leave one out
    CHECK(path_of(profile) == Labels{"a", "c"});
    CHECK(profile.nodes()[2].runs == 0);
}

TEST_CASE("the critical path follows edges of the plan", "[profile]") {
    Nodes nodes;
    nodes.add("a", {}).add("b", {});
    const std::vector<RunRecord> records{{0, 0, 0, 10}, {0, 1, 11, 20}};
    CHECK(path_of(nodes.profile(records)) == Labels{"b"});
    CHECK(path_of(nodes.add_planned(0, 1).profile(records)) == Labels{"a", "b"});
    CHECK(nodes.profile(records).nodes()[1].dependencies.empty()); // they are no edges of the graph
}

TEST_CASE("the critical path accepts nodes that start before their predecessors end", "[profile]") {
    const Profile profile = Nodes().add("a", {}).add("early", {0}).profile({{0, 0, 0, 10}, {0, 1, 5, 15}});
    CHECK(path_of(profile) == Labels{"a", "early"});
}

TEST_CASE("a node around others has their time, and the critical path goes through it", "[profile]") {
    const Profile profile = Nodes()
                                .add("first", {})
                                .add("child", {0}, NodeKind::child)
                                .add("x", {}, NodeKind::kernel, 1)
                                .add("y", {2}, NodeKind::kernel, 1)
                                .add("last", {1})
                                .profile({{0, 0, 0, 10},
                                          {0, 2, 12, 20},
                                          {0, 3, 22, 30},
                                          {0, 4, 33, 40},
                                          {0, 1, 11, 11}}); // a record of the child itself does not count
    CHECK(path_of(profile) == Labels{"first", "x", "y", "last"});
    CHECK(profile.nodes()[1].start.median == 12);
    CHECK(profile.nodes()[1].duration.median == 18);
    CHECK(profile.nodes()[1].runs == 1);
    CHECK(profile.nodes()[1].is_critical);
    CHECK(profile.timeline().size() == 4);
    CHECK(profile.durations() == std::vector<double>{10, 18, 7});
}

TEST_CASE("the critical path goes from turn to turn of a loop", "[profile]") {
    const Profile profile = Nodes()
                                .add("first", {})
                                .add("loop", {0}, NodeKind::conditional)
                                .add("x", {}, NodeKind::kernel, 1)
                                .add("y", {2}, NodeKind::kernel, 1)
                                .profile({{0, 0, 0, 1}, {0, 2, 2, 3}, {0, 3, 4, 5}, {0, 2, 6, 7}, {0, 3, 8, 9}});
    CHECK(path_of(profile) == Labels{"first", "x", "y", "x", "y"});
    CHECK(profile.nodes()[2].runs == 2);
    CHECK(profile.nodes()[2].duration.median == 2);
    CHECK(profile.nodes()[1].runs == 1);
    CHECK(profile.nodes()[1].duration.median == 7);
}

TEST_CASE("a loop of which the last turn is known runs from the end of its predecessors", "[profile]") {
    const Profile profile =
        Nodes()
            .add("first", {})
            .add("join", {0}, NodeKind::empty)
            .add("loop", {1}, NodeKind::conditional)
            .add("x", {}, NodeKind::kernel, 2)
            .add("y", {3}, NodeKind::kernel, 2)
            .add("last", {2})
            .profile({{0, 0, 0, 10}, {0, 3, 50, 55}, {0, 4, 56, 60}, {0, 5, 62, 70}}, 1, Turns::last);
    CHECK(profile.nodes()[2].start.median == 10);
    CHECK(profile.nodes()[2].duration.median == 50);
    CHECK(profile.nodes()[3].start.median == 50);
    CHECK(profile.idle_time().median == 1 + 2);
    CHECK(path_of(profile) == Labels{"first", "x", "y", "last"});
}

TEST_CASE("two first nodes of a body wait for the last turn, not for each other", "[profile]") {
    const Profile profile = Nodes()
                                .add("loop", {}, NodeKind::conditional)
                                .add("x", {}, NodeKind::kernel, 0)
                                .add("y", {}, NodeKind::kernel, 0)
                                .profile({{0, 1, 0, 1}, {0, 2, 2, 3}, {0, 1, 4, 5}, {0, 2, 6, 9}});
    CHECK(path_of(profile) == Labels{"y", "y"});
}

TEST_CASE("a body that did not run is no part of the path", "[profile]") {
    const Profile profile = Nodes()
                                .add("a", {})
                                .add("if", {0}, NodeKind::conditional)
                                .add("x", {}, NodeKind::kernel, 1)
                                .add("b", {1})
                                .profile({{0, 0, 0, 1}, {0, 3, 2, 3}});
    CHECK(path_of(profile) == Labels{"a", "b"});
    CHECK(profile.nodes()[1].runs == 0);
    CHECK(profile.nodes()[2].runs == 0);
}

TEST_CASE("runs of one lane do not overlap, and chains stay on their lane", "[profile]") {
    const Profile profile = Nodes().add("a", {}).add("b", {}).add("a2", {0}).add("b2", {1}).profile(
        {{0, 0, 0, 10}, {0, 1, 1, 9}, {0, 3, 11, 20}, {0, 2, 12, 20}});
    CHECK(lanes_of(profile) == Indices{0, 1, 1, 0});
    CHECK(profile.nodes()[3].lane == 1);
}

TEST_CASE("a profile as text lists the longest node first, and marks the critical path", "[profile]") {
    const std::string text = Nodes()
                                 .add("a", {})
                                 .add("b", {})
                                 .add("c", {1})
                                 .profile({{0, 0, 0, 2}, {0, 1, 0, 5}, {0, 2, 6, 10}})
                                 .to_string();
    CHECK(text == R"(profile of 1 launch by the CPU runtime's clock, times in us (medians)
GPU time 10.0, idle 1.0, concurrency 1.22
critical path 10.0, in which its nodes run for 9.0: b -> c
   duration   spread   share     start   runs  lane  node
*       5.0      0.0  50.0 %       0.0      1     1  the node b
*       4.0      0.0  40.0 %       6.0      1     1  the node c
        2.0      0.0  20.0 %       0.0      1     0  the node a
)");
}

TEST_CASE("the text of a long critical path has its first and last nodes", "[profile]") {
    Nodes nodes;
    std::vector<RunRecord> records;
    for (std::size_t i = 0; i < 100; ++i) {
        nodes.add("n" + std::to_string(i), i == 0 ? Indices{} : Indices{i - 1});
        records.push_back({0, i, 2.0 * static_cast<double>(i), 2.0 * static_cast<double>(i) + 1});
    }
    const std::string text = nodes.profile(records).to_string();
    CHECK(text.find("n0 -> n1 -> n2 -> n3 -> n4 -> n5 -> (88 more) -> n94 -> n95") != std::string::npos);
    CHECK(text.find("-> n99\n") != std::string::npos);
}

TEST_CASE("a profile as DOT has colours by duration, and thick lines on the critical path", "[profile]") {
    const std::string dot = Nodes()
                                .add("a \"b\"", {})
                                .add("child", {0}, NodeKind::child)
                                .add("x", {}, NodeKind::kernel, 1)
                                .add("idle", {0}, NodeKind::host)
                                .profile({{0, 0, 0, 5}, {0, 2, 5, 15}})
                                .dot();
    CHECK(dot == R"(digraph cudag {
    node [shape=box, style=filled];
    n0 [label="a \"b\"\n5.0 us", fillcolor="0.05 0.500 1.000", penwidth=2.5];
    subgraph cluster_n1 {
        label="";
        n1 [label="child\n10.0 us", fillcolor="0.05 0.000 1.000", penwidth=2.5];
        n2 [label="x\n10.0 us", fillcolor="0.05 1.000 1.000", penwidth=2.5];
    }
    n3 [label="idle", fillcolor="0.05 0.000 1.000"];
    n0 -> n1 [penwidth=2.5];
    n0 -> n3;
}
)");
}

TEST_CASE("a profile as DOT has edges to earlier nodes", "[profile]") {
    const std::string dot = Nodes().add("late", {1}).add("early", {}).profile({{0, 1, 0, 1}, {0, 0, 1, 2}}).dot();
    CHECK(dot.find("n1 -> n0 [penwidth=2.5];") != std::string::npos);
}

TEST_CASE("a profile as DOT is darkest at the longest node that has none inside", "[profile]") {
    const std::string dot = Nodes()
                                .add("child", {}, NodeKind::child)
                                .add("x", {}, NodeKind::kernel, 0)
                                .add("y", {1}, NodeKind::kernel, 0)
                                .profile({{0, 1, 0, 10}, {0, 2, 10, 15}})
                                .dot();
    CHECK(dot.find("x\\n10.0 us\", fillcolor=\"0.05 1.000 1.000\"") != std::string::npos);
    CHECK(dot.find("y\\n5.0 us\", fillcolor=\"0.05 0.500 1.000\"") != std::string::npos);
}

TEST_CASE("the timeline of two launches is the shorter one", "[profile]") {
    const auto profile = Nodes().add("a", {}).profile({{0, 0, 0, 10}, {1, 0, 20, 24}}, 2);
    REQUIRE(profile.timeline().size() == 1);
    CHECK(profile.timeline()[0].end - profile.timeline()[0].begin == 4);
}

TEST_CASE("a trace has one flow for each edge between nodes that ran", "[profile]") {
    const std::string trace = Nodes()
                                  .add("a", {})
                                  .add("b", {})
                                  .add("c", {0, 1})
                                  .profile({{0, 0, 0, 2}, {0, 1, 0, 3}, {0, 2, 4, 5}})
                                  .chrome_trace();
    std::size_t flows = 0;
    for (std::size_t at = trace.find("\"ph\": \"s\""); at != std::string::npos;
         at = trace.find("\"ph\": \"s\"", at + 1))
        ++flows;
    CHECK(flows == 2);
}

TEST_CASE("text in JSON keeps valid UTF-8, and nothing else", "[profile]") {
    using cudag::detail::json_string;
    for (const char* valid : {"a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
                              "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
        CHECK(json_string(valid) == '"' + std::string(valid) + '"');
    for (const char* invalid : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
                                "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xf0\x90\x80", "\xc3", "\xc3("})
        CHECK(json_string(invalid).starts_with("\"\\ufffd"));
}

TEST_CASE("a trace names the process, each lane, and the rows of nodes around others", "[profile]") {
    const std::string trace = Nodes()
                                  .add("a", {})
                                  .add("child", {}, NodeKind::child)
                                  .add("x", {}, NodeKind::kernel, 1)
                                  .profile({{0, 0, 0, 5}, {0, 2, 1, 4}})
                                  .chrome_trace();
    const auto has_name = [&](const std::string& what, int row, const std::string& name) {
        return trace.find("\"tid\": " + std::to_string(row) + ", \"name\": \"" + what + "\", \"args\": {\"name\": \"" +
                          name + "\"}") != std::string::npos;
    };
    CHECK(has_name("process_name", 0, "cudag"));
    CHECK(has_name("thread_name", 0, "lane 0"));
    CHECK(has_name("thread_name", 1, "lane 1"));
    CHECK(has_name("thread_name", 2, "nodes around others"));
    CHECK(trace.find("\"ph\": \"X\", \"tid\": 2, \"ts\": 1.000, \"dur\": 3.000, \"name\": \"child\"") !=
          std::string::npos);
}

TEST_CASE("a comparison lists nodes that got slower, faster, or ran in one profile", "[profile]") {
    const auto four = [](double a, double b, double c) {
        return Nodes().add("a", {}).add("b", {}).add("c", {}).profile({{0, 0, 0, a}, {0, 1, 0, b}, {0, 2, 0, c}});
    };
    const ProfileDiff changes = diff(four(10, 20, 30), four(15, 20.1, 10));
    REQUIRE(changes.slower().size() == 1);
    CHECK(changes.slower()[0].name == "the node a");
    CHECK(changes.slower()[0].change() == 5);
    REQUIRE(changes.faster().size() == 1);
    CHECK(changes.faster()[0].change() == -20);
    CHECK(changes.same().size() == 1); // by less than 2 %
    CHECK(changes.gpu_time().change() == 20.1 - 30);
    CHECK(changes.to_string() == R"(GPU time 30.0 -> 20.1 us (-9.9)
slower:
       10.0 ->      15.0       +5.0  the node a
faster:
       30.0 ->      10.0      -20.0  the node c
1 node as before
)");

    const ProfileDiff others =
        diff(Nodes().add("a", {}).add("old", {}).profile({{0, 0, 0, 1}, {0, 1, 0, 2}}),
             Nodes().add("new", {}).add("a", {}).add("idle", {}).profile({{0, 0, 0, 3}, {0, 1, 0, 1}}));
    REQUIRE(others.unmatched().size() == 2);
    CHECK(others.unmatched()[0].name == "the node new");
    CHECK(!others.unmatched()[0].before);
    CHECK(others.unmatched()[1].name == "the node old");
    CHECK(!others.unmatched()[1].after);
    CHECK(others.same().size() == 1);
    CHECK(others.to_string() == R"(GPU time 2.0 -> 3.0 us (+1.0)
in one profile only:
          - ->       3.0       +3.0  the node new
        2.0 ->         -       -2.0  the node old
1 node as before
)");
}

TEST_CASE("a comparison pairs nodes of one name in their order, inside their own child", "[profile]") {
    const auto profile = [](double first, double second) {
        return Nodes()
            .add("layer", {}, NodeKind::child)
            .add("x", {}, NodeKind::kernel, 0)
            .add("layer", {0}, NodeKind::child)
            .add("x", {}, NodeKind::kernel, 2)
            .profile({{0, 1, 0, first}, {0, 3, 20, 20 + second}});
    };
    const ProfileDiff changes = diff(profile(1, 10), profile(1, 15));
    REQUIRE(changes.slower().size() == 1);
    CHECK(changes.slower()[0].before->median == 10);
    CHECK(changes.same().size() == 1);
    CHECK(changes.unmatched().empty());
}
