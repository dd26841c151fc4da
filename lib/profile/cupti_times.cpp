// Times from CUPTI's activity records of kernels, copies and fills.
#include "activity_match.hpp"
#include "cupti_library.hpp"
#include "time_source.hpp"

#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"

#include <cudag/error.hpp>

#include <cuda.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

constexpr std::array<CUpti_ActivityKind, 4> activity_kinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                                           CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                                           CUPTI_ACTIVITY_KIND_MEMSET};

void check_cupti(CUptiResult result, const char* call) {
    if (result == CUPTI_SUCCESS) return;
    const char* reason = "";
    cupti_library().result_string(result, &reason);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_ERROR_MAX_LIMIT_REACHED)
        refuse<Error>(fmt::format("profile: another profiler uses CUPTI, which serves one at a time ({}: {}); run the "
                                  "program without it",
                                  call, reason),
                      {}, cudaErrorProfilerDisabled);
    refuse<Error>(fmt::format("profile: CUPTI does not measure here: {}: {}", call, reason), {},
                  cudaErrorProfilerDisabled);
}

/// The fill that marks a time between two launches.
constexpr std::uint64_t mark_bytes = 1;
constexpr std::uint32_t mark_value = 0xc5;

/// The records of one recording.
struct Recorded {
    std::vector<NodeActivity> activities{};
    std::vector<std::uint64_t> marks{}; ///< times of marks, in nanoseconds
    bool has_last_turns = false;        ///< whether bodies have records of their last run only
    std::size_t lost = 0;
};

/// The records of the recording under way. CUPTI fills buffers and hands them back on threads of its own.
class ActivityRecords {
  public:
    static ActivityRecords& shared() {
        static auto* const records = new ActivityRecords(); // CUPTI may hand back a buffer at the process's end
        return *records;
    }

    /// Begins a recording of the exec with this identity. Throws Error if there is one.
    void begin(std::uint32_t exec) {
        const std::lock_guard lock(mutex_);
        if (std::exchange(is_recording_, true))
            refuse<Error>("profile: another call of profile runs, and CUPTI serves one at a time", {},
                          cudaErrorProfilerDisabled);
        exec_ = exec;
        records_ = {};
    }
    Recorded end() noexcept {
        const std::lock_guard lock(mutex_);
        is_recording_ = false;
        return std::exchange(records_, {});
    }

    static void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
        constexpr std::size_t alignment = 64, bytes = std::size_t{1} << 20;
        *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(alignment, bytes));
        *size = *buffer == nullptr ? 0 : bytes;
        *most_records = 0;
    }

    static void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                                     std::size_t used) {
        ActivityRecords& records = shared();
        const CuptiLibrary& cupti = cupti_library();
        const std::lock_guard lock(records.mutex_);
        CUpti_Activity* record = nullptr;
        while (used != 0 && cupti.next_record(buffer, used, &record) == CUPTI_SUCCESS)
            records.add(*record);
        std::size_t dropped = 0;
        if (cupti.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS) records.records_.lost += dropped;
        std::free(buffer);
    }

  private:
    /// Adds a record of any kind. The fields read here have the same places in the records of CUPTI 12.4 to 13.5.
    void add(const CUpti_Activity& record) noexcept {
        switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            return add(reinterpret_cast<const CUpti_ActivityKernel9&>(record), Activity::kernel);
        case CUPTI_ACTIVITY_KIND_MEMCPY:
            return add(reinterpret_cast<const CUpti_ActivityMemcpy5&>(record), Activity::copy);
        case CUPTI_ACTIVITY_KIND_MEMCPY2:
            return add(reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record), Activity::copy);
        case CUPTI_ACTIVITY_KIND_MEMSET:
            return add(reinterpret_cast<const CUpti_ActivityMemset4&>(record), Activity::fill);
        default:
            return;
        }
    }
    /// Adds a record of the measured exec, or a mark. The high half of a node's identity is that of its exec. A node in
    /// a body has no other identity of a graph; if the exec was made while CUPTI was on, it has a record for each run,
    /// without the call, otherwise one record of the last run.
    template <class Record>
    void add(const Record& record, Activity activity) noexcept {
        const auto exec = static_cast<std::uint32_t>(record.graphNodeId >> 32U);
        if (!is_recording_) return;
        try {
            if constexpr (requires { record.value; })
                if (record.graphNodeId == 0 && record.bytes == mark_bytes && record.value == mark_value)
                    records_.marks.push_back(record.start);
            if (exec != exec_ || record.graphNodeId == 0) return;
            if (record.graphId == 0 && record.correlationId != 0) records_.has_last_turns = true;
            std::string kernel;
            if constexpr (requires { record.name; }) kernel = demangled_kernel_name(record.name);
            records_.activities.push_back({static_cast<std::uint32_t>(record.graphNodeId), record.correlationId,
                                           activity, std::move(kernel), record.start, record.end});
        } catch (...) {
            ++records_.lost;
        }
    }

    std::mutex mutex_;
    bool is_recording_ = false;
    std::uint32_t exec_ = 0; ///< identity of the measured exec
    Recorded records_;
};

class CuptiTimes final : public TimeSource {
  public:
    explicit CuptiTimes(const ExecNodes& nodes) : cupti_(cupti_library()), nodes_(nodes) {
        std::uint32_t exec = 0;
        check_cupti(cupti_.exec_id(reinterpret_cast<CUgraphExec>(nodes.exec), &exec), "cuptiGetGraphExecId");
        ActivityRecords::shared().begin(exec);
        try {
            check_cupti(cupti_.subscribe(&subscriber_, &ignore_callback, nullptr), "cuptiSubscribe");
            check_cupti(cupti_.register_callbacks(&ActivityRecords::give_buffer, &ActivityRecords::take_buffer),
                        "cuptiActivityRegisterCallbacks");
            for (; enabled_ < activity_kinds.size(); ++enabled_)
                check_cupti(cupti_.enable(activity_kinds[enabled_]), "cuptiActivityEnable");
        } catch (...) {
            stop();
            throw;
        }
    }
    ~CuptiTimes() override {
        if (enabled_ != 0) stop();
    }

    [[nodiscard]] ProfileSource name() const noexcept override { return ProfileSource::cupti; }
    [[nodiscard]] Turns turns() const noexcept override { return turns_; }

    /// Marks the time before the launch if there are bodies: their records do not name the launch.
    void launch(Exec& exec, StreamRef stream) override {
        const auto is_conditional = [](const NodeProfile& node) { return node.kind == NodeKind::conditional; };
        if (std::ranges::any_of(nodes_.profiled.nodes, is_conditional)) mark(stream.get());
        exec.launch(stream);
    }

    [[nodiscard]] std::vector<RunRecord> finish() override {
        // Forced: a body that did not run leaves records that never end.
        check_cupti(cupti_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
        Recorded recorded = stop();
        if (recorded.lost != 0)
            refuse<Error>(fmt::format("profile: CUPTI lost {} records; measure fewer launches", recorded.lost), {},
                          cudaErrorMemoryAllocation);
        turns_ = recorded.has_last_turns ? Turns::last : Turns::all;
        if (recorded.marks.size() != marks_) recorded.marks.clear(); // others fill in the same way
        return match_activities(nodes_.profiled, outermost(), std::move(recorded.activities),
                                std::move(recorded.marks));
    }

  private:
    static void CUPTIAPI ignore_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

    void mark(cudaStream_t stream) {
        if (mark_ == nullptr) checked(cudaMallocAsync(&mark_, mark_bytes, stream), "cudaMallocAsync");
        stream_ = stream;
        checked(cudaMemsetAsync(mark_, mark_value, mark_bytes, stream), "cudaMemsetAsync");
        ++marks_;
    }

    /// Ends the recording, and returns its records.
    Recorded stop() noexcept {
        Recorded recorded = ActivityRecords::shared().end();
        if (enabled_ != 0) cupti_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED); // records that no recording wants
        for (; enabled_ != 0; --enabled_)
            cupti_.disable(activity_kinds[enabled_ - 1]);
        if (subscriber_ != nullptr) cupti_.unsubscribe(std::exchange(subscriber_, nullptr));
        if (mark_ != nullptr) ignore(cudaFreeAsync(std::exchange(mark_, nullptr), stream_));
        return recorded;
    }

    /// The numbers of the nodes outside of others: the low halves of their identities.
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::size_t>> outermost() const {
        std::vector<std::pair<std::uint32_t, std::size_t>> numbers;
        for (std::size_t i = 0; i < nodes_.natives.size(); ++i) {
            if (nodes_.profiled.nodes[i].outer) continue;
            std::uint64_t id = 0;
            check_cupti(cupti_.node_id(reinterpret_cast<CUgraphNode>(nodes_.natives[i]), &id), "cuptiGetGraphNodeId");
            numbers.emplace_back(static_cast<std::uint32_t>(id), i);
        }
        return numbers;
    }

    const CuptiLibrary& cupti_;
    const ExecNodes& nodes_;
    CUpti_SubscriberHandle subscriber_ = nullptr;
    std::size_t enabled_ = 0; ///< number of enabled kinds
    Turns turns_ = Turns::all;
    void* mark_ = nullptr; ///< memory to fill as a mark, of `stream_`
    cudaStream_t stream_ = nullptr;
    std::size_t marks_ = 0;
};

} // namespace

std::unique_ptr<TimeSource> record_cupti_times(const ExecNodes& nodes) {
    return std::make_unique<CuptiTimes>(nodes);
}

} // namespace cudag::detail
