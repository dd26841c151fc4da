// The life of the graphs of one plan, beside a model of it in plain C++.
#include "dag.hpp"

#include "inject.hpp"
#include "report.hpp"
#include "round_trip.hpp"
#include "updates.hpp"
#include "writer.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using cudag::Exec;
using cudag::Graph;

constexpr std::uint32_t poison = 0xA5A5A5A5U;

/// A graph, and what is known about it. Its Execs outlive it.
struct Source {
    std::shared_ptr<const Plan> plan;
    std::optional<Graph> graph;
    Nodes nodes;
    bool looked_at = true; ///< whether `nodes` is filled
    Values values;
    std::vector<std::uint64_t> changed; ///< when each node was, by id
    std::uint64_t clock = 0;
    unsigned number = 0;
};

struct Running {
    std::optional<Exec> exec;
    std::shared_ptr<Source> source;
    Values values;
    std::vector<bool> disabled;
    std::uint64_t seen = 0;
    std::uint64_t launches = 0;
    unsigned number = 0;
};

template <class E, class Call>
void expect_refused(const char* what, Call&& call) {
    try {
        call();
    } catch (const E& error) {
        note("  refused, as it is to be: {}", error.what());
        require(cudaGetLastError() == cudaSuccess, "a refusal leaves CUDA's last error");
        ++report->refused;
        return;
    }
    wrong("{} is not refused", what);
}

class DagFuzz {
  public:
    DagFuzz(Bench& bench, std::uint64_t seed, const DagOptions& options)
        : bench_(bench), options_(options), random_(seed), attempts_(seed + 1), injector_(options.faults, attempts_) {}

    void run() {
        auto plan = std::make_shared<Plan>();
        make_plan(*plan, options_.profile, Bench::areas - 80, random_);
        plan_ = plan;
        note("{}", describe(*plan_));
        poison_all();
        labels_ = random_.percent(20);
        add_source(write(plan_, random_values(*plan_, options_.profile, random_)));
        instantiate(sources_.back());
        const unsigned count = random_.between(2, options_.operations);
        for (unsigned i = 0; i < count; ++i) {
            operate();
            if (random_.percent(35)) launch(pick_exec());
        }
        for (Running& running : execs_)
            launch(running);
        bench_.streams[0].synchronize();
    }

    [[nodiscard]] bool ignored_faults() const { return injector_.ignored(); }

  private:
    using Shared = std::shared_ptr<Source>;

    // The model.

    void poison_all() {
        memory_.assign(std::size_t{plan_->areas + extra_areas} * area_words, poison);
        std::copy(memory_.begin(), memory_.end(), bench_.words.begin());
    }

    void compare(const Running& running) {
        for (std::size_t i = 0; i < memory_.size(); ++i)
            if (bench_.words[i] != memory_[i])
                wrong("exec {}: word {} of step {} is {:#x}, not {:#x}", running.number, i % area_words, i / area_words,
                      bench_.words[i], memory_[i]);
    }

    [[nodiscard]] Running& pick_exec() { return random_.pick(execs_); }
    [[nodiscard]] const Shared& pick_source() { return random_.pick(sources_); }
    [[nodiscard]] bool has_exec(const Shared& source) const {
        return std::any_of(execs_.begin(), execs_.end(), [&](const Running& r) { return r.source == source; });
    }

    /// The nodes of a graph that was captured as a whole are asked for when they are needed first.
    static const Nodes& nodes_of(Source& source) {
        if (!source.looked_at) {
            captured_nodes(source.plan->root, source.graph->nodes(), source.nodes);
            source.looked_at = true;
        }
        return source.nodes;
    }

    Shared write(const std::shared_ptr<const Plan>& plan, Values values) {
        auto source = std::make_shared<Source>();
        source->plan = plan;
        source->values = std::move(values);
        source->changed.resize(plan->areas);
        source->looked_at = !plan->root.captured;
        source->number = graph_count_++;
        note("graph {}: {}{}", source->number, plan == plan_ ? "the plan" : "the longer plan",
             labels_ ? ", labelled" : "");
        for (const Step* step : plan->steps)
            if (has_params(step->kind)) note("    {}", describe(*step, source->values[step->id]));
        const WriteOptions options{options_.failing_regions, options_.removals, labels_};
        source->graph.emplace(write_graph(bench_, *plan, source->values, source->nodes, options, attempts_, injector_));
        // the first graph of a third of the seeds, and not each captured one: their nodes are to be asked for late, too
        if (!injector_.active() && source->number == 0 && plan->areas % 3 == 0 && (source->looked_at || labels_))
            check_round_trip(*source->graph);
        return source;
    }

    void add_source(Shared source) { sources_.push_back(std::move(source)); }

    /// An operation that changes nothing if it fails, which the next launches of all Execs show.
    template <class Operation>
    void attempt(const char* what, Operation&& operation) {
        injector_.run(what, operation, [&] {
            bench_.end_captures();
            launch_all(nullptr);
        });
    }

    // Launches.

    void enqueue(Running& running, const cudag::Stream& stream) {
        attempt_launch(running, stream);
        ++running.launches;
        ++report->launches;
        run_oracle(*running.source->plan, running.values, running.disabled, memory_);
    }
    void attempt_launch(Running& running, const cudag::Stream& stream) { running.exec->launch(stream); }

    void launch_all(const Running* without) {
        bench_.streams[1].synchronize(); // no launch of one runs beside those of another
        for (Running& running : execs_) {
            if (&running == without) continue;
            enqueue(running, bench_.streams[0]);
            bench_.streams[0].synchronize();
            compare(running);
        }
    }

    void launch(Running& running) {
        const unsigned count = random_.between(1, 3);
        const cudag::Stream& stream = bench_.streams[random_.below(2)];
        note("exec {} of graph {}: {} launches", running.number, running.source->number, count);
        for (unsigned i = 0; i < count; ++i) {
            if (random_.percent(5)) running.exec->upload(stream);
            enqueue(running, stream);
            while (random_.percent(25))
                change_in_flight(running);
        }
        stream.synchronize();
        compare(running);
        require(running.exec->replays() == running.launches, "exec {} counts {} replays, not {}", running.number,
                running.exec->replays(), running.launches);
        if (!injector_.active() && random_.percent(10)) record(running);
    }

    /// Launches what a capture has recorded of a launch.
    void record(Running& running) {
        note("exec {} of graph {}: a recorded launch", running.number, running.source->number);
        const cudag::Stream& stream = bench_.streams[0];
        try {
            const cudag::Graph graph =
                cudag::capture(stream, [&](cudaStream_t s) { running.exec->launch(s); }, {.allow_empty = true});
            Exec recorded = graph.instantiate();
            recorded.launch(stream);
            stream.synchronize();
        } catch (const cudag::GraphError& error) {
            if (std::string_view(error.what()).find("a whole update has given this Exec") == std::string_view::npos)
                throw;
            return;
        }
        run_oracle(*running.source->plan, running.values, running.disabled, memory_);
        compare(running);
    }

    void change_in_flight(Running& running) {
        if (random_.percent(60))
            update_exec(running);
        else if (random_.percent(50))
            toggle(running);
        else
            apply(running);
    }

    // Operations.

    void operate() {
        const unsigned chance = random_.below(100 + 20 * options_.whole_updates);
        Running& running = pick_exec();
        if (chance < 22) return update_exec(running);
        if (chance < 38) return update_graph(*pick_source());
        if (chance < 50) return apply(running);
        if (chance < 60) return toggle(running);
        if (chance < 66) return clone(pick_source());
        if (chance < 72) return update_child(running);
        if (chance < 76) return instantiate(pick_source());
        if (chance < 80) return replace(running);
        if (chance < 84) return look(*pick_source());
        if (chance < 88) return refuse(running);
        if (chance < 91) return drop_graph();
        if (chance < 94) return update_to_longer(running);
        if (chance < 100) return update_or_instantiate(running);
        update_whole(running);
    }

    /// A step that has parameters; null if the plan has none.
    const Step* pick_step(const Plan& plan) {
        for (int attempt = 0; attempt < 8; ++attempt) {
            const Step* step = plan.steps[random_.below(plan.steps.size())];
            if (has_params(step->kind)) return step;
        }
        return nullptr;
    }

    Params new_params(const Step& step) {
        Params params = random_params(step, random_);
        if (step.kind == Kind::copy_2d) params.inputs.areas[0] = random_.pick(step.visible);
        return params;
    }
    /// CUDA updates copies in one dimension only.
    static bool is_moved(const Step& step, const Params& a, const Params& b) {
        return step.kind == Kind::copy_2d && a.inputs.areas[0] != b.inputs.areas[0];
    }
    static bool moves_copy(const Running& running, const Level& level, const Values& values) {
        return std::any_of(level.steps.begin(), level.steps.end(), [&](const Step& step) {
            return is_moved(step, values[step.id], running.values[step.id]) ||
                   std::any_of(step.bodies.begin(), step.bodies.end(),
                               [&](const Level& body) { return moves_copy(running, body, values); });
        });
    }
    static bool moves_copy(const Running& running, const Source& next) {
        return moves_copy(running, next.plan->root, next.values);
    }

    void update_exec(Running& running) {
        const Step* step = pick_step(*running.source->plan);
        if (step == nullptr) return;
        Source& source = *running.source;
        if (!source.looked_at && !source.graph) return;
        const cudag::Node node = nodes_of(source)[step->id];
        const Form form = static_cast<Form>(random_.below(4));
        const Params next = changed(*step, running.values[step->id], new_params(*step), form);
        note("exec {}: update {}, form {}", running.number, describe(*step, next), static_cast<int>(form));
        const Function handle = source.values[step->id].function;
        const auto update = [&] { update_step(*running.exec, bench_, node, *step, next, form, handle); };
        if (step->kind == Kind::copy_2d) {
            if (is_moved(*step, next, running.values[step->id]) && !injector_.active())
                expect_refused<cudag::UpdateError>("an update of a copy in two dimensions", update);
            return;
        }
        if (step->kind == Kind::kernel && handle != next.function && form != Form::shape) {
            if (!injector_.active())
                expect_refused<cudag::UpdateError>("an update by a handle of another kernel", update);
            return;
        }
        if (step->kind == Kind::kernel && handle != next.function) return; // the shape alone suits any kernel
        attempt("update of an exec", update);
        running.values[step->id] = next;
    }

    void update_graph(Source& source) {
        if (!source.graph) return;
        const unsigned count = random_.between(1, 4);
        for (unsigned i = 0; i < count; ++i) {
            const Step* step = pick_step(*source.plan);
            if (step == nullptr) return;
            if (step->kind == Kind::copy_2d && !random_.percent(15)) continue; // which no Exec takes
            const Form form = static_cast<Form>(random_.below(4));
            const Params next = changed(*step, source.values[step->id], new_params(*step), form);
            note("graph {}: update {}, form {}", source.number, describe(*step, next), static_cast<int>(form));
            const cudag::Node node = nodes_of(source)[step->id];
            attempt("update of a graph",
                    [&] { update_step(*source.graph, bench_, node, *step, next, form, next.function); });
            source.values[step->id] = next;
            source.changed[step->id] = ++source.clock;
        }
    }

    void apply(Running& running) {
        Source& source = *running.source;
        if (!source.graph) return;
        std::size_t count = 0;
        bool region = false;
        bool same_region = false;
        Values values = running.values;
        for (const Step* step : source.plan->steps) {
            if (source.changed[step->id] <= running.seen) continue;
            ++count;
            if (step->kind == Kind::copy_2d) {
                const bool moved = is_moved(*step, source.values[step->id], values[step->id]);
                (moved ? region : same_region) = true;
            }
            values[step->id] = source.values[step->id];
        }
        note("exec {}: apply graph {}, {} nodes", running.number, source.number, count);
        if (region && !injector_.active())
            return expect_refused<cudag::UpdateError>("the application of a copy in two dimensions",
                                                      [&] { static_cast<void>(running.exec->apply(*source.graph)); });
        if (region || same_region) return; // CUDA takes no update of such a copy, not even to what it is
        std::size_t pushed = 0;
        attempt("apply", [&] { pushed = running.exec->apply(*source.graph); });
        require(pushed == count, "apply has changed {} nodes, not {}", pushed, count);
        running.values = std::move(values);
        running.seen = source.clock;
    }

    void toggle(Running& running) {
        const Step* step = pick_step(*running.source->plan);
        if (step == nullptr) return;
        Source& source = *running.source;
        if (!source.looked_at && !source.graph) return;
        const cudag::Node node = nodes_of(source)[step->id];
        const bool can = step->kind == Kind::kernel || step->kind == Kind::copy || step->kind == Kind::copy_2d ||
                         step->kind == Kind::fill || step->kind == Kind::fill_2d;
        if (!can) {
            if (step->kind != Kind::set && step->kind != Kind::count && !injector_.active()) {
                note("exec {}: disable {}", running.number, step->id);
                expect_refused<cudag::UpdateError>("the disabling of such a node",
                                                   [&] { running.exec->disable(node); });
            }
            return;
        }
        const bool disable = random_.percent(60);
        note("exec {}: {} {}", running.number, disable ? "disable" : "enable", step->id);
        attempt("enable or disable", [&] {
            if (disable)
                running.exec->disable(node);
            else
                running.exec->enable(node);
        });
        running.disabled[step->id] = disable;
        require(running.exec->is_enabled(node) != disable, "step {} is not {}", step->id,
                disable ? "disabled" : "enabled");
    }

    void clone(const Shared& from) {
        if (!from->graph || sources_.size() > 4) return;
        note("graph {}: clone", from->number);
        auto source = std::make_shared<Source>();
        source->plan = from->plan;
        attempt("clone", [&] { source->graph.emplace(from->graph->clone()); });
        source->nodes = nodes_of(*from);
        for (cudag::Node& node : source->nodes)
            if (node != cudag::Node()) node = source->graph->counterpart(node);
        source->values = from->values;
        source->changed.resize(from->plan->areas);
        source->number = graph_count_++;
        note("  it is graph {}", source->number);
        add_source(source);
        if (random_.percent(70)) instantiate(source);
    }

    /// How CUDA gets the edges: it must make no difference.
    cudag::InstantiateOptions random_options() {
        if (random_.percent(40)) return {};
        cudag::Plan plan;
        plan.reduce = random_.percent(70);
        plan.joins = random_.percent(70);
        plan.ends = random_.percent(70);
        plan.early = random_.percent(70);
        if (random_.percent(50)) plan.lanes = random_.between(1, 6);
        note("  reduce {}, joins {}, ends {}, early {}, lanes {}", plan.reduce, plan.joins, plan.ends, plan.early,
             plan.lanes);
        return {.plan = plan};
    }

    void instantiate(const Shared& source) {
        if (!source->graph || execs_.size() > 5) return;
        note("graph {}: instantiate", source->number);
        Running running;
        const cudag::InstantiateOptions options = random_options();
        attempt("instantiate", [&] { running.exec.emplace(source->graph->instantiate(options)); });
        adopt(running, source);
        running.number = exec_count_++;
        note("  it is exec {}", running.number);
        execs_.push_back(std::move(running));
    }

    static void adopt(Running& running, const Shared& source) {
        running.source = source;
        running.values = source->values;
        running.disabled.assign(source->plan->areas, false);
        running.seen = source->clock;
    }

    /// The Exec is destroyed, launched or not, and made anew.
    void replace(Running& running) {
        const Shared source = running.source;
        if (!source->graph) return;
        note("exec {}: made anew", running.number);
        if (random_.percent(50)) enqueue(running, bench_.streams[0]);
        running.exec.reset();
        const cudag::InstantiateOptions options = random_options();
        attempt_others(running, [&] { running.exec.emplace(source->graph->instantiate(options)); });
        adopt(running, source);
        running.launches = 0;
        bench_.streams[0].synchronize();
    }
    template <class Operation>
    void attempt_others(const Running& without, Operation&& operation) {
        injector_.run("instantiate", operation, [&] { launch_all(&without); });
    }

    void look(Source& source) {
        if (!source.graph) return;
        const unsigned what = random_.below(4);
        note("graph {}: look at it, {}", source.number, what);
        const Graph& graph = *source.graph;
        if (what == 0)
            require(graph.nodes().size() == source.plan->root.steps.size(), "graph {} has {} nodes", source.number,
                    graph.nodes().size());
        if (what == 1) require(graph.edge_count() == graph.edges().size(), "edges");
        if (what == 2) require(!graph.dot().empty(), "dot");
        if (what == 3 && labels_ && source.looked_at)
            for (std::size_t id = 0; id < source.nodes.size(); ++id)
                if (source.nodes[id] != cudag::Node() && !source.plan->root.captured) {
                    const std::vector<cudag::Node> found = graph.find("s" + std::to_string(id));
                    if (found.empty()) continue; // in a captured child
                    require(found.size() == 1 && found[0] == source.nodes[id], "s{} is found as another node", id);
                }
    }

    void refuse(Running& running) {
        if (injector_.active()) return;
        const Shared& other = pick_source();
        if (other == running.source || !other->graph) return;
        const Step* step = pick_step(*other->plan);
        if (step == nullptr || step->id >= running.source->plan->areas) return;
        note("exec {}: update by a handle of graph {}", running.number, other->number);
        const cudag::Node node = nodes_of(*other)[step->id];
        const Params& params = other->values[step->id];
        expect_refused<cudag::UpdateError>("a handle of another graph", [&] {
            update_step(*running.exec, bench_, node, *step, params, Form::all, params.function);
        });
        expect_refused<cudag::UpdateError>("the application of another graph",
                                           [&] { static_cast<void>(running.exec->apply(*other->graph)); });
    }

    /// The Execs of a graph that is gone go on.
    void drop_graph() {
        const Shared source = pick_source();
        if (sources_.size() < 2 || !source->graph) return;
        note("graph {}: gone", source->number);
        if (has_exec(source)) static_cast<void>(nodes_of(*source));
        source->graph.reset();
        sources_.erase(std::find(sources_.begin(), sources_.end(), source));
    }

    // Whole updates.

    /// Changes some nodes of a graph that is to update an Exec.
    Shared next_graph(const std::shared_ptr<const Plan>& plan) {
        Shared next = write(plan, random_values(*plan, options_.profile, random_));
        if (random_.percent(40)) update_graph(*next);
        if (random_.percent(25)) look(*next);
        return next;
    }

    /// The order of conditions is that of the calls that made them, failed ones included.
    [[nodiscard]] bool can_update_whole(const Plan& plan) const {
        return !injector_.active() || !plan.has_conditions();
    }

    void update_whole(Running& running) {
        const std::shared_ptr<const Plan> plan = running.source->plan;
        if (!can_update_whole(*plan)) return;
        Shared next;
        const unsigned way = random_.below(10);
        if (way == 0 && running.source->graph) {
            next = running.source;
        } else if (way < 3) {
            next = pick_source();
            if (!next->graph || next->plan != plan) next = next_graph(plan);
        } else {
            next = next_graph(plan);
        }
        const bool refused = moves_copy(running, *next);
        const bool by_structure = !refused && has_same_functions(running, *next) && random_.percent(40);
        const cudag::UpdateOptions update{by_structure ? cudag::Match::structure : cudag::Match::order};
        note("exec {}: update to graph {} by {}{}", running.number, next->number, to_string(update.match),
             refused ? ", which is refused" : "");
        attempt("update to a graph", [&] {
            const cudag::UpdateReport result = running.exec->update(*next->graph, update);
            require(result.updated() != refused && result.needs_instantiate() == refused, "{}", result.to_string());
        });
        if (!refused) take(running, *next);
    }

    /// Nodes are paired in their order then, by structure, too.
    static bool has_same_functions(const Running& running, const Source& next) {
        return std::equal(next.values.begin(), next.values.end(), running.values.begin(), running.values.end(),
                          [](const Params& a, const Params& b) { return a.function == b.function; });
    }

    static void take(Running& running, const Source& next) {
        running.values = next.values;
        if (running.source.get() == &next) running.seen = next.clock;
    }

    void update_or_instantiate(Running& running) {
        const std::shared_ptr<const Plan> plan = running.source->plan;
        if (!can_update_whole(*plan)) return;
        const Shared next = next_graph(plan);
        const bool instance = moves_copy(running, *next);
        note("exec {}: update_or_instantiate to graph {}{}", running.number, next->number,
             instance ? ", a new instance" : "");
        attempt("update_or_instantiate", [&] {
            const cudag::UpdateReport result = running.exec->update_or_instantiate(*next->graph);
            require(result.updated() != instance, "{}", result.to_string());
        });
        if (!instance) return take(running, *next);
        adopt(running, next);
        running.launches = running.exec->replays();
    }

    /// Another structure: refused, or instantiated.
    void update_to_longer(Running& running) {
        if (injector_.active() || running.source->plan != plan_) return;
        if (!longer_ || random_.percent(30)) {
            auto plan = std::make_shared<Plan>();
            extend_plan(*plan, *plan_, random_.between(1, extra_areas));
            longer_ = plan;
        }
        const Shared next = next_graph(longer_);
        if (random_.percent(60)) {
            note("exec {}: update to graph {}, which is refused", running.number, next->number);
            const cudag::UpdateReport result = running.exec->update(*next->graph);
            require(!result.updated() && result.needs_instantiate(), "{}", result.to_string());
            ++report->refused;
            return;
        }
        note("exec {}: update_or_instantiate to graph {}", running.number, next->number);
        const auto before = running.exec->update_counts();
        const cudag::UpdateReport result = running.exec->update_or_instantiate(*next->graph);
        require(!result.updated(), "an update to a longer graph");
        const auto after = running.exec->update_counts();
        require(after.instantiated + after.switched == before.instantiated + before.switched + 1, "no other instance");
        adopt(running, next);
        running.launches = running.exec->replays();
    }

    void update_child(Running& running) {
        Source& source = *running.source;
        std::vector<const Step*> children;
        for (const Step* step : source.plan->steps)
            if (step->kind == Kind::child) children.push_back(step);
        if (children.empty() || (!source.looked_at && !source.graph)) return;
        const Step& step = *children[random_.below(children.size())];
        Values values = random_values(*source.plan, options_.profile, random_);
        Nodes nodes;
        const bool refused = moves_copy(running, step.bodies[0], values);
        note("exec {}: update of child {} to a graph{}", running.number, step.id, refused ? ", which is refused" : "");
        const WriteOptions options{.failing_regions = options_.failing_regions, .removals = options_.removals};
        Graph next = write_level(bench_, *source.plan, step.bodies[0], values, nodes, options, attempts_, injector_);
        const auto child = nodes_of(source)[step.id].as<cudag::ChildNode>();
        const auto update = [&] { running.exec->update(child, next); };
        if (refused) {
            if (!injector_.active())
                expect_refused<cudag::UpdateError>("an update of a child that moves a copy", update);
            return;
        }
        attempt("update of a child", update);
        take_inside(running, step.bodies[0], values);
    }
    void take_inside(Running& running, const Level& level, const Values& values) {
        for (const Step& step : level.steps) {
            running.values[step.id] = values[step.id];
            if (has_params(step.kind)) note("    {}", describe(step, values[step.id]));
            for (const Level& body : step.bodies)
                take_inside(running, body, values);
        }
    }

    static constexpr unsigned extra_areas = 70;

    Bench& bench_;
    const DagOptions& options_;
    Random random_;
    Random attempts_; ///< draws what leaves no trace
    Injector injector_;
    std::shared_ptr<const Plan> plan_;
    std::shared_ptr<const Plan> longer_;
    std::vector<std::uint32_t> memory_;
    bool labels_ = false;
    unsigned graph_count_ = 0;
    unsigned exec_count_ = 0;
    std::vector<Shared> sources_;
    std::vector<Running> execs_;
};

} // namespace

void fuzz_dag(Bench& bench, std::uint64_t seed, const DagOptions& options) {
    const LeakCheck leaks;
    bool ignored = false;
    {
        DagFuzz fuzz(bench, seed, options);
        try {
            fuzz.run();
        } catch (...) {
            static_cast<void>(cudaDeviceSynchronize());
            bench.end_captures();
            throw;
        }
        ignored = fuzz.ignored_faults();
    }
    if (!ignored) leaks.require_nothing_left(false);
}
