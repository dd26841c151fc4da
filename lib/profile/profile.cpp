// Profiles of Execs: launches them, and records the runs of their nodes.
#include <cudag/profile.hpp>

#include <cudag/event.hpp>

#include "cuda/failure.hpp"
#include "cuda/stream_status.hpp"
#include "exec/exec_state.hpp"
#include "profile_summary.hpp"
#include "profiled_nodes.hpp"
#include "time_source.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudag {

namespace {

using detail::TimeSource;

std::unique_ptr<TimeSource> record_by_cupti([[maybe_unused]] const detail::ExecNodes& nodes) {
#ifdef CUDAG_CUPTI
    return detail::record_cupti_times(nodes);
#else
    detail::refuse<Error>(
        "profile: cudag was built without CUPTI, which measures the nodes on a GPU; install its headers "
        "and build cudag with the Meson option cupti=enabled",
        {}, cudaErrorNotSupported);
#endif
}

std::unique_ptr<TimeSource> record_by(ProfileSource source, const detail::ExecNodes& nodes,
                                      const detail::ExecState& exec) {
    if (source == ProfileSource::events) return detail::record_event_times(nodes, exec);
    if (source == ProfileSource::cupti) return record_by_cupti(nodes);
    if (auto times = detail::record_cpu_times(nodes)) return times;
    detail::refuse<Error>(
        "profile: this program has NVIDIA's runtime, which has no clock for nodes; choose another source, "
        "or none",
        {}, cudaErrorNotSupported);
}

/// Begins a recording with the best possible source. `remark` becomes the reason if that is no longer the best one.
std::unique_ptr<TimeSource> record_by_best(const detail::ExecNodes& nodes, const detail::ExecState& exec,
                                           std::string& remark) {
    if (auto times = detail::record_cpu_times(nodes)) return times;
    try {
        return record_by_cupti(nodes);
    } catch (const Error& error) {
        remark = error.what();
        try {
            return detail::record_event_times(nodes, exec);
        } catch (const Error&) {
            // The error of the better source is more useful.
        }
        throw;
    }
}

void check_idle(cudaStream_t stream) {
    if (detail::is_captured(stream))
        detail::refuse<CaptureError>(
            "profile: the stream is being captured, where nothing runs that could be measured; "
            "end the capture first, or give another stream",
            {}, cudaErrorStreamCaptureUnsupported);
}

} // namespace

Profile profile(Exec& exec, StreamRef stream, ProfileOptions options) {
    const detail::ExecState& state = detail::Access::state(exec);
    if (options.launches == 0) detail::refuse("profile: launches is 0; it must be at least 1");
    check_idle(stream.get());
    detail::ExecNodes nodes = detail::nodes_of(state);
    Event mark({.timing = false});
    const auto wait = [&] {
        mark.record(stream);
        mark.synchronize();
    };
    try {
        exec.launch(stream); // takes CUDA's resources
        wait();
        std::string remark;
        const std::unique_ptr<TimeSource> source =
            options.source ? record_by(*options.source, nodes, state) : record_by_best(nodes, state, remark);
        for (unsigned i = 0; i < options.launches; ++i)
            source->launch(exec, stream);
        wait();
        std::vector<detail::RunRecord> records = source->finish();
        return detail::summarise({.source = source->name(),
                                  .launches = options.launches,
                                  .turns = source->turns(),
                                  .scope = source->scope(),
                                  .remark = std::move(remark)},
                                 std::move(nodes.profiled), std::move(records));
    } catch (...) {
        detail::ignore(cudaStreamSynchronize(stream.get())); // other launches may precede the failed one
        throw;
    }
}

} // namespace cudag
