// Construction and replays of a shape of a GraphedFunction.
#include "graphed_shape.hpp"

#include "capture_attempt.hpp"
#include "cuda/device_guard.hpp"
#include "owners/reclaim.hpp"
#include "stream/stream_order.hpp"
#include "verification.hpp"

#include <cudag/format.hpp>
#include <cudag/graph.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace cudag::detail {

/// Memory allocated and freed in the order of a stream.
class SavedInput {
  public:
    SavedInput(cudaStream_t stream, std::size_t bytes) : stream_(stream) {
        checked(cudaMallocAsync(&memory_, bytes, stream), "cudaMallocAsync");
    }
    ~SavedInput() { report_release(cudaFreeAsync(memory_, stream_), "cudaFreeAsync"); }
    SavedInput(const SavedInput&) = delete;
    SavedInput& operator=(const SavedInput&) = delete;

    [[nodiscard]] void* memory() const noexcept { return memory_; }

  private:
    cudaStream_t stream_;
    void* memory_ = nullptr;
};

namespace {

/// Orders later work in `after` behind the present work in `before`.
void order(cudaStream_t before, cudaStream_t after) {
    const OrderResult ordered = order_streams(before, after);
    checked(ordered.status, ordered.operation);
}

/// Allocates `bytes` in the order of the memory stream, usable in `stream`.
std::shared_ptr<void> allocate_in_stream(const GraphedSetup& setup, cudaStream_t stream, std::size_t bytes) {
    reclaim(); // former shapes may have left the missing memory
    void* block = nullptr;
    const cudaError_t status = cudaMallocAsync(&block, bytes, setup.memory->get());
    if (status != cudaSuccess) {
        Subject subject = setup.subject();
        subject.text += fmt::format(": {} bytes of static inputs", bytes);
        raise_call<Error>(status, "cudaMallocAsync", std::move(subject));
    }
    std::shared_ptr<void> memory(block, [stream = setup.memory](void* unused) {
        report_release(cudaFreeAsync(unused, stream->get()), "cudaFreeAsync");
    });
    order(setup.memory->get(), stream);
    return memory;
}

/// Allocates the static inputs of `shape` as one block, usable in `stream`; null if all are empty. Adds its size to
/// `own` unless it is in the pool. For binding, a gap follows each input: a pointer to its end then refers to nothing
/// else.
std::shared_ptr<void> allocate_inputs(const GraphedSetup& setup, cudaStream_t stream, GraphedInputs shape,
                                      std::vector<StaticInput>& inputs, std::size_t& own) {
    std::vector<std::size_t> offsets;
    std::size_t total = 0;
    for (const GraphedInput& input : shape) {
        offsets.push_back(total);
        const std::size_t gap = setup.options.bind_inputs && input.size != 0 ? 1 : 0;
        total += (bytes_of(input) + gap + input_alignment - 1) / input_alignment * input_alignment;
        inputs.push_back({nullptr, input.size});
    }
    if (total == 0) return nullptr;
    std::shared_ptr<void> memory;
    if (setup.pool != nullptr) {
        memory = setup.pool->allocate<std::byte>(total, setup.location).owner();
    } else {
        memory = allocate_in_stream(setup, stream, total);
        own = total;
    }
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i].size != 0) inputs[i].data = static_cast<std::byte*>(memory.get()) + offsets[i];
    return memory;
}

/// Whether the input must be copied: an output may be an input, in place.
bool needs_copy(const GraphedInput& given, const StaticInput& input) {
    return given.size != 0 && given.data != input.data;
}

/// Whether the copies of inputs up to `i` write to the source of `given[i]`: an output inside the static inputs,
/// returned as another input than its own.
bool is_overwritten(std::size_t i, GraphedInputs given, const std::vector<StaticInput>& inputs) {
    if (!needs_copy(given[i], inputs[i])) return false;
    for (std::size_t k = 0; k <= i; ++k)
        if (needs_copy(given[k], inputs[k]) &&
            overlap(range_of(inputs[k].data, bytes_of(given[k])), range_of(given[i].data, bytes_of(given[i]))))
            return true;
    return false;
}

void copy(cudaStream_t stream, void* to, const GraphedInput& from) {
    checked(cudaMemcpyAsync(to, from.data, bytes_of(from), copy_kind(Side::device, from.side), stream),
            "cudaMemcpyAsync");
}

/// Copies the inputs as necessary, and returns the number of copies.
std::size_t copy_inputs(cudaStream_t stream, GraphedInputs given, const std::vector<StaticInput>& inputs) {
    std::size_t copied = 0;
    std::vector<std::unique_ptr<SavedInput>> saved; // by input; empty if none is necessary
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (!is_overwritten(i, given, inputs)) continue;
        saved.resize(given.size());
        saved[i] = std::make_unique<SavedInput>(stream, bytes_of(given[i]));
        copy(stream, saved[i]->memory(), given[i]);
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (!needs_copy(given[i], inputs[i])) continue;
        GraphedInput from = given[i];
        if (!saved.empty() && saved[i]) from.data = saved[i]->memory();
        copy(stream, inputs[i].data, from);
        ++copied;
    }
    return copied;
}

/// Copies and pads the inputs. Returns the number of copies.
std::size_t copy_and_pad(cudaStream_t stream, const GraphedCall& call, const std::vector<StaticInput>& inputs) {
    const std::size_t copied = copy_inputs(stream, call.given, inputs);
    if (call.padded != nullptr) fill_padding(stream, *call.padded, call.given, inputs); // last: it may be over a source
    return copied;
}

/// A period of work in the side stream: behind present work in the caller's stream, before later work there and in the
/// memory stream.
class SideWork {
  public:
    SideWork(const GraphedSetup& setup, cudaStream_t stream) : setup_(setup), stream_(stream) {
        order(stream, setup.side.get());
    }
    ~SideWork() {
        const cudaStream_t side = setup_.side.get();
        const auto wait = [&](cudaStream_t waiting) {
            return cudaStreamWaitEvent(waiting, end_.get(), cudaEventWaitDefault) == cudaSuccess;
        };
        if (cudaEventRecord(end_.get(), side) == cudaSuccess && wait(stream_) && wait(setup_.memory->get())) return;
        static_cast<void>(cudaGetLastError());
        ignore(cudaStreamSynchronize(side));
    }
    SideWork(const SideWork&) = delete;
    SideWork& operator=(const SideWork&) = delete;

  private:
    const GraphedSetup& setup_;
    cudaStream_t stream_;
    Event end_{{.timing = false}};
};

void warm_up(const GraphedSetup& setup, cudaStream_t stream, const GraphedCall& call,
             const std::vector<StaticInput>& inputs) {
    if (setup.options.warm_up_runs == 0) return;
    const SideWork work(setup, stream);
    for (unsigned i = 0; i < setup.options.warm_up_runs; ++i) {
        copy_and_pad(setup.side.get(), call, inputs); // each time: the function may write to them
        Steps steps(Passkey(), setup.side.get());
        setup.task.run(setup.task.callable.get(), steps, inputs.data());
    }
}

std::string name_of(std::span<const StaticInput> inputs) {
    std::string sizes;
    for (const StaticInput& input : inputs)
        sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", input.size);
    return fmt::format("forward({})", sizes);
}

} // namespace

StagedInputs::StagedInputs(cudaStream_t stream, GraphedInputs given) : inputs_(given.begin(), given.end()) {
    for (GraphedInput& input : inputs_) {
        if (input.side != Side::device || input.size == 0) continue;
        saved_.push_back(std::make_unique<SavedInput>(stream, bytes_of(input)));
        copy(stream, saved_.back()->memory(), input);
        input.data = saved_.back()->memory();
    }
}
StagedInputs::~StagedInputs() = default;

Subject GraphedSetup::subject() const {
    return subject_of_forward(location);
}

GraphedShape::GraphedShape(const GraphedSetup& setup, cudaStream_t stream, const GraphedCall& call)
    : GraphedShape(setup, stream, call, Eager()) {
    prepare(setup, stream, call);
    if (setup.pool != nullptr) memory_ = setup.pool->owner(); // other shapes may use the inputs' memory from now on
}

GraphedShape::GraphedShape(const GraphedSetup& setup, cudaStream_t stream, const GraphedCall& call, Eager)
    : given_count_(setup.task.given_count()),
      memory_(allocate_inputs(setup, stream, call.shape, inputs_, input_bytes_)) {}

void GraphedShape::prepare(const GraphedSetup& setup, cudaStream_t stream, const GraphedCall& call) {
    const GraphedInputs given = call.given;
    warm_up(setup, stream, call, inputs_);
    CaptureOptions options = setup.options.capture;
    const auto is_empty = [](const GraphedInput& input) { return input.size == 0; };
    if (!given.empty() && std::all_of(given.begin(), given.end(), is_empty)) options.allow_empty = true;
    Recorded recorded = record(setup, options, inputs_);
    output_ = std::move(recorded.output);
    made_ = std::move(recorded.made);
    if (recorded.segments) {
        segments_ = std::move(recorded.segments);
        for (std::size_t i = 0; i < segments_->segment_count(); ++i)
            exec_bytes_ += estimated_bytes(segments_->graph(i));
        return;
    }
    exec_ = recorded.graph->instantiate(setup.options.instantiate);
    exec_bytes_ = estimated_bytes(*recorded.graph, *exec_);
    if (setup.options.bind_inputs) bound_.emplace(*recorded.graph, *exec_, given, inputs_, setup.task.is_const);
}

GraphedShape::Recorded GraphedShape::record(const GraphedSetup& setup, CaptureOptions options,
                                            const std::vector<StaticInput>& inputs) const {
    std::optional<MadeMemory> made;
    if (setup.options.verify != 0) made.emplace();
    StreamCapture capture(setup.side, options, setup.location);
    const auto run = [&] {
        Steps steps(Passkey(), capture);
        return setup.task.run(setup.task.callable.get(), steps, inputs.data());
    };
    Recorded recorded;
    if (setup.task.takes_steps) { // a break inside of a step would be refused
        recorded.output = run();
        capture.mark(name_of(std::span(inputs).first(given_count_)), setup.location);
    } else {
        recorded.output = capture.step(name_of(std::span(inputs).first(given_count_)), run, {.allow_empty = true},
                                       setup.location); // finish() checks, by CaptureOptions
    }
    const std::shared_ptr<const void> memory = setup.pool != nullptr ? setup.pool->owner() : memory_;
    capture.retain(memory, setup.task.callable, recorded.output); // replays in flight outlive the shape
    if (setup.task.takes_steps)
        recorded.segments = std::move(capture).finish_segments({.instantiate = setup.options.instantiate});
    else
        recorded.graph = std::move(capture).finish();
    if (made) recorded.made = made->take();
    return recorded;
}

void GraphedShape::verify(const GraphedSetup& setup, GraphedInputs given) {
    if (replays() % setup.options.verify != 0) return; // the launch after the capture is no replay
    std::vector<StaticInput> inputs = inputs_;
    if (bound_) {
        static_cast<void>(bound_->bind(*exec_, given));
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (inputs[i].size != 0 && bound_->why_copied(i) == nullptr)
                inputs[i].data = const_cast<void*>(given[i].data); // the function takes it as const
    }
    CaptureOptions options = setup.options.capture;
    options.allow_empty = true;
    const VerifiedReplay verified{
        fmt::format("{}, replay {}", setup.subject().text, replays()), setup.location,
        "pass what changes as an input, keep changing values in device memory (DeviceScalar), or call reset() after a "
        "change"};
    try {
        Recorded again = record(setup, options, inputs);
        const RecordedMemory kept{made_}, memory{std::move(again.made)};
        if (exec_) return require_same(verified, *exec_, kept, *again.graph, memory);
        const std::size_t count = segments_->segment_count();
        if (again.segments->segment_count() != count || again.segments->break_count() != segments_->break_count())
            refuse<CaptureError>("it has other segments and breaks than in its capture", setup.subject(),
                                 cudaErrorIllegalState);
        for (std::size_t i = 0; i < count; ++i)
            require_same(verified, segments_->exec(i), kept, again.segments->graph(i), memory);
    } catch (const CaptureError& cause) {
        refuse_again(verified, cause);
    }
}

std::vector<CopiedInput> GraphedShape::copied_inputs() const {
    std::vector<CopiedInput> copied;
    for (std::size_t i = 0; i < given_count_; ++i) {
        const char* const reason = bound_      ? bound_->why_copied(i)
                                   : segments_ ? "the function takes Steps, and may have breaks"
                                   : exec_     ? "bind_inputs is not set"
                                               : "the shape has no graph, and ran eagerly";
        if (inputs_[i].size != 0 && reason != nullptr) copied.push_back({i, reason});
    }
    return copied;
}

void GraphedShape::add_to(CacheContent& content) const {
    content.buffers += input_bytes_;
    if (exec_) content.execs.push_back(&*exec_);
    if (segments_)
        for (std::size_t i = 0; i < segments_->segment_count(); ++i)
            content.graphs.push_back(&segments_->graph(i));
}

bool GraphedShape::is_of(GraphedInputs given) const noexcept {
    return std::equal(given.begin(), given.end(), inputs_.begin(), inputs_.end(),
                      [](const GraphedInput& a, const StaticInput& b) { return a.size == b.size; });
}

/// Launches after `copy()`, which returns the number of copies.
template <class Copy>
std::size_t GraphedShape::replay_after(cudaStream_t stream, const Copy& copy) {
    std::size_t copied = 0;
    try {
        copied = copy();
        if (exec_) [[likely]]
            exec_->launch(stream);
        else
            segments_->launch(stream);
    } catch (...) {
        ignore(cudaStreamSynchronize(stream)); // no event marks the end of the copies made
        throw;
    }
    if (const cudaError_t status = cudaEventRecord(replayed_->get(), stream); status != cudaSuccess) {
        ignore(status);
        ignore(cudaStreamSynchronize(stream)); // an earlier mark, or none, is then as good
    }
    return copied;
}

std::size_t GraphedShape::replay(cudaStream_t stream, GraphedInputs given) {
    if (bound_) given = bound_->bind(*exec_, given);
    return replay_after(stream, [&] { return copy_inputs(stream, given, inputs_); });
}

std::size_t GraphedShape::replay(cudaStream_t stream, const GraphedCall& call) {
    if (call.padded == nullptr) return replay(stream, call.given);
    return replay_after(stream, [&] { return copy_and_pad(stream, call, inputs_); });
}

std::size_t GraphedShape::run_eagerly(const GraphedSetup& setup, cudaStream_t stream, const GraphedCall& call) {
    OwnerVersions kept = version_of({Owner(), Owner(), Owner()}); // before anything is enqueued
    std::size_t copied = 0;
    try {
        copied = copy_and_pad(stream, call, inputs_);
        Steps steps(Passkey(), stream);
        output_ = setup.task.run(setup.task.callable.get(), steps, inputs_.data());
    } catch (...) {
        ignore(cudaStreamSynchronize(stream)); // no event marks the end of the work so far
        throw;
    }
    kept.front().owners[2].object = setup.task.callable;
    if (const cudaError_t status = cudaEventRecord(replayed_->get(), stream); status != cudaSuccess) {
        ignore(status);
        ignore(cudaStreamSynchronize(stream));
    }
    keep_until_now(stream, std::move(kept));
    return copied;
}

void GraphedShape::keep_until_now(cudaStream_t stream) {
    keep_until_now(stream, version_of({Owner(), Owner()}));
}
void GraphedShape::keep_until_now(cudaStream_t stream, OwnerVersions&& kept) noexcept {
    kept.front().owners[0].object = memory_;
    kept.front().owners[1].object = output_;
    InFlight work;
    try {
        work.launched(work.mark(stream), stream);
    } catch (const Error&) {
        ignore(cudaStreamSynchronize(stream));
    }
    work.retire(std::move(kept));
}

} // namespace cudag::detail
