// Every runtime call, and every allocation, that fails while nodes and edges are taken back from a builder.
#include "allocation_faults.hpp"
#include "faults.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"

#include <catch.hpp>

#include <cudag/cudag.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using cudag::Edge;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Node;

/// A builder with a bit of everything that goes by a node's index: what goes, and what stays.
class Sample {
  public:
    Sample() {
        const std::vector<Node> both{first_, child_};
        last_.after(both, branch_);
        host_.after(first_).writes(cells_);
        child_.after(gone_);
        value_.drive(sized_, [](int value) { return static_cast<std::size_t>(value); });
    }

    void remove() { builder_.remove(gone_, host_, child_, branch_, sized_); }

    /// That nothing has gone.
    void check_whole() {
        CHECK(gone_.label() == "gone");
        CHECK(sized_.label() == "sized");
        CHECK(child_.inside(inner_).label() == "inner");
        const Graph graph = std::move(builder_).build();
        CHECK(graph.nodes() == std::vector<Node>{gone_, first_, host_, child_, branch_, sized_, last_});
        CHECK(graph.edges() ==
              std::vector<Edge>{{first_, last_}, {child_, last_}, {branch_, last_}, {first_, host_}, {gone_, child_}});
        CHECK(!watched_.expired());
        cudag::Exec exec = graph.instantiate();
        CHECK(value_.set(2, exec) == 2);
    }
    void check_removed() {
        CHECK_THROWS_AS(gone_.label(), cudag::GraphError);
        CHECK(watched_.expired());
        const Graph graph = std::move(builder_).build();
        REQUIRE(graph.node_count() == 3); // and a node for the condition
        CHECK(graph.nodes()[0] == first_);
        CHECK(graph.nodes()[1] == last_);
        CHECK(graph.edges() == std::vector<Edge>{{first_, last_}});
        cudag::Exec exec = graph.instantiate();
        CHECK(value_.set(2, exec) == 0);
    }
    void check_refused() {
        CHECK_THROWS_AS(gone_.label(), cudag::GraphError);
        CHECK(last_.label() == "last");
        try {
            static_cast<void>(std::move(builder_).build());
            FAIL("a graph with unwanted nodes was built");
        } catch (const cudag::GraphError& error) {
            CHECK_THAT(error.what(), ContainsSubstring("a node could not be removed"));
        }
    }

  private:
    std::shared_ptr<int> owner_ = std::make_shared<int>(1);
    std::weak_ptr<int> watched_ = owner_;
    cudag::DeviceBuffer<int> cells_{4};
    cudag::DynamicParam<int> value_{4};
    Node inner_;
    Graph inner_graph_ = [this] {
        GraphBuilder b;
        inner_ = b.host([] {}).label("inner");
        return std::move(b).build();
    }();
    GraphBuilder builder_{{.races = cudag::Races::allowed}};
    cudag::KernelNode<int*, const int*, int, int> gone_ =
        builder_.kernel(cudag::grid_1d(4, 4), multiply_add, cells_, cells_, value_, 1)
            .label("gone")
            .retain(std::exchange(owner_, nullptr));
    cudag::HostNode first_ = builder_.host([] {}).label("first");
    cudag::HostNode host_ = builder_.host([] {}).label("host");
    cudag::ChildNode child_ = builder_.child(inner_graph_);
    cudag::IfNode branch_ = builder_.if_(builder_.condition(1), [this](GraphBuilder& body) { body.memset(cells_, 1); });
    cudag::MemsetNode sized_ = builder_.memset(cells_, 1).label("sized");
    cudag::HostNode last_ = builder_.host([] {}).label("last");
};

} // namespace

TEST_CASE("a removal whose first call fails removes nothing; a graph that CUDA keeps a part of is not built",
          "[unit][faults]") {
    { Sample().check_whole(); }
    const NothingLeft check;
    std::optional<Sample> sample;
    bool thrown = false;
    const Faults faults = for_every_call_failing(
        [&] {
            thrown = true;
            sample->remove();
            thrown = false;
        },
        [&] {
            if (thrown)
                sample->check_whole();
            else
                sample->check_refused();
        },
        [&] { sample.emplace(); });
    CHECK(faults.thrown == 1);
    CHECK(faults.ignored == 4); // of five nodes
    sample->check_removed();
}

TEST_CASE("a removal that finds no memory removes nothing", "[unit][faults]") {
    { Sample().check_whole(); }
    const NothingLeft check;
    std::size_t failed_ones = 0;
    for (std::size_t n = 1;; ++n) {
        CAPTURE(n);
        Sample sample;
        const std::optional<bool> failed = fails_without_allocation(n, [&] { sample.remove(); });
        if (failed == true) {
            ++failed_ones;
            sample.check_whole();
        } else {
            sample.check_removed(); // also without what merges quicker with more memory
        }
        if (!failed) break;
    }
    CHECK(failed_ones >= 5);
}
