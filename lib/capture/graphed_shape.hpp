// One shape of a GraphedFunction: its static inputs, its executable graph and its output.
#pragma once

#include "bound_inputs.hpp"
#include "buckets/padded_call.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/made_memory.hpp"
#include "exec/cache_content.hpp"
#include "lists/keep_policy.hpp"
#include "owners/in_flight.hpp"

#include <cudag/capture_pool.hpp>
#include <cudag/detail/graphed_task.hpp>
#include <cudag/event.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/graphed_function.hpp>
#include <cudag/segmented_graph.hpp>
#include <cudag/stream.hpp>
#include <cudag/stream_capture.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace cudag::detail {

/// The common setup of all shapes of a GraphedFunction.
struct GraphedSetup {
    GraphedTask task;
    GraphedFunctionOptions options;
    SourceLocation location;
    Stream side = Stream(); ///< for warm-up runs and captures
    int device = device_of(side.get());
    bool is_on_only_device = is_only_device();
    /// Allocates and frees static inputs, without waiting for the device as cudaFree would. Carries no other work: it
    /// must never be captured.
    std::shared_ptr<Stream> memory = std::make_shared<Stream>();
    /// The static inputs of all shapes, one over the other; null without buckets: each shape then has its own.
    std::shared_ptr<CapturePool> pool = nullptr;

    /// Returns "GraphedFunction at f.cpp:12: forward".
    [[nodiscard]] Subject subject() const;
};

class SavedInput;

/// The inputs of a call, and those of its shape, which only have sizes. With buckets the latter are larger.
struct GraphedCall {
    GraphedInputs given; ///< none for zeros
    GraphedInputs shape;
    const PaddedCall* padded = nullptr;
};

/// Copies of given device inputs, in the order of a stream, until its destruction: the runs before a capture overwrite
/// memory that inputs may be in.
class StagedInputs {
  public:
    StagedInputs(cudaStream_t stream, GraphedInputs given);
    ~StagedInputs();
    StagedInputs(const StagedInputs&) = delete;
    StagedInputs& operator=(const StagedInputs&) = delete;

    [[nodiscard]] GraphedInputs inputs() const noexcept { return inputs_; }

  private:
    std::vector<GraphedInput> inputs_;
    std::vector<std::unique_ptr<SavedInput>> saved_;
};

class GraphedShape {
  public:
    /// Warms up and captures, in order with `stream`. Throws the function's exceptions, CaptureError, InstantiateError.
    GraphedShape(const GraphedSetup& setup, cudaStream_t stream, const GraphedCall& call);
    /// A shape without a graph, for `run_eagerly`.
    struct Eager {};
    GraphedShape(const GraphedSetup& setup, cudaStream_t stream, const GraphedCall& call, Eager);

    [[nodiscard]] bool is_of(GraphedInputs given) const noexcept;
    [[nodiscard]] const void* output() const noexcept { return output_.get(); }
    /// The inputs copied by the last replay, with reasons.
    [[nodiscard]] std::vector<CopiedInput> copied_inputs() const;

    /// Throws FrozenValueError, or CaptureError, instead of a replay that is the n-th one after the capture, if the
    /// function records other work now: see GraphedFunctionOptions::verify.
    void verify(const GraphedSetup& setup, GraphedInputs given);
    /// Copies `given` into the static inputs, or binds them, and launches. Returns the number of copies. Throws Error.
    std::size_t replay(cudaStream_t stream, GraphedInputs given);
    /// Copies and pads, and launches.
    std::size_t replay(cudaStream_t stream, const GraphedCall& call);
    /// Copies `given` into the static inputs of a shape without a graph, and calls the function in `stream`. The shape
    /// may be destroyed while its work is in flight. Returns the number of copies. Throws the function's exceptions.
    std::size_t run_eagerly(const GraphedSetup& setup, cudaStream_t stream, const GraphedCall& call);
    /// Keeps the memory of inputs and output until the present work in `stream` has ended, which may read them.
    void keep_until_now(cudaStream_t stream);
    /// An event after the last replay.
    [[nodiscard]] const std::shared_ptr<Event>& replayed() const noexcept { return replayed_; }
    [[nodiscard]] const std::vector<StaticInput>& inputs() const noexcept { return inputs_; }

    /// Device memory: the static inputs, and the execs, estimated.
    [[nodiscard]] std::size_t input_bytes() const noexcept { return input_bytes_; }
    [[nodiscard]] std::size_t held_bytes() const noexcept { return input_bytes_ + exec_bytes_; }
    void add_to(CacheContent& content) const;

    UseHistory history = {};

  private:
    struct Recorded {
        std::optional<Graph> graph;
        std::optional<SegmentedGraph> segments; ///< of a function that takes Steps
        std::shared_ptr<const void> output;
        std::vector<MadeBlock> made; ///< by the function, if it is to be verified
    };
    /// Captures the function with `inputs`, without a run. The graph keeps their memory, the function and its output.
    [[nodiscard]] Recorded record(const GraphedSetup& setup, CaptureOptions options,
                                  const std::vector<StaticInput>& inputs) const;
    void keep_until_now(cudaStream_t stream, OwnerVersions&& kept) noexcept;
    void prepare(const GraphedSetup& setup, cudaStream_t stream, const GraphedCall& call);
    template <class Copy>
    std::size_t replay_after(cudaStream_t stream, const Copy& copy);
    [[nodiscard]] std::uint64_t replays() const { return exec_ ? exec_->replays() : segments_->replays(); }

    std::vector<StaticInput> inputs_;
    std::size_t input_bytes_ = 0; ///< of this shape alone
    std::size_t given_count_;     ///< number of inputs without a Valid
    std::size_t exec_bytes_ = 0;
    std::shared_ptr<const void> memory_; ///< the pool, in a captured shape with buckets
    std::shared_ptr<Event> replayed_ = std::make_shared<Event>(EventOptions{.timing = false});
    std::shared_ptr<const void> output_;
    std::vector<MadeBlock> made_;            ///< memory of the captured function's own
    std::optional<BoundInputs> bound_;       ///< with bind_inputs only
    std::optional<Exec> exec_;               ///< none in a shape without a graph
    std::optional<SegmentedGraph> segments_; ///< instead of `exec_`, of a function that takes Steps
};

} // namespace cudag::detail
