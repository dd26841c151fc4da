// The shapes of a GraphedFunction: lookup, capture, replay and eviction.
#include <cudag/graphed_function.hpp>

#include "cuda/device_guard.hpp"
#include "cuda/failure.hpp"
#include "cuda/memory_holders.hpp"
#include "cuda/observing.hpp"
#include "cuda/open_captures.hpp"
#include "graphed_shape.hpp"
#include "lists/keep_policy.hpp"
#include "lists/lru.hpp"

#include <cudag/error.hpp>
#include <cudag/event.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <list>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

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
        : setup_{std::move(task), options, location}, held_("GraphedFunction", std::string(), location) {}

    const void* forward(cudaStream_t stream, GraphedInputs given);
    void reset() noexcept {
        shapes_.clear();
        guest_.reset();
        known_.clear();
        held_.set(0);
    }

    [[nodiscard]] std::size_t size() const noexcept { return shapes_.size(); }
    [[nodiscard]] std::uint64_t captures() const noexcept { return captures_; }
    [[nodiscard]] std::uint64_t replays() const noexcept { return replays_; }
    [[nodiscard]] std::uint64_t copied_inputs() const noexcept { return copied_inputs_; }
    [[nodiscard]] std::uint64_t eager_runs() const noexcept { return eager_runs_; }
    [[nodiscard]] std::size_t needed_capacity() const noexcept {
        const auto is_active = [&](const KnownShape& shape) { return policy_.is_active(shape.history); };
        return shapes_.size() + static_cast<std::size_t>(std::ranges::count_if(known_, is_active));
    }
    [[nodiscard]] CacheContent content() const {
        CacheContent content{.held = held_.bytes(), .held_high = held_.high()};
        for (const GraphedShape& shape : shapes_)
            shape.add_to(content);
        if (guest_) guest_->add_to(content);
        return content;
    }
    [[nodiscard]] std::vector<CopiedInput> last_copied() const {
        if (last_is_guest_ && guest_) return guest_->copied_inputs();
        return shapes_.empty() ? std::vector<CopiedInput>() : shapes_.back().copied_inputs();
    }

  private:
    void require_not_captured(cudaStream_t stream) const;
    void require_memory(GraphedInputs given) const;
    void evict() noexcept;
    void count_held() noexcept;

    /// A shape without a graph.
    struct KnownShape {
        std::vector<std::size_t> sizes;
        UseHistory history;
        bool has_gone = false; ///< its graph was dropped, and it has not come since
    };
    using Place = LruInFlight<GraphedShape>::Place;
    static constexpr std::size_t most_known = 256;

    [[nodiscard]] KnownShape& known_shape(GraphedInputs given);
    [[nodiscard]] Place first_to_go();
    [[nodiscard]] bool gets_room(const UseHistory& history);
    void capture(cudaStream_t stream, GraphedInputs given, const UseHistory& history);
    void run_eagerly(cudaStream_t stream, GraphedInputs given);
    void observe_crowding() const;

    GraphedSetup setup_;
    LruInFlight<GraphedShape> shapes_;
    MemoryHolder held_;
    std::optional<GraphedShape> guest_; ///< the shape of the last eager run
    bool last_is_guest_ = false;
    std::vector<KnownShape> known_; ///< those without a graph
    KeepPolicy policy_;
    std::shared_ptr<Event> last_; ///< after the last replay of any shape
    unsigned long long last_stream_ = 0;
    std::uint64_t captures_ = 0;
    std::uint64_t replays_ = 0;
    std::uint64_t copied_inputs_ = 0;
    std::uint64_t eager_runs_ = 0;
    std::uint64_t returns_ = 0; ///< of shapes whose graph was dropped
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

/// Drops the shapes that are worth least, except the one just used. Replays run in order: after one shape has finished,
/// so have all used less recently.
void GraphedCache::State::evict() noexcept {
    while (shapes_.size() > setup_.options.capacity) {
        const Place gone = first_to_go();
        ignore(cudaEventSynchronize(gone->replayed()->get()));
        policy_.displace(gone->history);
        try {
            std::vector<std::size_t> sizes;
            for (const StaticInput& input : gone->inputs())
                sizes.push_back(input.size);
            known_.push_back({std::move(sizes), gone->history, true});
        } catch (const std::bad_alloc&) { // the shape is then as a new one
        }
        shapes_.erase(gone);
    }
}

void GraphedCache::State::count_held() noexcept {
    std::size_t bytes = guest_ ? guest_->held_bytes() : 0;
    for (const GraphedShape& shape : shapes_)
        bytes += shape.held_bytes();
    held_.set(bytes);
}

GraphedCache::State::Place GraphedCache::State::first_to_go() {
    return std::min_element(shapes_.begin(), shapes_.last(), [&](const GraphedShape& a, const GraphedShape& b) {
        return policy_.goes_before(a.history, b.history);
    });
}

/// The shape of `given`, which has no graph. The one used least recently gives way to a new one if there are many.
GraphedCache::State::KnownShape& GraphedCache::State::known_shape(GraphedInputs given) {
    const auto known = std::ranges::find_if(known_, [&](const KnownShape& shape) {
        return std::ranges::equal(shape.sizes, given, {}, {}, &GraphedInput::size);
    });
    if (known != known_.end()) return *known;
    KnownShape made;
    for (const GraphedInput& input : given)
        made.sizes.push_back(input.size);
    if (known_.size() < most_known) return known_.emplace_back(std::move(made));
    KnownShape& oldest =
        *std::ranges::min_element(known_, {}, [](const KnownShape& shape) { return shape.history.last; });
    return oldest = std::move(made);
}

/// Whether a shape with this history gets a graph: there is room, or it is worth more than the one that would go.
bool GraphedCache::State::gets_room(const UseHistory& history) {
    if (shapes_.size() < setup_.options.capacity) return true;
    const auto worst =
        std::min_element(shapes_.begin(), shapes_.end(), [&](const GraphedShape& a, const GraphedShape& b) {
            return policy_.goes_before(a.history, b.history);
        });
    return policy_.displaces(history, policy_.frequency(worst->history));
}

/// Captures the shape of `given`, and replays it; it is then the last one.
void GraphedCache::State::capture(cudaStream_t stream, GraphedInputs given, const UseHistory& history) {
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
    made.front().history = history;
    policy_.keep(made.front().history);
    shapes_.add(std::move(made));
    copied_inputs_ += copied;
    ++captures_;
    ++replays_;
}

void GraphedCache::State::run_eagerly(cudaStream_t stream, GraphedInputs given) {
    const DeviceGuard device(setup_.device);
    GraphedShape guest(setup_, stream, given, GraphedShape::Eager());
    copied_inputs_ += guest.run_eagerly(setup_, stream, given);
    if (guest_) guest_->keep_until_now(stream); // the caller's work, too, may read its output, in order before
    guest_.emplace(std::move(guest));
    ++eager_runs_;
}

void GraphedCache::State::observe_crowding() const {
    constexpr std::uint64_t first_event = 8;
    if (eager_runs_ < first_event || !std::has_single_bit(eager_runs_)) return;
    observe([&] {
        const std::size_t needed = needed_capacity();
        return ObservedCrowding{"GraphedFunction",       eager_runs_, needed - shapes_.size(), returns_,
                                setup_.options.capacity, needed};
    });
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
        policy_.use_kept(known->history);
        if (known != shapes_.rbegin()) shapes_.use(std::prev(known.base()));
        ++replays_;
        last_is_guest_ = false;
    } else {
        KnownShape& shape = known_shape(given);
        const UseHistory history = policy_.used(shape.history);
        const bool is_captured = gets_room(history);
        if (is_captured)
            capture(stream, given, history);
        else
            run_eagerly(stream, given);
        KnownShape& used = known_shape(given); // again: the function may have used others
        policy_.use(used.history);
        if (std::exchange(used.has_gone, false)) ++returns_;
        last_is_guest_ = !is_captured;
        count_held();
        if (is_captured) {
            std::erase_if(known_, [&](const KnownShape& other) {
                return std::ranges::equal(other.sizes, given, {}, {}, &GraphedInput::size);
            });
            evict();
            count_held();
        } else {
            observe_crowding();
        }
    }
    const GraphedShape& last = last_is_guest_ ? *guest_ : shapes_.back();
    last_ = last.replayed();
    last_stream_ = id;
    return last.output();
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
std::uint64_t GraphedCache::eager_runs() const {
    return state().eager_runs();
}
std::size_t GraphedCache::needed_capacity() const {
    return state().needed_capacity();
}
CacheContent GraphedCache::content() const {
    return state().content();
}
std::vector<CopiedInput> GraphedCache::last_copied() const {
    return state().last_copied();
}

} // namespace cudag::detail
