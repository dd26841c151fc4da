// The shapes of a GraphedFunction: lookup, capture, replay and eviction.
#include <cudag/graphed_function.hpp>

#include "cuda/device_guard.hpp"
#include "cuda/failure.hpp"
#include "cuda/open_captures.hpp"
#include "graphed_shape.hpp"
#include "lists/lru.hpp"

#include <cudag/error.hpp>
#include <cudag/event.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace cudag::detail {

namespace {

/// Unique among all streams ever made: a new stream may reuse the handle of a destroyed one.
unsigned long long id_of(cudaStream_t stream) {
    unsigned long long id = 0;
    checked(cudaStreamGetId(stream, &id), "cudaStreamGetId");
    return id;
}

} // namespace

class GraphedCache::State {
  public:
    State(GraphedTask&& task, const GraphedFunctionOptions& options, const SourceLocation& location)
        : setup_{std::move(task), options, location} {}

    const void* forward(cudaStream_t stream, GraphedInputs given);
    void reset() noexcept { shapes_.clear(); }

    [[nodiscard]] std::size_t size() const noexcept { return shapes_.size(); }
    [[nodiscard]] std::uint64_t captures() const noexcept { return captures_; }
    [[nodiscard]] std::uint64_t replays() const noexcept { return replays_; }
    [[nodiscard]] std::uint64_t copied_inputs() const noexcept { return copied_inputs_; }
    [[nodiscard]] std::vector<CopiedInput> last_copied() const {
        return shapes_.empty() ? std::vector<CopiedInput>() : shapes_.back().copied_inputs();
    }

  private:
    void require_not_captured(cudaStream_t stream) const;
    void require_memory(GraphedInputs given) const;
    void evict() noexcept;

    GraphedSetup setup_;
    LruInFlight<GraphedShape> shapes_;
    std::shared_ptr<Event> last_; ///< after the last replay of any shape
    unsigned long long last_stream_ = 0;
    std::uint64_t captures_ = 0;
    std::uint64_t replays_ = 0;
    std::uint64_t copied_inputs_ = 0;
};

void GraphedCache::State::require_not_captured(cudaStream_t stream) const {
    if (capture_status(stream) != CaptureStatus::none) [[unlikely]]
        refuse<CaptureError>("the stream is being captured, and CUDA cannot launch a graph into a capture: call the "
                             "function itself there",
                             setup_.subject(), cudaErrorStreamCaptureUnsupported);
}

void GraphedCache::State::require_memory(GraphedInputs given) const {
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i].data == nullptr && given[i].size != 0) [[unlikely]]
            refuse<Error>(fmt::format("input {} of {} elements is null", i, given[i].size), setup_.subject());
}

/// Drops the least recently used shapes. Replays run in order: after one shape has finished, so have all used less
/// recently.
void GraphedCache::State::evict() noexcept {
    while (shapes_.size() > setup_.options.capacity) {
        ignore(cudaEventSynchronize(shapes_.front().replayed()->get()));
        shapes_.erase(shapes_.begin());
    }
}

const void* GraphedCache::State::forward(cudaStream_t stream, GraphedInputs given) {
    require_not_captured(stream);
    require_memory(given);
    require_recorded(stream, [&] { return setup_.subject(); });
    const unsigned long long id = id_of(stream);
    if (last_ && id != last_stream_)
        checked(cudaStreamWaitEvent(stream, last_->get(), cudaEventWaitDefault), "cudaStreamWaitEvent");

    const auto known =
        std::find_if(shapes_.rbegin(), shapes_.rend(), [&](const GraphedShape& shape) { return shape.is_of(given); });
    if (known != shapes_.rend()) [[likely]] {
        std::optional<DeviceGuard> device; // CUDA copies to memory of pools in the context of the current device
        if (!setup_.is_on_only_device) device.emplace(setup_.device);
        if (setup_.options.verify != 0) [[unlikely]]
            known->verify(setup_, given);
        copied_inputs_ += known->replay(stream, given);
        shapes_.use(std::prev(known.base()));
    } else {
        std::list<GraphedShape> made;
        std::size_t copied = 0;
        try {
            const DeviceGuard device(setup_.device);
            made.emplace_back(setup_, stream, given);
            copied = made.front().replay(stream, given);
        } catch (...) {
            ignore(cudaStreamSynchronize(setup_.side.get())); // the next forward does not wait for these warm-up runs
            throw;
        }
        shapes_.add(std::move(made));
        copied_inputs_ += copied;
        ++captures_;
    }
    last_ = shapes_.back().replayed();
    last_stream_ = id;
    ++replays_;
    evict();
    return shapes_.back().output();
}

GraphedCache::GraphedCache(GraphedTask&& task, const GraphedFunctionOptions& options, const SourceLocation& location) {
    if (options.capacity == 0)
        refuse("the capacity is 0; at least 1 shape must be kept",
               {fmt::format("GraphedFunction at {}", location), {}, location});
    state_ = std::make_unique<State>(std::move(task), options, location);
}

GraphedCache::GraphedCache(GraphedCache&&) noexcept = default;
GraphedCache& GraphedCache::operator=(GraphedCache&&) noexcept = default;
GraphedCache::~GraphedCache() = default;

GraphedCache::State& GraphedCache::state() const {
    if (!state_) [[unlikely]]
        refuse("a moved-from GraphedFunction was used");
    return *state_;
}

const void* GraphedCache::forward(cudaStream_t stream, std::span<const GraphedInput> inputs) {
    return state().forward(stream, inputs);
}
void GraphedCache::reset() {
    state().reset();
}
std::size_t GraphedCache::size() const {
    return state().size();
}
std::uint64_t GraphedCache::captures() const {
    return state().captures();
}
std::uint64_t GraphedCache::replays() const {
    return state().replays();
}
std::uint64_t GraphedCache::copied_inputs() const {
    return state().copied_inputs();
}
std::vector<CopiedInput> GraphedCache::last_copied() const {
    return state().last_copied();
}

} // namespace cudag::detail
