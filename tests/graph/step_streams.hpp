// The steps of a DAG as work in streams that are captured.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dag.hpp"
#include "step_nodes.hpp"
#include "test.hpp"

/// Takes the steps of a part of a DAG in their order, one call each, as StepNodes does; then `finish()`. The order of
/// the steps is that of the DAG, no more and no less: each goes to the stream that `lanes_of` says, after what it comes
/// after in other streams, through forks, joins and events; what it comes after outside of the part is not seen.
/// Recorded nodes are labelled as those of StepNodes; joins make none.
class StepStreams {
  public:
    /// The streams in `sides` are used and added to; the first one of the part is the captured stream itself.
    StepStreams(const Dag& dag, const Part& part, cudag::StreamCapture& capture, std::vector<cudag::Stream>& sides)
        : dag_(dag), first_(part.first), lanes_(lanes_of(dag, part)), capture_(capture), sides_(sides),
          start_({.timing = false}) {
        start_.record(capture.stream());
    }

    template <class... P, class... A>
    void kernel(void (*function)(P...), A&&... arguments) {
        record([&](cudaStream_t s) { cudag::launch(s, {}, function, std::forward<A>(arguments)...); });
    }
    void host(std::function<void()> function) {
        const auto owned = std::make_shared<std::function<void()>>(std::move(function));
        capture_.retain(owned);
        record([&](cudaStream_t s) { cudag::check(cudaLaunchHostFunc(s, call, owned.get())); });
    }
    void copy(cudag::DeviceSpan<std::uint32_t> to, cudag::DeviceSpan<std::uint32_t> from) {
        record([&](cudaStream_t s) { cudag::memcpy_async(s, to, from); });
    }
    void fill(cudag::DeviceSpan<std::uint32_t> cells, std::uint32_t value) {
        record([&](cudaStream_t s) { cudag::memset_async(s, cells, value); });
    }
    void child(const cudag::Graph&) { throw std::logic_error("a DAG that is not recordable"); }
    template <class Body>
    void branch(const Body&) {
        throw std::logic_error("a DAG that is not recordable");
    }
    void join() { skip(); }

    /// Joins all streams.
    void finish() {
        for (std::size_t lane = 1; lane < last_.size(); ++lane)
            capture_.join(stream(lane));
    }

  private:
    static void CUDART_CB call(void* function) { (*static_cast<std::function<void()>*>(function))(); }

    template <class Work>
    void record(Work&& work) {
        const std::size_t step = first_ + done_.size();
        const std::size_t lane = lanes_[step];
        if (lane == last_.size()) last_.push_back(none);
        order(step);
        capture_.step(step_label(step), [&] { work(stream(lane)); });
        done_.emplace_back(cudag::EventOptions{.timing = false}).record(stream(lane));
        last_[lane] = step;
    }
    void skip() { done_.emplace_back(cudag::EventOptions{.timing = false}); }

    /// Makes what the step's stream records next come after what the step comes after.
    void order(std::size_t step) {
        const std::size_t lane = lanes_[step];
        const Step& what = dag_.steps[step];
        bool is_root = true;
        for (const std::size_t input : what.inputs) {
            if (input < first_) continue;
            is_root = false;
            const std::size_t from = lanes_[input];
            if (from == lane) continue;
            const bool is_last = last_[from] == input;
            if (is_last && lane == 0)
                capture_.join(stream(from));
            else if (is_last && from == 0)
                capture_.fork(stream(lane));
            else
                wait(stream(lane), done_[input - first_]);
        }
        if (is_root && lane != 0) wait(stream(lane), start_);
    }
    static void wait(cudaStream_t stream, const cudag::Event& event) {
        cudag::check(cudaStreamWaitEvent(stream, event.get(), cudaEventWaitDefault));
    }

    [[nodiscard]] cudaStream_t stream(std::size_t lane) {
        if (lane == 0) return capture_.stream();
        while (sides_.size() < lane)
            sides_.emplace_back();
        return sides_[lane - 1].get();
    }

    static constexpr auto none = std::numeric_limits<std::size_t>::max();

    const Dag& dag_;
    std::size_t first_;
    std::vector<std::size_t> lanes_;
    cudag::StreamCapture& capture_;
    std::vector<cudag::Stream>& sides_;
    cudag::Event start_;
    std::vector<cudag::Event> done_; ///< of each step, from the first on
    std::vector<std::size_t> last_;  ///< the last step of each lane
};
