// Times from the clock of the CPU runtime, whose functions are found at run time.
#include "node_time.hpp"
#include "time_source.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <unordered_map>

namespace cudart_cpu {
struct NodeTime; // of the CPU runtime: the functions below have its type in theirs
}

namespace cudag::detail {

namespace {

using StartTimes = void (*)(cudaGraphExec_t);
using TakeTimes = void (*)(void*, const cudart_cpu::NodeTime*, std::size_t);
using StopTimes = void (*)(cudaGraphExec_t, TakeTimes, void*);

class CpuTimes final : public TimeSource {
  public:
    CpuTimes(const ExecNodes& nodes, StartTimes start, StopTimes stop) : exec_(nodes.exec), stop_(stop) {
        for (std::size_t i = 0; i < nodes.natives.size(); ++i)
            index_of_.emplace(nodes.natives[i], i);
        start(exec_);
    }
    ~CpuTimes() override {
        if (exec_ != nullptr)
            stop_(
                exec_, [](void*, const cudart_cpu::NodeTime*, std::size_t) {}, nullptr);
    }

    [[nodiscard]] ProfileSource name() const noexcept override { return ProfileSource::cpu_runtime; }
    [[nodiscard]] Turns turns() const noexcept override { return Turns::all; }

    [[nodiscard]] std::vector<RunRecord> finish() override {
        std::vector<NodeTime> times;
        stop_(
            exec_,
            [](void* list, const cudart_cpu::NodeTime* runs, std::size_t count) {
                const auto* const first = reinterpret_cast<const NodeTime*>(runs);
                static_cast<std::vector<NodeTime>*>(list)->assign(first, first + count);
            },
            &times);
        exec_ = nullptr;
        std::vector<RunRecord> records;
        for (const NodeTime& time : times)
            if (const auto found = index_of_.find(time.node); found != index_of_.end()) // not an empty kernel of a plan
                records.push_back({time.launch, found->second, microseconds(time.begin, times.front().begin),
                                   microseconds(time.end, times.front().begin)});
        return records;
    }

  private:
    static double microseconds(std::int64_t time, std::int64_t origin) noexcept {
        return static_cast<double>(time - origin) / 1000;
    }

    cudaGraphExec_t exec_;
    StopTimes stop_;
    std::unordered_map<cudaGraphNode_t, std::size_t> index_of_{};
};

} // namespace

std::unique_ptr<TimeSource> record_cpu_times(const ExecNodes& nodes) {
    const auto start = reinterpret_cast<StartTimes>(dlsym(RTLD_DEFAULT, "cudart_cpu_start_times"));
    const auto stop = reinterpret_cast<StopTimes>(dlsym(RTLD_DEFAULT, "cudart_cpu_stop_times"));
    if (start == nullptr || stop == nullptr) return nullptr;
    return std::make_unique<CpuTimes>(nodes, start, stop);
}

} // namespace cudag::detail
