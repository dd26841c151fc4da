// Captures with written nodes, forks and joins, that throw, and are relaxed.
#include "races.hpp"

#include "act_nodes.hpp"
#include "acts.hpp"
#include "bench.hpp"
#include "kernels.hpp"
#include "lanes.hpp"
#include "report.hpp"
#include "runtime.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace {

using cudag::Graph;
using cudag::StreamCapture;

enum class Way {
    enqueued, ///< into a stream
    written,  ///< by the capture's builder
    decides,  ///< a written kernel that sets the condition of the next step
    if_,      ///< a written conditional
};

struct CaptureStep {
    Way way = Way::enqueued;
    Act act;
    Act otherwise; ///< of a conditional
    bool has_else = false;
    bool declared = true; ///< what is opaque is declared later
    bool labelled = false;
    unsigned initial = 0;
};

Accesses accesses_of(const std::vector<CaptureStep>& steps, std::size_t i) {
    const CaptureStep& step = steps[i];
    Accesses all = accesses_of(step.act);
    if (step.has_else) {
        const Accesses more = accesses_of(step.otherwise);
        all.insert(all.end(), more.begin(), more.end());
    }
    if (step.way == Way::decides) all.push_back({{condition_cells + static_cast<unsigned>(i), 1}, Use::write});
    if (step.way == Way::if_) all.push_back({{condition_cells + static_cast<unsigned>(i) - 1, 1}, Use::read});
    return all;
}

class CapturesFuzz {
  public:
    CapturesFuzz(Bench& bench, std::uint64_t seed) : bench_(bench), random_(seed) {}

    void run() {
        draw();
        memory_ = fresh_memory(bench_, options_.buffers);
        const unsigned failures = random_.percent(30) ? random_.between(1, 2) : 0;
        for (unsigned i = 0; i < failures; ++i)
            fail();
        graph_.emplace(cudag::capture(bench_.captured[0], [&](StreamCapture& c) { record(c, steps_.size(), false); }));
        look();
        std::optional<cudag::Exec> exec;
        if (random_.percent(60)) relax();
        exec.emplace(graph_->instantiate());
        for (unsigned i = 0; i < 3; ++i) {
            launch(*exec);
            update(*exec);
        }
        launch(*exec);
    }

  private:
    void draw() {
        options_.buffers = random_.between(2, 6);
        ActOptions in_body = options_;
        in_body.hosts = false;
        in_body.raws = false;
        const unsigned count = random_.between(1, 14);
        while (steps_.size() < count) {
            CaptureStep step;
            step.labelled = random_.percent(25);
            step.declared = random_.percent(70);
            if (random_.percent(15)) {
                step.way = Way::decides;
                step.act = random_act(in_body, random_);
                step.act.kind = ActKind::combine;
                step.act.raw = false;
                step.act.b = {step.act.a.first, 0};
                step.initial = random_.below(2);
                steps_.push_back(step);
                step.way = Way::if_;
                step.act = random_act(in_body, random_);
                step.has_else = random_.percent(50);
                step.otherwise = random_act(in_body, random_);
            } else {
                step.act = random_act(options_, random_);
                step.way = random_.percent(35) ? Way::written : Way::enqueued;
            }
            steps_.push_back(step);
        }
        std::vector<Accesses> nodes;
        for (std::size_t i = 0; i < steps_.size(); ++i)
            nodes.push_back(accesses_of(steps_, i));
        std::vector<bool> written;
        for (const CaptureStep& step : steps_)
            written.push_back(step.way != Way::enqueued);
        lanes_ = draw_lanes(nodes, written, random_);
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            constexpr const char* ways[] = {"enqueued", "written", "decides", "if"};
            note("{}: {} in stream {}: {}{}", i, ways[static_cast<unsigned>(steps_[i].way)], lanes_[i].lane,
                 describe(steps_[i].act), steps_[i].has_else ? ", else " + describe(steps_[i].otherwise) : "");
            for (const unsigned from : lanes_[i].waits)
                note("    waits for {}", from);
        }
    }

    /// What the graph does to memory without declarations.
    [[nodiscard]] bool is_opaque_step(std::size_t i) const {
        return steps_[i].way == Way::enqueued && is_opaque(steps_[i].act);
    }

    /// Records `count` steps; the last one may be begun only.
    void record(StreamCapture& c, std::size_t count, bool throws) {
        written_.assign(steps_.size(), {});
        std::optional<cudag::Condition> condition;
        record_lanes(c, bench_, lanes_, [&](unsigned i, cudaStream_t stream) {
            if (throws && i + 1 >= count) throw Planned();
            const auto work = [&] { record_step(c, i, stream, condition); };
            if (steps_[i].labelled)
                c.step("step", work);
            else
                work();
        });
    }

    void record_step(StreamCapture& c, unsigned i, cudaStream_t stream, std::optional<cudag::Condition>& condition) {
        const CaptureStep& step = steps_[i];
        if (step.way == Way::enqueued)
            return enqueue_act(stream, bench_, step.act, [&](const auto& owner) { c.retain(owner); });
        switch (step.way) {
        case Way::written:
            c.add([&](cudag::GraphBuilder& b) { written_[i] = add_act(b, bench_, step.act).node; });
            break;
        case Way::decides: {
            condition = c.condition(step.initial);
            const Act& act = step.act;
            written_[i] = c.kernel({}, fuzz_decide, span_of(bench_, act.to), act.to.count,
                                   cudag::DeviceSpan<const std::uint32_t>(span_of(bench_, act.a)), act.a.count,
                                   act.salt, *condition, 2U);
            break;
        }
        default:
            if (step.has_else)
                written_[i] = c.if_(
                    *condition, [&](cudag::GraphBuilder& b) { add_act(b, bench_, step.act); },
                    [&](cudag::GraphBuilder& b) { add_act(b, bench_, step.otherwise); });
            else
                written_[i] = c.if_(*condition, [&](cudag::GraphBuilder& b) { add_act(b, bench_, step.act); });
        }
    }

    /// A capture that throws leaves the streams usable, and nothing else.
    void fail() {
        const std::size_t count = random_.between(1, static_cast<unsigned>(steps_.size()));
        note("a capture throws in step {}", count - 1);
        try {
            static_cast<void>(cudag::capture(bench_.captured[0], [&](StreamCapture& c) { record(c, count, true); }));
        } catch (const Planned&) {
            require(cudaGetLastError() == cudaSuccess, "a capture that throws leaves CUDA's last error");
            for (const cudag::Stream& stream : bench_.captured) {
                cudaStreamCaptureStatus status{};
                cudag::check(cudaStreamIsCapturing(stream.get(), &status));
                require(status == cudaStreamCaptureStatusNone, "a stream is still captured");
            }
            ++report->refused;
            return;
        }
        wrong("what a capture throws is lost");
    }

    void look() {
        nodes_ = graph_->nodes();
        require(nodes_.size() == steps_.size(), "a capture of {} steps has {} nodes", steps_.size(), nodes_.size());
        for (std::size_t i = 0; i < steps_.size(); ++i)
            require(written_[i] == cudag::Node() || written_[i] == nodes_[i], "the handle of step {} is of another", i);
        order_.emplace(order_of_lanes(lanes_));
        require_same_order(order_of(*graph_, nodes_), *order_, nodes_.size(), "the capture");
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            if (!is_opaque_step(i) || !steps_[i].declared) continue;
            const Act& act = steps_[i].act;
            nodes_[i].writes(span_of(bench_, act.to)).reads(span_of(bench_, act.a), span_of(bench_, act.b));
        }
        require(graph_->races().empty(), "a capture without races has some");
    }

    void relax() {
        std::vector<bool> stays(steps_.size());
        std::vector<bool> may_stay(steps_.size());
        std::vector<Accesses> nodes;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            stays[i] = is_opaque_step(i) && !steps_[i].declared;
            may_stay[i] = stays[i] || steps_[i].way == Way::decides || steps_[i].way == Way::if_;
            nodes.push_back(accesses_of(steps_, i));
        }
        const cudag::RelaxReport result = cudag::relax(*graph_);
        note("{}", to_string(result));
        const auto needed = [&](const std::vector<bool>& staying) {
            Order order(steps_.size());
            for (std::size_t to = 0; to < steps_.size(); ++to)
                for (std::size_t from = 0; from < steps_.size(); ++from)
                    if (order_->before(from, to) && (staying[from] || staying[to] || conflict(nodes[from], nodes[to])))
                        order.add(from, to);
            order.close();
            return order;
        };
        const Order least = needed(stays);
        const Order most = needed(may_stay);
        const Order actual = order_of(*graph_, nodes_);
        require_order_between(actual, least, most, steps_.size(), "relaxed");
        require(graph_->races().empty(), "relax makes races");
    }

    void launch(cudag::Exec& exec) {
        exec.launch(bench_.streams[0]);
        ++report->launches;
        bool decision = false;
        for (const CaptureStep& step : steps_) {
            if (step.way != Way::if_ || decision)
                perform(step.act, memory_.data());
            else if (step.has_else)
                perform(step.otherwise, memory_.data());
            if (step.way == Way::decides) decision = decision_of(memory_[step.act.to.first], 2) != 0;
        }
        bench_.streams[0].synchronize();
        require_memory(bench_, memory_, "a launch");
    }

    void update(cudag::Exec& exec) {
        const std::size_t i = random_.below(steps_.size());
        CaptureStep& step = steps_[i];
        if (step.way == Way::if_) return;
        step.act.salt = random_.word();
        note("update {} to salt {:#x}", i, step.act.salt);
        if (step.way == Way::decides)
            exec.update(nodes_[i].as(fuzz_decide), cudag::arg<4>(step.act.salt));
        else if (step.act.kind == ActKind::combine)
            exec.update(nodes_[i].as(fuzz_combine), cudag::arg<6>(step.act.salt));
        else
            update_act(exec, bench_, nodes_[i], step.act);
    }

    Bench& bench_;
    Random random_;
    ActOptions options_;
    std::vector<CaptureStep> steps_;
    std::vector<LaneStep> lanes_;
    std::vector<cudag::Node> written_; ///< handles that the capture gave
    std::optional<Graph> graph_;
    std::vector<cudag::Node> nodes_;
    std::optional<Order> order_;
    std::vector<std::uint32_t> memory_;
};

} // namespace

void fuzz_captures(Bench& bench, std::uint64_t seed) {
    run_leaving_nothing<CapturesFuzz>(bench, seed);
}
