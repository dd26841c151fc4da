// Fingerprints and their comparison between ranks. The ranks here are threads.
#include <cudag/agree.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cuda_version.hpp"
#include "kernels.hpp"
#include "test.hpp"

using Catch::Matchers::ContainsSubstring;
using cudag::AllGather;
using cudag::DeviceBuffer;
using cudag::Fingerprint;
using cudag::fingerprint;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::RanksDifferError;
using cudag::TunedPlan;

namespace {

using Lines = std::vector<std::string>;

struct Step {
    int n = 64;
    float factor = 2.0f;
    std::string last = "last";
    bool is_ordered = true;
    bool is_copied = true;

    [[nodiscard]] Graph graph() const {
        const DeviceBuffer<float> x(64);
        const DeviceBuffer<float> y(64);
        GraphBuilder b({.races = cudag::Races::allowed});
        const auto fill = b.memset(x, 1.0f).label("ones");
        const auto kernel = b.kernel({.block = static_cast<unsigned>(n)}, saxpy, n, factor, x, y).label("axpy");
        if (is_ordered) kernel.after(fill);
        if (is_copied)
            b.memcpy(x, y).label(last).after(fill, kernel);
        else
            b.memset(x, 2.0f).label(last).after(fill, kernel);
        return std::move(b).build();
    }
};

Fingerprint print_of(const Lines& lines) {
    return {cudag::detail::Passkey(), lines};
}

/// All-gathers of threads.
class Gathering {
  public:
    explicit Gathering(std::size_t ranks)
        : parts_(ranks), calls_(ranks), barrier_(static_cast<std::ptrdiff_t>(ranks)) {}

    AllGather of(std::size_t rank) {
        return [this, rank](std::span<const std::byte> mine, std::span<std::byte> all) {
            ++calls_[rank];
            most_ = std::max(most_.load(), mine.size());
            parts_[rank].assign(mine.begin(), mine.end());
            barrier_.arrive_and_wait();
            std::byte* to = all.data();
            for (const auto& part : parts_)
                to = std::ranges::copy(part, to).out;
            barrier_.arrive_and_wait();
        };
    }
    [[nodiscard]] const std::vector<unsigned>& calls() const { return calls_; }
    [[nodiscard]] std::size_t most_bytes() const { return most_; }

  private:
    std::vector<std::vector<std::byte>> parts_;
    std::vector<unsigned> calls_;
    std::atomic<std::size_t> most_ = 0;
    std::barrier<> barrier_;
};

struct Outcome {
    std::string text; ///< of RanksDifferError; empty if the ranks agree
    std::size_t line = 0;
    unsigned calls = 0; ///< of the all-gather, on each rank
    std::size_t most_bytes = 0;
};

/// What `agree` says of these fingerprints, one for each rank.
Outcome agreement(const std::vector<Fingerprint>& prints) {
    Gathering gathering(prints.size());
    std::vector<Outcome> outcomes(prints.size());
    {
        std::vector<std::jthread> threads;
        for (std::size_t rank = 0; rank < prints.size(); ++rank)
            threads.emplace_back([&, rank] {
                try {
                    agree(prints[rank], prints.size(), gathering.of(rank));
                } catch (const RanksDifferError& error) {
                    outcomes[rank] = {error.what(), error.line(), 0, 0};
                }
            });
    }
    for (std::size_t rank = 0; rank < prints.size(); ++rank) {
        INFO("rank " << rank);
        CHECK(outcomes[rank].text == outcomes[0].text);
        CHECK(outcomes[rank].line == outcomes[0].line);
        CHECK(gathering.calls()[rank] == gathering.calls()[0]);
    }
    outcomes[0].calls = gathering.calls()[0];
    outcomes[0].most_bytes = gathering.most_bytes();
    return outcomes[0];
}

Lines numbered(std::size_t count) {
    Lines lines;
    for (std::size_t i = 0; i < count; ++i)
        lines.push_back("line " + std::to_string(i));
    return lines;
}

/// An all-gather of one rank.
void alone(std::span<const std::byte> mine, std::span<std::byte> all) {
    std::ranges::copy(mine, all.begin());
}

} // namespace

TEST_CASE("a fingerprint has kinds, labels, kernels, directions and edges", "[ranks]") {
    CHECK(fingerprint(Step().graph()).lines() == Lines{
                                                     R"(node 0: memset "ones")",
                                                     R"(node 1: kernel "axpy" (saxpy), after 0)",
                                                     R"(node 2: memcpy "last" (device to device), after 0 to 1)",
                                                 });
}

TEST_CASE("a fingerprint has the kind of conditionals, and the nodes inside", "[ranks]") {
    if (older_than(12080)) return;
    const DeviceBuffer<float> x(4);
    GraphBuilder b;
    const auto condition = b.condition(1);
    const auto node = b.if_(
        condition, [&](cudag::GraphBuilder& body) { body.memset(x, 1.0f).label("yes"); },
        [&](cudag::GraphBuilder& body) { body.memset(x, 0.0f); });
    GraphBuilder inside;
    inside.memset(x, 2.0f);
    add_child(b, std::move(inside).build()).label("child").after(node);
    const Lines lines = fingerprint(std::move(b).build()).lines();
    REQUIRE(lines.size() == 5);
    CHECK(lines[0] == "node 0: conditional (if, bodies 2)");
    CHECK(Lines(lines.begin() + 1, lines.end()) == Lines{R"(node 0/then/0: memset "yes")", "node 0/else/0: memset",
                                                         R"(node 1: child "child", after 0)",
                                                         "node 1/graph/0: memset"});
}

TEST_CASE("a fingerprint lacks addresses, arguments and sizes, unless sizes are asked for", "[ranks]") {
    const Graph small = Step{.n = 32, .factor = 1.0f}.graph();
    const Graph large = Step{.n = 64, .factor = 2.0f}.graph();
    CHECK(fingerprint(small) == fingerprint(large));
    CHECK(fingerprint(small).hash() == fingerprint(large).hash());
    const Fingerprint with_sizes = fingerprint(small, {.sizes = true});
    CHECK(with_sizes.lines()[1] ==
          R"(node 1: kernel "axpy" (saxpy, grid (1, 1, 1), block (32, 1, 1), shared_bytes 0), after 0)");
    CHECK(with_sizes.hash() != fingerprint(large, {.sizes = true}).hash());
}

TEST_CASE("a fingerprint has the given plan as its last line", "[ranks]") {
    const Graph graph = Step().graph();
    const Fingerprint lanes = fingerprint(graph, {.plan = cudag::Plan{.lanes = 2}});
    REQUIRE(lanes.size() == 4);
    CHECK(lanes.lines()[3] == "plan: reduce, joins, ends, early; plan lanes: 2");
    CHECK(lanes != fingerprint(graph, {.plan = cudag::Plan()}));
}

TEST_CASE("a capture has the fingerprint of the built graph with its nodes", "[ranks]") {
    const DeviceBuffer<float> x(8);
    const cudag::Stream stream;
    const Graph captured = cudag::capture(stream, [&](cudaStream_t s) {
        cudag::check(cudaMemsetAsync(x.data(), 0, 32, s));
        cudag::check(cudaMemsetAsync(x.data(), 0, 16, s));
    });
    GraphBuilder b;
    const auto first = b.memset(x, 1.0f);
    b.memset(x, 2.0f).after(first);
    CHECK(fingerprint(captured) == fingerprint(std::move(b).build()));
}

TEST_CASE("the hash of a fingerprint depends on each line and on their number", "[ranks]") {
    const Fingerprint three = print_of({"a", "b", "c"});
    CHECK(three.hash(2) == print_of({"a", "b", "d"}).hash(2));
    CHECK(three.hash(3) != print_of({"a", "b", "d"}).hash(3));
    CHECK(three.hash(3) == print_of({"a", "b", "c", "d"}).hash(3));
    CHECK(three.hash(4) == three.hash());
    CHECK(three.hash() != print_of({"a", "b", "c", "d"}).hash());
    CHECK(print_of({"12345678", "9"}).hash() != print_of({"123456789"}).hash());
    CHECK(to_string(three) == "a\nb\nc\n");
}

TEST_CASE("a fingerprint of a moved-from or inner graph is refused", "[ranks]") {
    Graph graph = Step().graph();
    const Graph other = std::move(graph);
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(fingerprint(graph)); }).what(), // NOLINT: moved-from
               ContainsSubstring("moved-from"));
    GraphBuilder b;
    const auto child = b.child(other); // a clone
    const Graph whole = std::move(b).build();
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(fingerprint(child.graph())); }).what(),
               ContainsSubstring("fingerprint"));
}

TEST_CASE("ranks with equal graphs agree by one all-gather", "[ranks]") {
    const Outcome outcome =
        agreement({fingerprint(Step().graph()), fingerprint(Step{.n = 8}.graph()), fingerprint(Step().graph())});
    CHECK(outcome.text.empty());
    CHECK(outcome.calls == 1);
    CHECK(outcome.most_bytes == 8);
}

TEST_CASE("all ranks name the first line that differs, and who has which", "[ranks]") {
    const Outcome label = agreement(
        {fingerprint(Step().graph()), fingerprint(Step().graph()), fingerprint(Step{.last = "other"}.graph())});
    CHECK(label.line == 2);
    CHECK(label.text ==
          "agree: the graphs of 3 ranks differ; the first difference:\n"
          "  ranks 0, 1: node 2: memcpy \"last\" (device to device), after 0 to 1\n"
          "  rank 2: node 2: memcpy \"other\" (device to device), after 0 to 1\n"
          "A launch would hang or mix up collectives. Make the same nodes in the same order on all ranks: "
          "decide by values that are equal on all of them");
    const Outcome edge = agreement({fingerprint(Step{.is_ordered = false}.graph()), fingerprint(Step().graph())});
    CHECK(edge.line == 1);
    const Outcome kind = agreement({fingerprint(Step().graph()), fingerprint(Step{.is_copied = false}.graph())});
    CHECK(kind.line == 2);
}

TEST_CASE("a rank with fewer nodes has no further node", "[ranks]") {
    const Outcome outcome = agreement({print_of({"a", "b"}), print_of({"a"}), print_of({})});
    CHECK(outcome.line == 0);
    CHECK_THAT(outcome.text, ContainsSubstring("\n  ranks 0, 1: a\n  rank 2: no further node\n"));
    CHECK(agreement({print_of({"a", "b"}), print_of({"a"})}).line == 1);
}

TEST_CASE("a difference at any place is found in logarithmic many all-gathers", "[ranks]") {
    constexpr std::size_t count = 37;
    for (std::size_t at = 0; at < count; ++at) {
        Lines changed = numbered(count);
        changed[at] = "changed";
        const Outcome outcome = agreement({print_of(numbered(count)), print_of(changed)});
        CHECK(outcome.line == at);
        CHECK(outcome.calls <= 9); // hash, size, six halves, line
        CHECK(outcome.most_bytes <= 512);
    }
}

TEST_CASE("many ranks and many lines are counted in the message, and long lines cut", "[ranks]") {
    std::vector<Fingerprint> prints;
    for (int rank = 0; rank < 6; ++rank)
        prints.push_back(print_of({"same"}));
    for (const char* line : {"b", "c", "d", "e"})
        prints.push_back(print_of({line}));
    prints.push_back(print_of({std::string(600, 'x')}));
    const std::string text = agreement(prints).text;
    CHECK_THAT(text, ContainsSubstring("\n  ranks 0, 1, 2 and 3 others: same\n  rank 6: b\n"));
    CHECK_THAT(text, ContainsSubstring("\n  and 2 other lines\n"));
    const std::string cut = agreement({print_of({std::string(600, 'x')}), print_of({"y"})}).text;
    CHECK_THAT(cut, ContainsSubstring("rank 0: " + std::string(509, 'x') + "...\n"));
}

TEST_CASE("one rank agrees with itself", "[ranks]") {
    CHECK_NOTHROW(agree(fingerprint(Step().graph()), 1, alone));
}

TEST_CASE("agree refuses no ranks, an empty all-gather, and one that loses this rank's bytes", "[ranks]") {
    const Fingerprint print = print_of({"a"});
    CHECK_THAT(refused<GraphError>([&] { agree(print, 0, alone); }).what(), ContainsSubstring("agree: 0 ranks"));
    CHECK_THAT(refused<GraphError>([&] { agree(print, 2, {}); }).what(), ContainsSubstring("the all-gather is empty"));
    const AllGather nothing = [](std::span<const std::byte>, std::span<std::byte>) {};
    CHECK_THAT(refused<GraphError>([&] { agree(print, 2, nothing); }).what(),
               ContainsSubstring("the all-gather of 8 bytes for 2 ranks does not return what this rank has sent"));
}

TEST_CASE("what an all-gather throws, agree throws", "[ranks]") {
    const AllGather broken = [](std::span<const std::byte>, std::span<std::byte>) {
        throw std::runtime_error("no network");
    };
    CHECK_THROWS_WITH(agree(print_of({"a"}), 2, broken), "no network");
}

TEST_CASE("all ranks get the tuned plan of one", "[ranks]") {
    const cudag::Stream stream;
    const Graph graph = Step().graph();
    const auto tuned = [&](const cudag::Plan& plan) {
        return cudag::tune(graph, stream, {.candidates = {{plan}}, .repetitions = 1}).plan;
    };
    const std::vector<TunedPlan> plans{tuned({.lanes = 12}), tuned(cudag::Plan::as_written()), tuned({.lanes = 3})};
    for (std::size_t from = 0; from < plans.size(); ++from) {
        Gathering gathering(plans.size());
        std::vector<std::optional<TunedPlan>> got(plans.size());
        {
            std::vector<std::jthread> threads;
            for (std::size_t rank = 0; rank < plans.size(); ++rank)
                threads.emplace_back(
                    [&, rank] { got[rank] = plan_of_rank(from, plans[rank], plans.size(), gathering.of(rank)); });
        }
        for (const auto& plan : got)
            CHECK(plan == plans[from]);
        CHECK(gathering.calls()[0] == 2);
    }
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(plan_of_rank(1, plans[0], 1, alone)); }).what(),
               ContainsSubstring("plan_of_rank: rank 1 of 1; give one from 0 to 0"));
}
