// Inferred edges and races with binds, driven sizes, updates by structure and of children.
#include "races.hpp"

#include "act_nodes.hpp"
#include "acts.hpp"
#include "bench.hpp"
#include "kernels.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;

constexpr unsigned spare_buffers = 3;
constexpr unsigned most_buffers = 6;

/// A node: one act, or a child graph with a line of them.
struct Item {
    std::vector<Act> acts;
    bool is_child = false;
    unsigned most = 0; ///< the size that is driven, at most; 0 if none is
};
using Items = std::vector<Item>;

Accesses accesses_of(const Item& item, bool at_most) {
    Accesses all;
    for (Act act : item.acts) {
        if (at_most && item.most != 0) act.to.count = act.a.count = item.most;
        const Accesses accesses = accesses_of(act);
        all.insert(all.end(), accesses.begin(), accesses.end());
    }
    return all;
}

std::vector<Accesses> accesses_of(const Items& items, bool at_most) {
    std::vector<Accesses> all;
    for (const Item& item : items)
        all.push_back(accesses_of(item, at_most));
    return all;
}

unsigned driven_size(unsigned value, unsigned most) {
    return value % most + 1;
}

/// A graph of items, and its nodes: one of each item, and those inside of its acts.
struct Written {
    std::optional<Graph> graph;
    std::vector<cudag::Node> nodes;
    std::vector<std::vector<cudag::Node>> inside;
};

Graph line_of(const Bench& bench, const std::vector<Act>& acts, std::vector<cudag::Node>& nodes) {
    GraphBuilder b;
    for (const Act& act : acts) {
        const ActNode added = add_act(b, bench, act);
        if (!nodes.empty()) added.after({nodes.back()});
        nodes.push_back(added.node);
    }
    return std::move(b).build();
}

class RacesFuzz {
  public:
    RacesFuzz(Bench& bench, std::uint64_t seed) : bench_(bench), random_(seed), size_(random_.word() % 64) {}

    void run() {
        draw();
        memory_ = fresh_memory(bench_, options_.buffers + spare_buffers);
        write();
        exec_.emplace(written_.graph->instantiate(random_plan()));
        now_ = items_;
        launch();
        const unsigned operations = random_.between(3, 12);
        for (unsigned i = 0; i < operations; ++i) {
            operate();
            if (random_.percent(60)) launch();
        }
        launch();
    }

  private:
    // What is written.

    void draw() {
        options_.buffers = random_.between(2, most_buffers);
        is_inferred_ = random_.percent(50);
        const unsigned count = random_.between(2, 12);
        for (unsigned i = 0; i < count; ++i) {
            Item item;
            item.is_child = random_.percent(12);
            const unsigned acts = item.is_child ? random_.between(1, 4) : 1;
            for (unsigned k = 0; k < acts; ++k)
                item.acts.push_back(random_act(options_, random_));
            Act& act = item.acts[0];
            const bool has_size = act.kind == ActKind::copy || act.kind == ActKind::fill;
            if (!item.is_child && has_size && random_.percent(40)) {
                item.most = act.to.count;
                act.to.count = act.a.count = driven_size(size_.value(), item.most);
            }
            items_.push_back(item);
        }
        const std::vector<Accesses> most = accesses_of(items_, true);
        const unsigned care = random_.percent(60) ? 100 : 75;
        for (unsigned to = 0; to < count; ++to)
            for (unsigned from = 0; from < to; ++from)
                if (random_.percent(6) || (!is_inferred_ && conflict(most[from], most[to]) && random_.percent(care)))
                    edges_.emplace_back(from, to);
        note("{}", is_inferred_ ? "inferred" : "written");
        for (unsigned i = 0; i < count; ++i) {
            note("{}: {}{}", i, items_[i].is_child ? "child" : "",
                 items_[i].most != 0 ? "driven up to " + std::to_string(items_[i].most) : "");
            for (const Act& act : items_[i].acts)
                note("    {}", describe(act));
        }
        for (const auto& [from, to] : edges_)
            note("  {} after {}", to, from);
    }

    /// Adds the items in `order`, with edges among them.
    void add_items(GraphBuilder& b, const Items& items, const std::vector<unsigned>& order, const Edges& edges,
                   Written& written, bool drives) {
        written.nodes.resize(items.size());
        written.inside.resize(items.size());
        afters_.assign(items.size(), {});
        for (const unsigned i : order) {
            const Item& item = items[i];
            if (item.is_child) {
                std::vector<cudag::Node> inner;
                Graph graph = line_of(bench_, item.acts, inner);
                const bool moves = random_.percent(40);
                const cudag::ChildNode child = moves ? b.child(std::move(graph)) : b.child(graph);
                for (const cudag::Node& node : inner)
                    written.inside[i].push_back(moves ? node : child.inside(node));
                written.nodes[i] = child;
                afters_[i] = [child](const std::vector<cudag::Node>& nodes) { child.after(nodes); };
                continue;
            }
            Act act = item.acts[0];
            if (item.most != 0 && drives) act.to.count = act.a.count = item.most;
            const ActNode added = add_act(b, bench_, act);
            written.nodes[i] = added.node;
            written.inside[i] = {added.node};
            afters_[i] = added.after;
            if (item.most == 0 || !drives) continue;
            const auto count = [most = item.most](unsigned value) { return driven_size(value, most); };
            if (act.kind == ActKind::copy)
                size_.drive(added.node.as<cudag::MemcpyNode>(), count);
            else
                size_.drive(added.node.as<cudag::MemsetNode>(), count);
        }
        for (const auto& [from, to] : edges)
            afters_[to]({written.nodes[from]});
    }

    [[nodiscard]] std::vector<unsigned> in_order() const {
        std::vector<unsigned> order;
        for (unsigned i = 0; i < items_.size(); ++i)
            order.push_back(i);
        return order;
    }

    [[nodiscard]] Order closure_of(const Edges& edges) const {
        Order order(items_.size());
        for (const auto& [from, to] : edges)
            order.add(from, to);
        order.close();
        return order;
    }

    void write() {
        using cudag::Dependencies;
        GraphBuilder b({.dependencies = is_inferred_ ? Dependencies::inferred : Dependencies::as_written});
        add_items(b, items_, in_order(), edges_, written_, true);
        const std::vector<Accesses> most = accesses_of(items_, true);
        if (!is_inferred_) write_as_written(b);
        if (!written_.graph) written_.graph = std::move(b).build();
        order_.emplace(order_of(*written_.graph, written_.nodes));
        require_same_order(*order_, is_inferred_ ? needed_order(most, edges_) : closure_of(edges_), items_.size(),
                           "the graph");
        require(written_.graph->races().empty(), "a graph without races has some");
    }

    /// Where there are races, build() says so, and changes nothing; then they get edges.
    void write_as_written(GraphBuilder& b) {
        const bool racy = has_race(accesses_of(items_, false), closure_of(edges_));
        const bool may_race = has_race(accesses_of(items_, true), closure_of(edges_));
        if (random_.percent(30)) look_at_races(racy, may_race);
        try {
            written_.graph = std::move(b).build();
            require(!racy, "a graph with races is built");
            if (!may_race) return;
            // larger sizes make races: those that would be refused later are not what is tested here
            written_.graph.reset();
            GraphBuilder again;
            order_conflicts();
            written_ = {};
            add_items(again, items_, in_order(), edges_, written_, true);
            written_.graph = std::move(again).build();
        } catch (const cudag::RaceError& error) {
            note("  refused: {}", error.what());
            require(may_race, "a graph without races is refused: {}", error.what());
            ++report->refused;
            const Edges before = edges_;
            order_conflicts();
            for (const auto& [from, to] : edges_)
                if (std::find(before.begin(), before.end(), std::pair(from, to)) == before.end())
                    afters_[to]({written_.nodes[from]});
            written_.graph = std::move(b).build();
        }
    }

    void order_conflicts() {
        const std::vector<Accesses> most = accesses_of(items_, true);
        for (unsigned to = 0; to < items_.size(); ++to)
            for (unsigned from = 0; from < to; ++from)
                if (conflict(most[from], most[to]) &&
                    std::find(edges_.begin(), edges_.end(), std::pair(from, to)) == edges_.end())
                    edges_.emplace_back(from, to);
    }

    void look_at_races(bool racy, bool may_race) {
        GraphBuilder b({.races = cudag::Races::allowed});
        Written written;
        const auto afters = afters_; // of the graph that is written
        add_items(b, items_, in_order(), edges_, written, false);
        afters_ = afters;
        const Graph graph = std::move(b).build();
        const Order order = order_of(graph, written.nodes);
        const std::vector<cudag::Race> races = graph.races();
        require(racy == may_race ? racy != races.empty() : true, "races() tells {} of a graph that has {}",
                races.size(), racy ? "some" : "none");
        const std::vector<Accesses> most = accesses_of(items_, true);
        for (const cudag::Race& race : races) {
            const auto number = [&](const cudag::Node& node) {
                const auto found = std::find(written.nodes.begin(), written.nodes.end(), node);
                require(found != written.nodes.end(), "a race of a node that is none of these");
                return static_cast<std::size_t>(found - written.nodes.begin());
            };
            const std::size_t first = number(race.first);
            const std::size_t second = number(race.second);
            require(!order.ordered(first, second) && conflict(most[first], most[second]), "{} and {} do not race",
                    first, second);
            require(!to_string(race).empty(), "a race without words");
        }
    }

    cudag::InstantiateOptions random_plan() {
        if (random_.percent(50)) return {};
        cudag::Plan plan;
        plan.reduce = random_.percent(70);
        plan.joins = random_.percent(70);
        plan.ends = random_.percent(70);
        if (random_.percent(30)) plan.lanes = random_.between(1, 4);
        return {.plan = plan};
    }

    // Launches.

    void launch() {
        const unsigned count = random_.between(1, 2);
        for (unsigned i = 0; i < count; ++i) {
            exec_->launch(bench_.streams[0]);
            ++report->launches;
            for (const Item& item : now_)
                for (const Act& act : item.acts)
                    perform(act, memory_.data());
        }
        bench_.streams[0].synchronize();
        require_memory(bench_, memory_, "a launch");
    }

    // Operations. `now_` is what the exec has, `items_` what its graph has.

    void operate() {
        const unsigned chance = random_.below(100);
        if (chance < 30) return bind();
        if (chance < 50) return update();
        if (chance < 62) return set();
        if (chance < 70) return apply();
        if (chance < 82) return update_whole();
        if (chance < 92) return update_child();
        clone();
    }

    /// Copies between ranges that overlap are undefined.
    static bool is_defined(const Items& items) {
        return std::all_of(items.begin(), items.end(), [](const Item& item) {
            return std::all_of(item.acts.begin(), item.acts.end(),
                               [](const Act& act) { return act.kind != ActKind::copy || !overlap(act.to, act.a); });
        });
    }

    /// An operation that makes `next` of the exec, unless that has races: then it is refused. It may be refused for
    /// races that larger sizes would make.
    template <class Operation>
    void attempt(const char* what, const Items& next, Operation&& operation) {
        const bool racy = has_race(accesses_of(next, false), *order_);
        try {
            operation();
        } catch (const cudag::RaceError& error) {
            note("  refused: {}", error.what());
            require(racy || has_race(accesses_of(next, true), *order_), "{} without races is refused: {}", what,
                    error.what());
            require(cudaGetLastError() == cudaSuccess, "a refusal leaves CUDA's last error");
            ++report->refused;
            return;
        }
        require(!racy, "{} makes a race", what);
        now_ = next;
    }

    static void move_words(Words& words, const Words& in_graph, unsigned from, unsigned to) {
        if (in_graph.buffer() == from) words.first = to * buffer_stride + in_graph.offset();
    }

    void bind() {
        if (is_scrambled_) return;
        const unsigned from = random_.below(options_.buffers);
        const unsigned to = random_.below(options_.buffers + spare_buffers);
        Items next = now_;
        bool is_used = false;
        bool is_declared = false; // by a node that has no address of it
        std::size_t changed = 0;
        for (std::size_t i = 0; i < next.size(); ++i)
            for (std::size_t k = 0; k < next[i].acts.size(); ++k) {
                Act& act = next[i].acts[k];
                const Act& in_graph = items_[i].acts[k];
                const bool has_inputs = act.kind == ActKind::combine || act.kind == ActKind::host;
                const bool uses = in_graph.to.buffer() == from ||
                                  ((has_inputs || act.kind == ActKind::copy) && in_graph.a.buffer() == from) ||
                                  (has_inputs && in_graph.b.buffer() == from);
                if (act.kind == ActKind::host) {
                    is_declared = is_declared || uses;
                    continue;
                }
                is_used = is_used || uses;
                const Act before = act;
                move_words(act.to, in_graph.to, from, to);
                if (has_inputs || act.kind == ActKind::copy) move_words(act.a, in_graph.a, from, to);
                if (has_inputs) move_words(act.b, in_graph.b, from, to);
                if (!(act == before)) ++changed;
            }
        if (!is_defined(next)) return;
        note("bind buffer {} to buffer {}: {} nodes change", from, to, changed);
        if (!params_[from]) params_[from].emplace(span_of(bench_, buffer_at(from)));
        const auto call = [&] { return exec_->bind(*params_[from], span_of(bench_, buffer_at(to))); };
        if (!is_used || is_declared) {
            try {
                static_cast<void>(call());
            } catch (const cudag::UpdateError&) {
                ++report->refused;
                return;
            }
            wrong("a bind of a parameter that nothing uses, or that only a declaration names, is not refused");
        }
        attempt("a bind", next, [&] {
            const std::size_t count = call();
            require(count == changed, "bind has changed {} nodes, not {}", count, changed);
        });
    }

    struct Place {
        std::size_t item;
        std::size_t act;
    };
    std::optional<Place> pick_act() {
        const std::size_t item = random_.below(items_.size());
        if (items_[item].most != 0) return std::nullopt;
        return Place{item, random_.below(items_[item].acts.size())};
    }

    void update() {
        const std::optional<Place> place = pick_act();
        if (!place || is_scrambled_) return;
        Items next = now_;
        Act& act = next[place->item].acts[place->act];
        act = moved_act(act, options_, random_);
        note("update {}: {}", place->item, describe(act));
        attempt("an update", next, [&] { update_act(*exec_, bench_, written_.inside[place->item][place->act], act); });
    }

    void set() {
        if (is_scrambled_ || was_replaced_) return;
        const unsigned value = random_.below(64);
        Items next = now_;
        std::size_t driven = 0;
        for (Item& item : next) {
            if (item.most == 0) continue;
            ++driven;
            Act& act = item.acts[0];
            act.to.count = act.a.count = driven_size(value, item.most);
        }
        note("set the size to {}", value);
        attempt("a size", next, [&] {
            const std::size_t count = size_.set(value, *exec_);
            require(count == driven, "set has changed {} nodes, not {}", count, driven);
        });
    }

    /// Salts in the graph, which bring the exec's node back to what the graph has.
    void apply() {
        const std::optional<Place> place = pick_act();
        if (!place || is_scrambled_ || was_replaced_) return;
        Act& act = items_[place->item].acts[place->act];
        act.salt = random_.word();
        update_act(*written_.graph, bench_, written_.inside[place->item][place->act], act);
        pending_.push_back(*place);
        Items next = now_;
        for (const Place& changed : pending_)
            next[changed.item].acts[changed.act] = items_[changed.item].acts[changed.act];
        note("apply, with {}", describe(act));
        const bool racy = has_race(accesses_of(next, false), *order_);
        attempt("apply", next, [&] { static_cast<void>(exec_->apply(*written_.graph)); });
        if (!racy) pending_.clear();
    }

    /// Another graph with the same edges: in the same order, or in another one by structure.
    void update_whole() {
        Items next = items_;
        for (Item& item : next) {
            if (item.most != 0) item.acts[0].to.count = item.acts[0].a.count = item.most;
            for (Act& act : item.acts)
                act.salt = random_.word();
        }
        const bool by_structure = random_.percent(50);
        Edges edges;
        for (const cudag::Edge& edge : written_.graph->edges()) {
            const auto number = [&](const cudag::Node& node) {
                return std::find(written_.nodes.begin(), written_.nodes.end(), node) - written_.nodes.begin();
            };
            const auto from = static_cast<std::size_t>(number(edge.from));
            const auto to = static_cast<std::size_t>(number(edge.to));
            if (from >= items_.size() || to >= items_.size()) return;
            edges.emplace_back(static_cast<unsigned>(from), static_cast<unsigned>(to));
        }
        GraphBuilder b;
        Written written;
        add_items(b, next, by_structure ? shuffled() : in_order(), edges, written, false);
        std::optional<Graph> graph;
        try {
            graph.emplace(std::move(b).build());
        } catch (const cudag::RaceError&) {
            require(!is_inferred_, "edges that were inferred leave a race");
            return; // of sizes that are less in the exec's graph
        }
        note("update to another graph by {}", by_structure ? "structure" : "order");
        const cudag::UpdateReport result =
            exec_->update(*graph, {by_structure ? cudag::Match::structure : cudag::Match::order});
        require(result.updated(), "{}", result.to_string());
        now_ = next;
        is_scrambled_ = by_structure;
        was_replaced_ = true;
    }

    /// An order of addition in which edges may lead anywhere.
    std::vector<unsigned> shuffled() {
        std::vector<unsigned> order = in_order();
        for (std::size_t i = order.size(); i > 1; --i)
            std::swap(order[i - 1], order[random_.below(i)]);
        return order;
    }

    void update_child() {
        if (is_scrambled_) return;
        const std::size_t i = random_.below(items_.size());
        if (!items_[i].is_child) return;
        Items next = now_;
        for (Act& act : next[i].acts)
            act = moved_act(act, options_, random_);
        std::vector<cudag::Node> nodes;
        const Graph graph = line_of(bench_, next[i].acts, nodes);
        note("update of child {}", i);
        for (const Act& act : next[i].acts)
            note("    {}", describe(act));
        attempt("an update of a child", next, [&] { exec_->update(written_.nodes[i].as<cudag::ChildNode>(), graph); });
    }

    void clone() {
        note("clone");
        const Graph copy = written_.graph->clone();
        std::vector<cudag::Node> nodes;
        for (const cudag::Node& node : written_.nodes)
            nodes.push_back(copy.counterpart(node));
        require_same_order(order_of(copy, nodes), *order_, items_.size(), "the clone");
        require(copy.races().empty(), "a clone has races");
    }

    Bench& bench_;
    Random random_;
    ActOptions options_;
    bool is_inferred_ = false;
    cudag::DynamicParam<unsigned> size_;
    Items items_;
    Edges edges_;
    Written written_;
    std::vector<std::function<void(const std::vector<cudag::Node>&)>> afters_;
    std::optional<Order> order_;
    std::optional<Exec> exec_;
    Items now_;
    std::vector<Place> pending_; ///< what the graph has got since the exec was given it
    bool is_scrambled_ = false;  ///< nodes that look alike may have changed places
    bool was_replaced_ = false;  ///< the exec has the sizes of another graph
    std::array<std::optional<cudag::BufferParam<std::uint32_t>>, most_buffers> params_;
    std::vector<std::uint32_t> memory_;
};

} // namespace

void fuzz_races(Bench& bench, std::uint64_t seed) {
    run_leaving_nothing<RacesFuzz>(bench, seed);
}
