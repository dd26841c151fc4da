// Profiles of Execs: launches them, and records the runs of their nodes.
#include <cudag/profile.hpp>

#include <cudag/event.hpp>

#include "cuda/failure.hpp"
#include "exec/exec_state.hpp"
#include "profile_summary.hpp"
#include "profiled_nodes.hpp"
#include "time_source.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace cudag {

namespace {

using detail::TimeSource;

std::unique_ptr<TimeSource> start_recording(const detail::ExecNodes& nodes) {
    if (auto times = detail::record_cpu_times(nodes)) return times;
#ifdef CUDAG_CUPTI
    return detail::record_cupti_times(nodes);
#else
    detail::refuse<Error>(
        "profile: cudag was built without CUPTI, which measures the nodes on a GPU; install its headers "
        "and build cudag with the Meson option cupti=enabled",
        {}, cudaErrorNotSupported);
#endif
}

void check_idle(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    detail::checked(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
    if (status != cudaStreamCaptureStatusNone)
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
        const std::unique_ptr<TimeSource> source = start_recording(nodes);
        for (unsigned i = 0; i < options.launches; ++i) {
            source->before_launch(stream.get());
            exec.launch(stream);
        }
        wait();
        std::vector<detail::RunRecord> records = source->finish();
        return detail::summarise(source->name(), options.launches, std::move(nodes.profiled), std::move(records),
                                 source->turns());
    } catch (...) {
        detail::ignore(cudaStreamSynchronize(stream.get())); // other launches may precede the failed one
        throw;
    }
}

} // namespace cudag
