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

std::unique_ptr<TimeSource> start_recording(const detail::NativeNodes& natives) {
    if (auto times = detail::record_cpu_times(natives)) return times;
    detail::refuse<Error>(
        "profile: NVIDIA's runtime has no clock for the nodes of a graph; build the program for the CPU "
        "runtime",
        {}, cudaErrorNotSupported);
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
        const std::unique_ptr<TimeSource> source = start_recording(nodes.natives);
        for (unsigned i = 0; i < options.launches; ++i)
            exec.launch(stream);
        wait();
        return detail::summarise(source->name(), options.launches, std::move(nodes.profiled), source->finish());
    } catch (...) {
        detail::ignore(cudaStreamSynchronize(stream.get())); // other launches may precede the failed one
        throw;
    }
}

} // namespace cudag
