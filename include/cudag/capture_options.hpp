// CaptureOptions, StepOptions: permissions and requirements of stream captures and their steps.
#pragma once

#include <cudag/capture_mode.hpp>
#include <cudag/capture_pool.hpp>

#include <cstdint>

namespace cudag {

/// Whether a capture may record graph memory nodes, such as those of cudaMallocAsync.
/// - CUDA allows one Exec at a time for a graph with such nodes, and clones it never.
/// - Memory that is allocated and not freed again must be freed between two launches.
/// - Refused ones stay in the graph of a GraphBuilder, because CUDA removes no such nodes: `build()` then throws.
enum class MemoryNodes : std::uint8_t {
    allowed, ///< they become nodes of the graph
    refused, ///< the step that records one throws CaptureError, or the end of the capture
};

/// The options of a stream capture.
struct CaptureOptions {
    CaptureMode mode = CaptureMode::thread_local_;
    /// Accepts a capture without nodes: it yields a graph without nodes, or an empty node in a GraphBuilder. Its steps
    /// may then record nothing, too. By default this is an error: the work went into another stream, mostly the legacy
    /// default stream, and has already run.
    bool allow_empty = false;
    /// Makes CUDA refuse work in the legacy default stream of the stream's device, on every thread, until the capture
    /// ends: the call fails with cudaErrorStreamCaptureImplicit and does nothing, and the capture is broken. By default
    /// such work is not recorded but runs at once, unless the captured stream is a blocking one. Costs one more stream
    /// for each capture.
    bool refuse_legacy_stream = false;
    /// The id of a CapturePool retained by the graph; none by default. The capture throws Error if the pool is gone.
    PoolId pool = {};
    /// Accepts refused calls in the whole capture; see StepOptions.
    bool allow_refused_calls = false;
    /// Refuses allocations and frees of graph memory, such as a library's own workspace: let it use a CapturePool, or
    /// memory allocated before the capture. The search costs a CUDA call for each recorded node.
    MemoryNodes memory_nodes = MemoryNodes::allowed;
};

/// Permissions for one step of a capture, to do things that are usually mistakes.
struct StepOptions {
    /// Accepts a step without a recorded node, fork or join. By default this is an error: the work went into another
    /// stream, has already run, and would be missing in every replay.
    bool allow_empty = false;
    /// Accepts CUDA calls that fail because of the capture without breaking it, as in a library with a fallback for
    /// such failures. By default they are an error, even if the library swallowed it: their effect is missing in every
    /// replay. cudag finds them in CUDA's log: driver 12.9 and later.
    bool allow_refused_calls = false;
};

} // namespace cudag
