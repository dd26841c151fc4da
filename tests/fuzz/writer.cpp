// Writes plans as cudag graphs.
#include "writer.hpp"

#include "kernels.hpp"
#include "updates.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

using cudag::Condition;
using cudag::GraphBuilder;
using cudag::StreamCapture;

namespace {

bool says_lost(const cudag::GraphError& error) {
    return std::string_view(error.what()).find("was lost") != std::string_view::npos;
}

bool is_lost(const GraphBuilder& b) {
    try {
        b.check();
    } catch (const cudag::GraphError& error) {
        return says_lost(error);
    }
    return false;
}

class Writer {
  public:
    Writer(Bench& bench, const Plan& plan, const Values& values, Nodes& nodes, const WriteOptions& options,
           Random& random, Injector& injector)
        : bench_(bench), plan_(plan), values_(values), nodes_(nodes), options_(options), random_(random),
          injector_(injector), conditions_(plan.conditions.size()) {
        nodes_.resize(plan.areas);
    }

    cudag::Graph graph(const Level& level) {
        if (level.captured) return captured_graph(level);
        for (;;) {
            GraphBuilder b({.races = cudag::Races::allowed}); // kernels get all memory, and use parts
            try {
                if (&level == &plan_.root)
                    for (unsigned i = 0; i < plan_.conditions.size(); ++i)
                        if (plan_.conditions[i].early) make_condition(b, i);
                steps(b, level, level.steps.size(), false);
                std::optional<cudag::Graph> graph;
                run(b, "build", [&] { graph = std::move(b).build(); });
                return *std::move(graph);
            } catch (const BuilderLost&) {
                require(is_lost(b), "a builder that was lost works on");
                note("  the builder is lost");
                injector_.leave();
                options_.failing_regions = 0;
                ++lost_;
            }
        }
    }

  private:
    /// An operation on a builder; one that loses it is no wrong under faults.
    template <class Operation>
    void run(GraphBuilder& b, const char* what, Operation&& operation) {
        if (lost_ == 3) return operation();    // a graph of many regions in bodies would hardly ever be written
        if (is_capturing_) return operation(); // what fails is the capture
        try {
            injector_.run(what, operation, [&] {
                bench_.end_captures();
                if (is_lost(b)) throw BuilderLost();
            });
        } catch (const cudag::GraphError& error) {
            if (!says_lost(error)) throw;
            throw BuilderLost();
        }
    }

    void make_condition(GraphBuilder& b, unsigned number) {
        const std::optional<unsigned> initial = plan_.conditions[number].initial;
        run(b, "condition", [&] {
            if (initial)
                conditions_[number] = b.condition(*initial);
            else
                conditions_[number] = b.condition();
        });
    }

    /// What is to be taken back of one level, which steps come after meanwhile.
    class Unwanted {
      public:
        explicit Unwanted(Unwanted*& current) : current_(current), outer_(std::exchange(current, this)) {}
        ~Unwanted() { current_ = outer_; }
        Unwanted(const Unwanted&) = delete;
        Unwanted& operator=(const Unwanted&) = delete;

        Nodes nodes = {};

      private:
        Unwanted*& current_;
        Unwanted* outer_;
    };

    /// Adds a node that writes where step `i` does, and that is wrong between it and those before.
    void add_unwanted(GraphBuilder& b, const Level& level, std::size_t i, bool in_body) {
        const unsigned own = level.steps[i].id;
        const auto add = [&](const char* what, const auto& make) {
            using N = decltype(make());
            N node;
            run(b, what, [&] { node = make(); });
            unwanted_->nodes.push_back(node);
            if (i != 0) run(b, "after", [&] { node.after(nodes_[level.steps[random_.below(i)].id]); });
        };
        const auto spoil = [&](GraphBuilder& to) { return to.kernel({}, fuzz_add, bench_.words.data(), own, own, 1U); };
        switch (random_.below(4)) {
        case 0:
            if (!in_body) return add("host", [&] { return b.host(HostWork{bench_.words.data(), own, Inputs{}, 1U}); });
            [[fallthrough]];
        case 1:
            return add("join", [&] { return b.join(unwanted_->nodes); });
        case 2: {
            GraphBuilder inner;
            spoil(inner);
            const cudag::Graph graph = std::move(inner).build();
            return add("child", [&] { return b.child(graph); });
        }
        default:
            return add("kernel", [&] { return spoil(b); });
        }
    }

    /// One by one, for those that fail to change nothing; or all at once where none can.
    void remove_unwanted(GraphBuilder& b) {
        Nodes nodes = std::exchange(unwanted_->nodes, {});
        if (!injector_.active()) return run(b, "remove", [&] { b.remove(nodes); });
        for (const cudag::Node& node : nodes)
            run(b, "remove", [&] { b.remove(node); });
    }

    /// The first `end` steps of a level.
    void steps(GraphBuilder& b, const Level& level, std::size_t end, bool in_body) {
        std::vector<std::optional<cudag::CapturedNode>> regions(level.steps.size());
        const Unwanted unwanted(unwanted_);
        for (std::size_t i = 0; i < end;) {
            if (!is_capturing_ && random_.percent(options_.removals)) add_unwanted(b, level, i, in_body);
            if (!is_capturing_ && random_.percent(options_.removals)) remove_unwanted(b);
            if (!is_capturing_ && random_.percent(options_.failing_regions)) fail_region(b, in_body);
            const Step& step = level.steps[i];
            std::size_t next = i + 1;
            prepare_condition(b, step);
            if (step.region == none) {
                add(b, level, step, regions);
            } else {
                while (next < end && level.steps[next].region == step.region)
                    prepare_condition(b, level.steps[next++]);
                add_region(b, level, i, next, regions);
            }
            i = next;
        }
        if (!is_capturing_) remove_unwanted(b);
    }

    /// A condition that is not there since the beginning is made just before it is used first.
    void prepare_condition(GraphBuilder& b, const Step& step) {
        if (step.condition == none || step.kind == Kind::count) return;
        const PlannedCondition& condition = plan_.conditions[step.condition];
        if (condition.early || (is_conditional(step.kind) && condition.is_set)) return;
        make_condition(b, step.condition);
    }

    /// What a step comes after.
    template <class N>
    void order(const N& node, const Level& level, const Step& step,
               const std::vector<std::optional<cudag::CapturedNode>>& regions) {
        for (const unsigned earlier : step.after) {
            const Step& from = level.steps[earlier];
            if (from.coarse && regions[earlier])
                node.after(*regions[earlier]);
            else
                node.after(nodes_[from.id]);
        }
        node.after(unwanted_->nodes);
    }

    using Regions = std::vector<std::optional<cudag::CapturedNode>>;

    void add(GraphBuilder& b, const Level& level, const Step& step, const Regions& regions) {
        const auto add = [&](const char* what, const auto& make) {
            using N = decltype(make());
            N node;
            run(b, what, [&] { node = make(); });
            nodes_[step.id] = node;
            run(b, "after", [&] { order(node, level, step, regions); });
            if (options_.labels) run(b, "label", [&] { node.label(fmt::format("s{}", step.id)); });
        };
        write(b, level, step, add);
    }

    /// Two of three kernels declare their waits. It is part of the structure: every version of a step has the same.
    static cudag::LaunchConfig waiting(cudag::LaunchConfig config, const Step& step) {
        config.waits_for_previous = step.id % 3 != 0;
        return config;
    }

    /// Gives `add` what the step is, and the function that makes its node.
    template <class Add>
    void write(GraphBuilder& b, const Level& level, const Step& step, const Add& add) {
        const Params& params = values_[step.id];
        switch (step.kind) {
        case Kind::kernel:
            switch (params.function) {
            case Function::mix:
                add("kernel", [&] {
                    return b.kernel(waiting(config_of(params), step), fuzz_mix, bench_.words, step.id, params.inputs,
                                    params.salt);
                });
                break;
            case Function::add:
                add("kernel", [&] {
                    return b.kernel(waiting(config_of(params), step), fuzz_add, bench_.words.data(), step.id,
                                    first_input(step, params), params.salt);
                });
                break;
            case Function::real:
                add("kernel", [&] {
                    return b.kernel(waiting(config_of(params), step), fuzz_real,
                                    reinterpret_cast<float*>(bench_.words.data()), step.id, first_input(step, params),
                                    real_salt(params));
                });
                break;
            case Function::wide:
                add("kernel", [&] {
                    return b.kernel(waiting(config_of(params), step), fuzz_wide, bench_.words, step.id,
                                    wide_of(params));
                });
                break;
            }
            break;
        case Kind::host:
            add("host", [&] { return b.host(HostWork{bench_.words.data(), step.id, params.inputs, params.salt}); });
            break;
        case Kind::copy:
            add("memcpy", [&] {
                return b.memcpy(words_of(bench_, step.id, step.size),
                                words_of(bench_, first_input(step, params), step.size));
            });
            break;
        case Kind::copy_2d:
            add("memcpy2d", [&] {
                return b.memcpy2d(rows_of(bench_, step.id, step.size),
                                  rows_of(bench_, first_input(step, params), step.size));
            });
            break;
        case Kind::fill:
            with_elements(bench_, step, params,
                          [&](const auto& span, auto value) { add("memset", [&] { return b.memset(span, value); }); });
            break;
        case Kind::fill_2d:
            add("memset2d", [&] { return b.memset2d(rows_of(bench_, step.id, step.size), params.salt); });
            break;
        case Kind::record:
            add("record", [&] { return b.record(bench_.events[params.salt % Bench::event_count]); });
            break;
        case Kind::wait:
            add("wait", [&] { return b.wait(bench_.events[params.salt % Bench::event_count]); });
            break;
        case Kind::join:
            add("join", [&] { return b.join(nodes_[level.steps[step.after[0]].id]); });
            break;
        case Kind::set:
            add("kernel", [&] {
                return b.kernel({}, fuzz_set, bench_.words, step.id, params.inputs, params.salt,
                                *conditions_[step.condition], step.limit);
            });
            break;
        case Kind::count:
            add("kernel", [&] {
                return b.kernel({}, fuzz_count, bench_.words, step.id, params.salt, *conditions_[step.condition],
                                step.limit);
            });
            break;
        case Kind::child:
            add_child(b, step, add);
            break;
        case Kind::if_:
            throw_in_bodies(b, step);
            add("if", [&] { return conditional(b, step, none).as<cudag::IfNode>(); });
            break;
        case Kind::while_:
            throw_in_bodies(b, step);
            add("while", [&] { return conditional(b, step, none).as<cudag::WhileNode>(); });
            break;
        case Kind::switch_:
            throw_in_bodies(b, step);
            add("switch", [&] { return conditional(b, step, none).as<cudag::SwitchNode>(); });
            break;
        }
    }

    template <class Add>
    void add_child(GraphBuilder& b, const Step& step, const Add& add) {
        Nodes inner;
        Writer writer(bench_, plan_, values_, inner, options_, random_, injector_);
        writer.is_capturing_ = is_capturing_;
        cudag::Graph graph = writer.graph(step.bodies[0]);
        if (step.bodies[0].captured) captured_nodes(step.bodies[0], graph.nodes(), inner);
        cudag::ChildNode child;
        add("child", [&] {
            child = step.moved ? b.child(std::move(graph)) : b.child(graph);
            return child;
        });
        for (std::size_t id = 0; id < inner.size(); ++id)
            if (inner[id] != cudag::Node()) nodes_[id] = step.moved ? inner[id] : child.inside(inner[id]);
    }

    /// The conditional; body number `throwing` throws after some of its steps.
    cudag::Node conditional(GraphBuilder& b, const Step& step, unsigned throwing, std::size_t after = 0) {
        const Condition condition = *conditions_[step.condition];
        std::vector<std::function<void(GraphBuilder&)>> bodies;
        for (unsigned i = 0; i < step.bodies.size(); ++i)
            bodies.emplace_back([this, &step, i, throwing, after](GraphBuilder& body) {
                const Level& level = step.bodies[i];
                const bool throws = i == throwing;
                steps(body, level, throws ? after % (level.steps.size() + 1) : level.steps.size(), true);
                if (throws) throw Planned();
            });
        if (step.kind == Kind::while_) return b.while_(condition, bodies[0]);
        if (step.kind == Kind::switch_) return b.switch_(condition, bodies);
        if (bodies.size() == 1) return b.if_(condition, bodies[0]);
        return b.if_(condition, bodies[0], bodies[1]);
    }

    void throw_in_bodies(GraphBuilder& b, const Step& step) {
        for (unsigned attempt = 0; attempt < step.throws; ++attempt)
            throw_in_body(b, step, attempt);
    }
    void throw_in_body(GraphBuilder& b, const Step& step, unsigned attempt) {
        const auto throwing = static_cast<unsigned>((step.id + attempt) % step.bodies.size());
        try {
            static_cast<void>(conditional(b, step, throwing, step.id / 3 + attempt * 2));
        } catch (const Planned&) {
            return;
        }
        wrong("what a body throws is lost");
    }

    // Captures.

    void add_region(GraphBuilder& b, const Level& level, std::size_t first, std::size_t end, Regions& regions) {
        cudag::CapturedNode region;
        run(b, "capture",
            [&] { region = b.capture(bench_.captured[0], [&](StreamCapture& c) { record(c, level, first, end); }); });
        const std::vector<cudag::Node> nodes = region.nodes();
        require(nodes.size() == end - first, "a region of {} steps has {} nodes", end - first, nodes.size());
        for (std::size_t i = first; i < end; ++i) {
            nodes_[level.steps[i].id] = nodes[i - first];
            regions[i] = region;
        }
        std::vector<cudag::Node> before;
        Regions coarse;
        for (std::size_t i = first; i < end; ++i)
            for (const unsigned earlier : level.steps[i].after) {
                if (earlier >= first) continue;
                if (level.steps[earlier].coarse && regions[earlier])
                    coarse.push_back(regions[earlier]);
                else
                    before.push_back(nodes_[level.steps[earlier].id]);
            }
        run(b, "after", [&] {
            if (!before.empty()) region.after(before);
        });
        for (const auto& other : coarse)
            run(b, "after", [&] { region.after(*other); });
        if (options_.labels)
            for (std::size_t i = first; i < end; ++i)
                run(b, "label", [&] { nodes[i - first].label(fmt::format("s{}", level.steps[i].id)); });
    }

    cudag::Graph captured_graph(const Level& level) {
        std::optional<cudag::Graph> graph;
        injector_.run(
            "capture",
            [&] {
                graph = cudag::capture(bench_.captured[0],
                                       [&](StreamCapture& c) { record(c, level, 0, level.steps.size()); });
            },
            [&] { bench_.end_captures(); });
        return *std::move(graph);
    }

    void record(StreamCapture& c, const Level& level, std::size_t first, std::size_t end) {
        bool used[Bench::lanes] = {true};
        require(end - first <= Bench::steps, "a capture of {} steps", end - first);
        for (std::size_t i = first; i < end;) {
            const Step& step = level.steps[i];
            const cudag::Stream& stream = bench_.captured[step.lane];
            if (!std::exchange(used[step.lane], true)) c.fork(stream);
            std::size_t next = i + 1;
            while (is_written(step) && next < end && is_written(level.steps[next]))
                ++next;
            for (std::size_t k = i; k < next; ++k)
                for (const unsigned earlier : level.steps[k].after)
                    if (earlier >= first && level.steps[earlier].lane != step.lane)
                        cudag::check(cudaStreamWaitEvent(stream.get(), bench_.recorded[earlier - first].get(), 0));
            const auto work = [&] {
                if (is_written(step))
                    write_into(c, level, i, next);
                else
                    enqueue(c, stream.get(), step);
            };
            if (step.labelled)
                c.step(fmt::format("step {}", step.id), work);
            else
                work();
            for (; i < next; ++i)
                cudag::check(cudaEventRecord(bench_.recorded[i - first].get(), stream.get()));
        }
        for (unsigned lane = 1; lane < Bench::lanes; ++lane)
            if (used[lane]) c.join(bench_.captured[lane]);
    }

    class Capturing {
      public:
        explicit Capturing(bool& is_capturing) : is_capturing_(is_capturing) { is_capturing_ = true; }
        ~Capturing() { is_capturing_ = false; }
        Capturing(const Capturing&) = delete;
        Capturing& operator=(const Capturing&) = delete;

      private:
        bool& is_capturing_;
    };

    /// Steps in a row, with the edges among themselves.
    void write_into(StreamCapture& c, const Level& level, std::size_t first, std::size_t end) {
        const Capturing capturing(is_capturing_);
        c.add([&](GraphBuilder& b) {
            for (std::size_t i = first; i < end; ++i) {
                const Step& step = level.steps[i];
                write(b, level, step, [&](const char*, const auto& make) {
                    const auto node = make();
                    nodes_[step.id] = node;
                    for (const unsigned earlier : step.after)
                        if (earlier >= first) node.after(nodes_[level.steps[earlier].id]);
                });
            }
        });
    }

    static void CUDART_CB call_host(void* work) { (*static_cast<HostWork*>(work))(); }

    void enqueue(StreamCapture& c, cudaStream_t s, const Step& step) {
        const Params& params = values_[step.id];
        const unsigned input = first_input(step, params);
        switch (step.kind) {
        case Kind::kernel:
            switch (params.function) {
            case Function::mix:
                return cudag::launch(s, config_of(params), fuzz_mix, bench_.words, step.id, params.inputs, params.salt);
            case Function::add:
                return cudag::launch(s, config_of(params), fuzz_add, bench_.words.data(), step.id, input, params.salt);
            case Function::real:
                return cudag::launch(s, config_of(params), fuzz_real, reinterpret_cast<float*>(bench_.words.data()),
                                     step.id, input, real_salt(params));
            case Function::wide:
                return cudag::launch(s, config_of(params), fuzz_wide, bench_.words.data(), step.id, wide_of(params));
            }
            return;
        case Kind::host: {
            const auto work =
                std::make_shared<HostWork>(HostWork{bench_.words.data(), step.id, params.inputs, params.salt});
            c.retain(work);
            return cudag::check(cudaLaunchHostFunc(s, call_host, work.get()));
        }
        case Kind::copy:
            return cudag::memcpy_async(s, words_of(bench_, step.id, step.size), words_of(bench_, input, step.size));
        case Kind::copy_2d:
            return cudag::memcpy_async(s, rows_of(bench_, step.id, step.size), rows_of(bench_, input, step.size));
        case Kind::fill:
            return with_elements(bench_, step, params,
                                 [&](const auto& span, auto value) { cudag::memset_async(s, span, value); });
        case Kind::fill_2d:
            return cudag::memset_async(s, rows_of(bench_, step.id, step.size), params.salt);
        case Kind::record:
            return cudag::check(cudaEventRecordWithFlags(bench_.events[params.salt % Bench::event_count].get(), s,
                                                         cudaEventRecordExternal));
        case Kind::wait:
            return cudag::check(
                cudaStreamWaitEvent(s, bench_.events[params.salt % Bench::event_count].get(), cudaEventWaitExternal));
        case Kind::set:
            return cudag::launch(s, {}, fuzz_set, bench_.words.data(), step.id, params.inputs, params.salt,
                                 *conditions_[step.condition], step.limit);
        case Kind::count:
            return cudag::launch(s, {}, fuzz_count, bench_.words.data(), step.id, params.salt,
                                 *conditions_[step.condition], step.limit);
        default:
            wrong("step {} cannot be captured", step.id);
        }
    }

    /// A region that throws, or that breaks its capture. The builder is then as it was, or lost if it cannot be.
    void fail_region(GraphBuilder& b, bool in_body) {
        const unsigned way = random_.below(5);
        const unsigned work = random_.below(4);
        note("  a region fails, way {}, after {} kernels{}", way, work, in_body ? ", in a body" : "");
        const auto record = [&](StreamCapture& c) {
            for (unsigned i = 0; i < work; ++i)
                cudag::launch(c.stream(), {}, fuzz_add, bench_.words.data(), 0U, 0U, 1U);
            switch (way) {
            case 0:
                throw Planned();
            case 1:
                static_cast<void>(cudaStreamSynchronize(c.stream()));
                static_cast<void>(cudaGetLastError());
                break;
            case 2:
                c.fork(bench_.captured[1]);
                cudag::launch(bench_.captured[1], {}, fuzz_add, bench_.words.data(), 0U, 0U, 1U);
                break;
            case 3:
                c.step("breaks", [&](cudaStream_t s) { cudag::check(cudaStreamSynchronize(s)); });
                break;
            default:
                c.step("throws", [&] { throw Planned(); });
            }
        };
        try {
            static_cast<void>(b.capture(bench_.captured[0], record));
        } catch (const Planned&) {
            require(way == 0 || way == 4, "a region throws what it should not");
            return;
        } catch (const cudag::CaptureError&) {
            require(way != 0 && way != 4, "what a region throws is lost");
            require(cudaGetLastError() == cudaSuccess, "a failed region leaves CUDA's last error");
            if (in_body) throw BuilderLost();
            if (is_lost(b)) {
                require(plan_.has_conditions(), "a builder without conditions is lost");
                throw BuilderLost();
            }
            return;
        }
        wrong("a broken region is taken");
    }

    Bench& bench_;
    const Plan& plan_;
    const Values& values_;
    Nodes& nodes_;
    WriteOptions options_;
    Random& random_;
    Injector& injector_;
    unsigned lost_ = 0;            ///< how many builders were
    bool is_capturing_ = false;    ///< nodes are being written into a capture
    Unwanted* unwanted_ = nullptr; ///< of the level that is being written
    std::vector<std::optional<Condition>> conditions_;
};

} // namespace

cudag::Graph write_graph(Bench& bench, const Plan& plan, const Values& values, Nodes& nodes,
                         const WriteOptions& options, Random& random, Injector& injector) {
    return Writer(bench, plan, values, nodes, options, random, injector).graph(plan.root);
}

cudag::Graph write_level(Bench& bench, const Plan& plan, const Level& level, const Values& values, Nodes& nodes,
                         const WriteOptions& options, Random& random, Injector& injector) {
    return Writer(bench, plan, values, nodes, options, random, injector).graph(level);
}

void captured_nodes(const Level& level, const std::vector<cudag::Node>& in_order, Nodes& nodes) {
    require(in_order.size() == level.steps.size(), "a capture of {} steps has {} nodes", level.steps.size(),
            in_order.size());
    for (std::size_t i = 0; i < in_order.size(); ++i)
        nodes[level.steps[i].id] = in_order[i];
}
