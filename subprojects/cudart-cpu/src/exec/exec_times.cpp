// Times of nodes: records of their runs.
#include "exec_times.hpp"

#include "exec_model.hpp"
#include "runtime/call.hpp"

#include <chrono>
#include <utility>

namespace cudart_cpu::detail {

namespace {

std::int64_t steady_nanoseconds() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

class TimedWork final : public Work {
  public:
    TimedWork(WorkPointer work, cudaGraphNode_t node, LaunchTimes launch)
        : work_(std::move(work)), node_(node), launch_(std::move(launch)) {}

    cudaGraphNodeType type() const noexcept override { return work_->type(); }
    std::string title() const override { return work_->title(); }

    void run() const override {
        const std::int64_t begin = steady_nanoseconds();
        work_->run();
        launch_.times->add({node_, launch_.launch, begin, steady_nanoseconds()});
    }

  private:
    WorkPointer work_;
    cudaGraphNode_t node_;
    LaunchTimes launch_;
};

} // namespace

void NodeTimes::add(const NodeTime& time) noexcept {
    const std::lock_guard lock(mutex_);
    try {
        times_.push_back(time);
    } catch (...) {
        return;
    }
}

std::vector<NodeTime> NodeTimes::take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(times_, {});
}

WorkPointer timed(WorkPointer work, cudaGraphNode_t node, const LaunchTimes& launch) {
    return std::make_shared<TimedWork>(std::move(work), node, launch);
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API void cudart_cpu_start_times(cudaGraphExec_t exec) {
    static_cast<void>(
        graph_api("cudart_cpu_start_times", [&] { exec_of(exec).times = std::make_shared<NodeTimes>(); }));
}

CUDART_CPU_API void cudart_cpu_stop_times(cudaGraphExec_t exec,
                                          void (*take)(void* context, const cudart_cpu::NodeTime* times,
                                                       std::size_t count),
                                          void* context) {
    std::shared_ptr<NodeTimes> times;
    static_cast<void>(graph_api("cudart_cpu_stop_times", [&] { times = std::exchange(exec_of(exec).times, nullptr); }));
    if (times == nullptr) return;
    const std::vector<cudart_cpu::NodeTime> taken = times->take(); // without the lock: `take` may call CUDA
    if (!taken.empty()) take(context, taken.data(), taken.size());
}
