// Captured regions with declarations, in builders.
#include "races.hpp"

#include "act_nodes.hpp"
#include "acts.hpp"
#include "bench.hpp"
#include "kernels.hpp"
#include "lanes.hpp"
#include "report.hpp"
#include "runtime.hpp"

#include <cudag/cudag.hpp>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace {

using cudag::GraphBuilder;
using cudag::StreamCapture;

/// A node, or a region of several.
struct Unit {
    std::vector<Act> acts;
    std::vector<LaneStep> lanes; ///< empty: no region
    unsigned first = 0;          ///< the number of its first act in the whole program
};

class RegionsFuzz {
  public:
    RegionsFuzz(Bench& bench, std::uint64_t seed) : bench_(bench), random_(seed) {}

    void run() {
        draw();
        memory_ = fresh_memory(bench_, options_.buffers);
        cudag::Graph graph = write();
        if (random_.percent(25)) {
            cudag::Graph copy = graph.clone();
            for (cudag::Node& node : nodes_)
                node = copy.counterpart(node);
            graph = std::move(copy);
            require_expected_order(graph, "the clone");
        }
        if (random_.percent(20)) relax(graph);
        cudag::Exec exec = graph.instantiate();
        for (unsigned i = 0; i < 3; ++i) {
            launch(exec);
            update(exec);
        }
        launch(exec);
    }

  private:
    void draw() {
        options_.buffers = random_.between(2, 6);
        is_inferred_ = random_.percent(60);
        const unsigned count = random_.between(2, 8);
        unsigned first = 0;
        for (unsigned i = 0; i < count; ++i) {
            Unit unit;
            unit.first = first;
            const bool is_region = random_.percent(50);
            const unsigned acts = is_region ? random_.between(1, 5) : 1;
            std::vector<Accesses> nodes;
            for (unsigned k = 0; k < acts; ++k) {
                unit.acts.push_back(random_act(options_, random_));
                nodes.push_back(accesses_of(unit.acts.back()));
            }
            if (is_region) unit.lanes = draw_lanes(nodes, std::vector<bool>(acts), random_);
            first += acts;
            units_.push_back(unit);
        }
        const std::vector<Accesses> accesses = unit_accesses(false);
        const unsigned care = random_.percent(60) ? 100 : 75;
        for (unsigned to = 0; to < count; ++to)
            for (unsigned from = 0; from < to; ++from)
                if (random_.percent(6) ||
                    (!is_inferred_ && conflict(accesses[from], accesses[to]) && random_.percent(care)))
                    edges_.emplace_back(from, to);
        note("{}", is_inferred_ ? "inferred" : "written");
        for (unsigned i = 0; i < count; ++i) {
            note("unit {}{}", i, units_[i].lanes.empty() ? "" : ", a region");
            for (std::size_t k = 0; k < units_[i].acts.size(); ++k) {
                note("    {}: {}{}", units_[i].first + k, describe(units_[i].acts[k]),
                     units_[i].lanes.empty() ? "" : fmt::format(", stream {}", units_[i].lanes[k].lane));
                if (units_[i].lanes.empty()) continue;
                for (const unsigned from : units_[i].lanes[k].waits)
                    note("        waits for {}", units_[i].first + from);
            }
        }
        for (const auto& [from, to] : edges_)
            note("  {} after {}", to, from);
    }

    /// `at_most`: what a region reads and also writes counts as written as a whole, where the region declares it.
    [[nodiscard]] std::vector<Accesses> unit_accesses(bool at_most) const {
        std::vector<Accesses> all;
        for (const Unit& unit : units_) {
            Accesses accesses;
            for (const Act& act : unit.acts) {
                const Accesses more = accesses_of(act);
                accesses.insert(accesses.end(), more.begin(), more.end());
            }
            if (at_most && !unit.lanes.empty()) count_as_written(accesses);
            all.push_back(accesses);
        }
        return all;
    }

    static void count_as_written(Accesses& accesses) {
        const Accesses before = accesses;
        for (Access& access : accesses)
            for (const Access& other : before)
                if (other.use == Use::write && overlap(access.words, other.words)) access.use = Use::write;
    }

    [[nodiscard]] Order unit_order(bool at_most) const {
        if (is_inferred_) return needed_order(unit_accesses(at_most), edges_);
        Order order(units_.size());
        for (const auto& [from, to] : edges_)
            order.add(from, to);
        order.close();
        return order;
    }

    /// Of all acts: regions are ordered as a whole.
    [[nodiscard]] Order expected_order(bool at_most) const {
        const Order units = unit_order(at_most);
        Order order(nodes_.size());
        for (std::size_t a = 0; a < units_.size(); ++a) {
            if (!units_[a].lanes.empty()) {
                const Order inner = order_of_lanes(units_[a].lanes);
                for (std::size_t from = 0; from < inner.size(); ++from)
                    for (std::size_t to = 0; to < inner.size(); ++to)
                        if (inner.before(from, to)) order.add(units_[a].first + from, units_[a].first + to);
            }
            for (std::size_t b = 0; b < units_.size(); ++b) {
                if (!units.before(a, b)) continue;
                for (std::size_t from = 0; from < units_[a].acts.size(); ++from)
                    for (std::size_t to = 0; to < units_[b].acts.size(); ++to)
                        order.add(units_[a].first + from, units_[b].first + to);
            }
        }
        order.close();
        return order;
    }

    void require_expected_order(const cudag::Graph& graph, const char* what) const {
        require_order_between(order_of(graph, nodes_), expected_order(false), expected_order(true), nodes_.size(),
                              what);
    }

    /// How units come after others.
    struct Handle {
        std::function<void(const Handle&)> after_this; ///< lets the other one come after this
        std::function<void(const cudag::Node&)> after_node;
        std::function<void(const cudag::CapturedNode&)> after_region;
    };

    template <class N>
    static Handle handle_of(const N& node) {
        Handle handle;
        if constexpr (std::is_same_v<N, cudag::CapturedNode>)
            handle.after_this = [node](const Handle& other) { other.after_region(node); };
        else
            handle.after_this = [node](const Handle& other) { other.after_node(node); };
        handle.after_node = [node](const cudag::Node& other) { node.after(other); };
        handle.after_region = [node](const cudag::CapturedNode& other) { node.after(other); };
        return handle;
    }

    cudag::Graph write() {
        using cudag::Dependencies;
        GraphBuilder b({.dependencies = is_inferred_ ? Dependencies::inferred : Dependencies::as_written});
        std::vector<Handle> handles;
        for (const Unit& unit : units_) {
            if (random_.percent(10)) fail(b);
            handles.push_back(unit.lanes.empty() ? add_node(b, unit.acts[0]) : add_region(b, unit));
        }
        for (const auto& [from, to] : edges_)
            handles[from].after_this(handles[to]);
        const bool racy = !is_inferred_ && has_race(unit_accesses(false), unit_order(false));
        const bool may_race = !is_inferred_ && has_race(unit_accesses(true), unit_order(true));
        std::optional<cudag::Graph> graph;
        try {
            graph = std::move(b).build();
            require(!racy, "a graph with races is built");
        } catch (const cudag::RaceError& error) {
            note("  refused: {}", error.what());
            require(may_race, "a graph without races is refused: {}", error.what());
            ++report->refused;
            const std::vector<Accesses> accesses = unit_accesses(true);
            for (unsigned to = 0; to < units_.size(); ++to)
                for (unsigned from = 0; from < to; ++from)
                    if (conflict(accesses[from], accesses[to])) {
                        handles[from].after_this(handles[to]);
                        edges_.emplace_back(from, to);
                    }
            graph = std::move(b).build();
        }
        require_expected_order(*graph, "the graph");
        require(graph->races().empty(), "a graph without races has some");
        return *std::move(graph);
    }

    Handle add_node(GraphBuilder& b, const Act& act) {
        const ActNode added = add_act(b, bench_, act);
        nodes_.push_back(added.node);
        Handle handle;
        handle.after_this = [node = added.node](const Handle& other) { other.after_node(node); };
        handle.after_node = [after = added.after](const cudag::Node& other) { after({other}); };
        handle.after_region = [after = added.after](const cudag::CapturedNode& other) { after(other.tails()); };
        return handle;
    }

    /// What cudag does not know of the region's nodes is declared of the region, or of each node.
    Handle add_region(GraphBuilder& b, const Unit& unit) {
        const cudag::CapturedNode region = b.capture(bench_.captured[0], [&](StreamCapture& c) {
            record_lanes(c, bench_, unit.lanes, [&](unsigned i, cudaStream_t stream) {
                enqueue_act(stream, bench_, unit.acts[i], [&](const auto& owner) { c.retain(owner); });
            });
        });
        const std::vector<cudag::Node> nodes = region.nodes();
        require(nodes.size() == unit.acts.size(), "a region of {} acts has {} nodes", unit.acts.size(), nodes.size());
        const bool as_whole = random_.percent(60);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            nodes_.push_back(nodes[i]);
            const Act& act = unit.acts[i];
            if (!is_opaque(act)) continue;
            if (as_whole)
                region.writes(span_of(bench_, act.to)).reads(span_of(bench_, act.a), span_of(bench_, act.b));
            else
                nodes[i].writes(span_of(bench_, act.to)).reads(span_of(bench_, act.a), span_of(bench_, act.b));
        }
        return handle_of(region);
    }

    /// A region that throws leaves the builder as it was.
    void fail(GraphBuilder& b) {
        const unsigned count = random_.below(3);
        note("a region throws after {} acts", count);
        try {
            static_cast<void>(b.capture(bench_.captured[0], [&](StreamCapture& c) {
                for (unsigned i = 0; i < count; ++i)
                    enqueue_act(c.stream(), bench_, random_act(options_, random_),
                                [&](const auto& owner) { c.retain(owner); });
                throw Planned();
            }));
        } catch (const Planned&) {
            ++report->refused;
            return;
        }
        wrong("what a region throws is lost");
    }

    /// Only what conflicts stays ordered: the regions' acts, too.
    void relax(cudag::Graph& graph) {
        const Order before = order_of(graph, nodes_);
        static_cast<void>(cudag::relax(graph));
        const Order after = order_of(graph, nodes_);
        std::vector<Accesses> accesses;
        for (const Unit& unit : units_)
            for (const Act& act : unit.acts)
                accesses.push_back(accesses_of(act));
        note("relaxed");
        for (std::size_t to = 0; to < nodes_.size(); ++to)
            for (std::size_t from = 0; from < nodes_.size(); ++from) {
                if (from == to) continue;
                const bool needed = before.before(from, to) && conflict(accesses[from], accesses[to]);
                require(after.before(from, to) || !needed, "relaxed: {} must come before {}", from, to);
                require(!after.before(from, to) || before.before(from, to), "relaxed: {} comes before {}", from, to);
            }
        require(graph.races().empty(), "relax makes races");
    }

    void launch(cudag::Exec& exec) {
        exec.launch(bench_.streams[0]);
        ++report->launches;
        for (const Unit& unit : units_)
            for (const Act& act : unit.acts)
                perform(act, memory_.data());
        bench_.streams[0].synchronize();
        require_memory(bench_, memory_, "a launch");
    }

    void update(cudag::Exec& exec) {
        Unit& unit = units_[random_.below(units_.size())];
        const std::size_t i = random_.below(unit.acts.size());
        Act& act = unit.acts[i];
        act.salt = random_.word();
        note("update {} to salt {:#x}", unit.first + i, act.salt);
        if (act.kind == ActKind::combine)
            exec.update(nodes_[unit.first + i].as(fuzz_combine), cudag::arg<6>(act.salt));
        else
            update_act(exec, bench_, nodes_[unit.first + i], act);
    }

    Bench& bench_;
    Random random_;
    ActOptions options_;
    bool is_inferred_ = false;
    std::vector<Unit> units_;
    Edges edges_; ///< between units
    std::vector<cudag::Node> nodes_;
    std::vector<std::uint32_t> memory_;
};

} // namespace

void fuzz_regions(Bench& bench, std::uint64_t seed) {
    run_leaving_nothing<RegionsFuzz>(bench, seed);
}
