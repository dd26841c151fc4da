// Random programs that take nodes and edges back, beside the same without what they took back.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "cuda_edges.hpp"
#include "random_seeds.hpp"
#include "test.hpp"

using cudag::CapturedNode;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::launch;
using cudag::Node;
using cudag::Stream;

namespace {

enum class Kind { kernel, join, memset, child, region, conditional };

struct Dependency {
    std::size_t from;
    bool stays;
};

/// Something that a program writes: when it is taken back, if it is, is a number of steps.
struct Step {
    Kind kind;
    std::vector<Dependency> after;
    std::optional<std::size_t> removed_at;
};

struct Program {
    std::vector<Step> steps;

    [[nodiscard]] bool stays(std::size_t step) const { return !steps[step].removed_at; }
};

Program random_program(std::mt19937& random) {
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    Program program;
    const std::size_t count = 1 + below(24);
    const std::size_t removals = below(4); // of four
    for (std::size_t i = 0; i < count; ++i) {
        Step step{static_cast<Kind>(below(6)), {}, {}};
        for (std::size_t edges = i == 0 ? 0 : below(4); edges != 0; --edges)
            step.after.push_back({below(i), below(5) != 0});
        std::ranges::sort(step.after, {}, &Dependency::from);
        step.after.erase(std::unique(step.after.begin(), step.after.end(),
                                     [](const Dependency& a, const Dependency& b) { return a.from == b.from; }),
                         step.after.end());
        // a condition that is left over gets a node
        if (step.kind != Kind::conditional && below(4) < removals) step.removed_at = i + 1 + below(count - i);
        program.steps.push_back(step);
    }
    return program;
}

/// Writes a program: all of it, or what it leaves.
class Writer {
  public:
    Writer(const Program& program, std::uint32_t* cells, bool all) : program_(program), cells_(cells), all_(all) {}

    Graph write() {
        const std::size_t count = program_.steps.size();
        for (std::size_t i = 0; i <= count; ++i) {
            remove_at(i);
            if (i == count) break;
            made_.emplace_back();
            if (all_ || program_.stays(i)) add_step(i);
        }
        return std::move(b_).build();
    }
    /// Handles of the nodes that stay, but for regions.
    [[nodiscard]] std::vector<Node> kept() const {
        std::vector<Node> nodes;
        for (std::size_t i = 0; i < made_.size(); ++i)
            if (const auto* node = std::get_if<Node>(&made_[i]); node != nullptr && program_.stays(i))
                nodes.push_back(*node);
        return nodes;
    }

  private:
    using Made = std::variant<std::monostate, Node, CapturedNode>;

    /// The cells of what stays before step `step`.
    [[nodiscard]] Inputs inputs_of(std::size_t step) const {
        Inputs inputs{};
        for (const Dependency& before : program_.steps[step].after)
            if (before.stays && program_.stays(before.from) && program_.steps[before.from].kind != Kind::join)
                inputs.cells[inputs.count++] = static_cast<unsigned>(before.from);
        return inputs;
    }

    void add_step(std::size_t i) {
        const Inputs inputs = inputs_of(i);
        const auto cell = static_cast<unsigned>(i);
        const auto mixes = [&](GraphBuilder& b) { return b.kernel({}, mix, cells_, cell, inputs, cell).label("mix"); };
        switch (program_.steps[i].kind) {
        case Kind::kernel:
            return put(i, mixes(b_));
        case Kind::join:
            return put(i, b_.join(std::vector<Node>()));
        case Kind::memset:
            return put(i, b_.memset(cudag::DeviceSpan(cells_ + i, 1), cell));
        case Kind::child: {
            GraphBuilder inner;
            mixes(inner);
            const Graph graph = std::move(inner).build();
            return put(i, b_.child(graph));
        }
        case Kind::region:
            return put(i, b_.capture(stream_, [&](cudaStream_t s) {
                launch(s, {}, mix, cells_, cell, inputs, 1U);
                launch(s, {}, mix, cells_, cell, inputs, cell);
            }));
        case Kind::conditional:
            return put(i, b_.if_(b_.condition(1), [&](GraphBuilder& body) { mixes(body); }));
        }
    }

    template <class N>
    void put(std::size_t i, const N& node) {
        node.label(std::to_string(i));
        for (const Dependency& before : program_.steps[i].after) {
            if (!all_ && !(before.stays && program_.stays(before.from))) continue;
            std::visit([&](const auto& from) { add_edge(node, from); }, made_[before.from]);
        }
        if constexpr (std::is_same_v<N, CapturedNode>)
            made_[i] = node;
        else
            made_[i] = Node(node);
        if (!all_) return;
        for (const Dependency& before : program_.steps[i].after)
            if (!before.stays) std::visit([&](const auto& from) { remove_edge(node, from); }, made_[before.from]);
    }
    template <class N>
    void add_edge(const N& node, const Node& from) {
        if (!is_gone(from)) node.after(from);
    }
    template <class N>
    void add_edge(const N& node, const CapturedNode& from) {
        if (!is_gone(from)) node.after(from);
    }
    template <class N>
    void add_edge(const N&, std::monostate) {}
    template <class N>
    void remove_edge(const N& node, const Node& from) {
        if (!is_gone(from)) b_.remove_edge(from, node);
    }
    template <class N>
    void remove_edge(const N& node, const CapturedNode& from) {
        if (!is_gone(from)) b_.remove_edge(from, node);
    }
    template <class N>
    void remove_edge(const N&, std::monostate) {}
    template <class N>
    [[nodiscard]] bool is_gone(const N& node) const {
        return std::ranges::find(gone_, Made(node)) != gone_.end();
    }

    void remove_at(std::size_t time) {
        if (!all_) return;
        std::vector<Node> nodes;
        std::vector<CapturedNode> regions;
        for (std::size_t i = 0; i < made_.size(); ++i) {
            if (program_.steps[i].removed_at != time) continue;
            gone_.push_back(made_[i]);
            if (const auto* node = std::get_if<Node>(&made_[i])) nodes.push_back(*node);
            if (const auto* region = std::get_if<CapturedNode>(&made_[i])) regions.push_back(*region);
        }
        std::ranges::reverse(nodes);
        b_.remove(nodes);
        b_.remove(regions);
    }

    const Program& program_;
    std::uint32_t* cells_;
    bool all_;
    Stream stream_;
    GraphBuilder b_{{.races = cudag::Races::allowed}};
    std::vector<Made> made_;
    std::vector<Made> gone_;
};

using Edges = std::vector<std::pair<std::size_t, std::size_t>>;

template <class List>
std::size_t place_of(const List& list, const auto& what) {
    return static_cast<std::size_t>(std::ranges::find(list, what) - list.begin());
}

Edges edges_of(const Graph& graph) {
    const std::vector<Node> nodes = graph.nodes();
    Edges edges;
    for (const auto& edge : graph.edges())
        edges.emplace_back(place_of(nodes, edge.from), place_of(nodes, edge.to));
    return edges;
}

/// Those that CUDA has, sorted.
Edges native_edges_of(const Graph& graph) {
    std::vector<cudaGraphNode_t> nodes;
    for (const Node& node : graph.nodes())
        nodes.push_back(node.native());
    std::size_t count = 0;
    REQUIRE(get_edges(graph.native(), nullptr, nullptr, nullptr, &count) == cudaSuccess);
    std::vector<cudaGraphNode_t> from(count), to(count);
    if (count != 0) REQUIRE(get_edges(graph.native(), from.data(), to.data(), nullptr, &count) == cudaSuccess);
    Edges edges;
    for (std::size_t i = 0; i < count; ++i)
        edges.emplace_back(place_of(nodes, from[i]), place_of(nodes, to[i]));
    std::ranges::sort(edges);
    return edges;
}

std::vector<std::string> labels_of(const Graph& graph) {
    std::vector<std::string> labels;
    for (const Node& node : graph.nodes())
        labels.emplace_back(node.label());
    return labels;
}

std::vector<std::uint32_t> result_of(Exec& exec, const DeviceBuffer<std::uint32_t>& cells) {
    write(cells.span(), std::vector<std::uint32_t>(cells.size(), 77));
    run(exec, Stream());
    return read(cells);
}

} // namespace

TEST_CASE("a program that takes back is the one without what it took back", "[builder][remove][random]") {
    for (unsigned seed = 0; seed < seed_count(300); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const Program program = random_program(random);
        const auto cells = device(std::vector<std::uint32_t>(32, 77));
        Writer written(program, cells.data(), true);
        Writer fresh(program, cells.data(), false);
        const Graph graph = written.write();
        const Graph expected = fresh.write();
        CHECK(labels_of(graph) == labels_of(expected));
        CHECK(edges_of(graph) == edges_of(expected));
        const std::vector<Node> kept = written.kept();
        const std::vector<Node> expected_kept = fresh.kept();
        REQUIRE(kept.size() == expected_kept.size());
        for (std::size_t i = 0; i < kept.size(); ++i) {
            CHECK(kept[i].label() == expected_kept[i].label());
            CHECK(place_of(graph.nodes(), kept[i]) == place_of(expected.nodes(), expected_kept[i]));
        }
        for (const cudag::Plan& plan :
             {cudag::Plan::as_written(), cudag::Plan(), cudag::Plan{.reduce = false, .lanes = 2}}) {
            Exec exec = graph.instantiate({.plan = plan});
            Exec expected_exec = expected.instantiate({.plan = plan});
            CHECK(native_edges_of(graph) == native_edges_of(expected));
            CHECK(result_of(exec, cells) == result_of(expected_exec, cells));
        }
    }
}

TEST_CASE("CUDA updates Execs of a program by one that took back", "[builder][remove][random]") {
    for (unsigned seed = 300; seed < 300 + seed_count(200); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        Program program = random_program(random);
        for (Step& step : program.steps)
            if (step.kind == Kind::conditional) step.kind = Kind::kernel;
        const auto cells = device(std::vector<std::uint32_t>(32, 77));
        const Graph graph = Writer(program, cells.data(), true).write();
        const Graph expected = Writer(program, cells.data(), false).write();
        Exec exec = expected.instantiate({.plan = cudag::Plan::as_written()});
        const cudag::UpdateReport report = exec.update(graph);
        CAPTURE(report.to_string());
        CHECK(report.updated());
        const Graph clone = graph.clone();
        Exec of_clone = clone.instantiate();
        CHECK(result_of(of_clone, cells) == result_of(exec, cells));
    }
}

TEST_CASE("inferred edges are those of the program without what it took back", "[builder][remove][inferred][random]") {
    for (unsigned seed = 0; seed < seed_count(200); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
        struct Add {
            std::size_t to, from;
            bool stays;
            std::optional<std::size_t> after;
        };
        std::vector<Add> program(1 + below(20));
        for (std::size_t i = 0; i < program.size(); ++i) {
            program[i] = {below(5), below(5), below(3) != 0, std::nullopt};
            if (i != 0 && below(4) == 0) program[i].after = below(i);
        }
        const auto cells = device(std::vector<int>{1, 2, 3, 4, 5});
        const auto write = [&](bool all) {
            GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
            std::vector<std::optional<cudag::KernelNode<int*, const int*, int>>> made;
            std::vector<Node> gone;
            for (const Add& step : program) {
                auto& node = made.emplace_back();
                if (!all && !step.stays) continue;
                node = b.kernel({}, add, cells.span().subspan(step.to, 1), cells.span().subspan(step.from, 1), 1);
                const bool orders = step.after && (all || program[*step.after].stays);
                if (orders) node->after(*made[*step.after]);
                if (!step.stays) gone.push_back(*node);
            }
            b.check();
            b.remove(gone);
            return std::move(b).build();
        };
        const Graph graph = write(true);
        const Graph expected = write(false);
        CHECK(edges_of(graph) == edges_of(expected));
    }
}
