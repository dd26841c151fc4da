// How a shape of a GraphedFunction comes to be, and replays.
#include "graphed_shape.hpp"

#include "device_guard.hpp"
#include "reclaim.hpp"

#include <cudag/format.hpp>
#include <cudag/graph.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace cudag::detail {

namespace {

/// What is enqueued in `after` from now on comes after what is in `before`.
void order(cudaStream_t before, cudaStream_t after) {
    Event event({.timing = false});
    event.record(before);
    checked(cudaStreamWaitEvent(after, event.get(), cudaEventWaitDefault), "cudaStreamWaitEvent");
}

/// The static inputs for `given`, in one allocation; null if all are empty. `stream` may use it.
std::shared_ptr<void> allocate_inputs(const GraphedSetup& setup, cudaStream_t stream, GraphedInputs given,
                                      std::vector<StaticInput>& inputs) {
    constexpr std::size_t alignment = 256; // of cudaMalloc
    std::vector<std::size_t> offsets;
    std::size_t total = 0;
    for (const GraphedInput& input : given) {
        offsets.push_back(total);
        total += (input.size * input.element_bytes + alignment - 1) / alignment * alignment;
        inputs.push_back({nullptr, input.size});
    }
    if (total == 0) return nullptr;
    reclaim(); // what former shapes have left may be what is missing
    void* block = nullptr;
    const cudaError_t status = cudaMallocAsync(&block, total, setup.memory->get());
    if (status != cudaSuccess) {
        Subject subject = setup.subject();
        subject.text += fmt::format(": {} bytes of static inputs", total);
        raise_call<Error>(status, "cudaMallocAsync", std::move(subject));
    }
    std::shared_ptr<void> memory(
        block, [stream = setup.memory](void* unused) { ignore(cudaFreeAsync(unused, stream->get())); });
    order(setup.memory->get(), stream);
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i].size != 0) inputs[i].data = static_cast<std::byte*>(block) + offsets[i];
    return memory;
}

void copy_inputs(cudaStream_t stream, GraphedInputs given, const std::vector<StaticInput>& inputs) {
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (given[i].size == 0 || given[i].data == inputs[i].data) continue; // an output may be an input, in place
        checked(cudaMemcpyAsync(inputs[i].data, given[i].data, given[i].size * given[i].element_bytes,
                                copy_kind(Side::device, given[i].side), stream),
                "cudaMemcpyAsync");
    }
}

/// The time in which work runs in the side stream: after what is in the caller's stream, before what comes there and in
/// the memory stream.
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

void warm_up(const GraphedSetup& setup, cudaStream_t stream, GraphedInputs given,
             const std::vector<StaticInput>& inputs) {
    if (setup.options.warm_up_runs == 0) return;
    const SideWork work(setup, stream);
    for (unsigned i = 0; i < setup.options.warm_up_runs; ++i) {
        copy_inputs(setup.side.get(), given, inputs); // each time: the function may write to them
        setup.task.run(setup.task.callable.get(), setup.side.get(), inputs.data());
    }
}

std::string name_of(const std::vector<StaticInput>& inputs) {
    std::string sizes;
    for (const StaticInput& input : inputs)
        sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", input.size);
    return fmt::format("forward({})", sizes);
}

} // namespace

Subject GraphedSetup::subject() const {
    return {fmt::format("GraphedFunction at {}: forward", location), {}, location};
}

GraphedShape::GraphedShape(const GraphedSetup& setup, cudaStream_t stream, GraphedInputs given)
    : memory_(allocate_inputs(setup, stream, given, inputs_)), exec_(prepare(setup, stream, given)) {}

Exec GraphedShape::prepare(const GraphedSetup& setup, cudaStream_t stream, GraphedInputs given) {
    warm_up(setup, stream, given, inputs_);
    StreamCapture capture(setup.side, setup.options.capture, setup.location);
    output_ = capture.step(
        name_of(inputs_),
        [&](cudaStream_t side) { return setup.task.run(setup.task.callable.get(), side, inputs_.data()); },
        setup.location);
    capture.retain(memory_, setup.task.callable, output_); // replays in flight outlive the shape
    return std::move(capture).finish().instantiate(setup.options.instantiate);
}

bool GraphedShape::is_of(GraphedInputs given) const noexcept {
    return std::equal(given.begin(), given.end(), inputs_.begin(), inputs_.end(),
                      [](const GraphedInput& a, const StaticInput& b) { return a.size == b.size; });
}

void GraphedShape::replay(cudaStream_t stream, GraphedInputs given) {
    try {
        copy_inputs(stream, given, inputs_);
        exec_.launch(stream);
    } catch (...) {
        ignore(cudaStreamSynchronize(stream)); // no event tells when the copies that were made have ended
        throw;
    }
    if (const cudaError_t status = cudaEventRecord(replayed_->get(), stream); status != cudaSuccess) {
        ignore(status);
        ignore(cudaStreamSynchronize(stream)); // the mark of an earlier replay, or none, is then as good
    }
}

} // namespace cudag::detail
