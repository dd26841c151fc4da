// The shapes of a GraphedFunction: lookup, capture, replay and eviction.
#include <cudag/graphed_function.hpp>

#include "cuda/device_guard.hpp"
#include "cuda/failure.hpp"
#include "cuda/launch_looks.hpp"
#include "cuda/memory_holders.hpp"
#include "cuda/no_waiting.hpp"
#include "cuda/observing.hpp"
#include "cuda/open_captures.hpp"
#include "graphed_shape.hpp"
#include "lists/keep_policy.hpp"
#include "lists/lru.hpp"

#include <cudag/capture_pool.hpp>
#include <cudag/error.hpp>
#include <cudag/event.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
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
        : setup_{std::move(task), options, location}, held_("GraphedFunction", std::string(), location) {
        if (setup_.options.bucket) make_pool();
        is_looked_at_ = setup_.pool != nullptr || setup_.options.verify != 0;
    }
    ~State() {
        if (setup_.pool == nullptr) return;
        const NoWaiting no_waiting; // the pool's end would wait for the device: its memory is left over
        shapes_.clear();
        guest_.reset();
        setup_.pool.reset();
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const void* forward(cudaStream_t stream, GraphedInputs given);
    void prepare(cudaStream_t stream, std::span<const std::size_t> sizes,
                 const std::function<void(const PreparedBucket&)>& progress);
    void reset() noexcept {
        shapes_.clear();
        guest_.reset();
        cut_.reset();
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
        if (setup_.pool) content.owners.push_back(setup_.pool->owner());
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
    /// The memory of all shapes with a graph.
    [[nodiscard]] std::size_t kept_bytes() noexcept;
    void look_at(GraphedShape& shape, GraphedInputs given);

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
    [[nodiscard]] bool gets_room(const UseHistory& history, std::size_t own_bytes);
    [[nodiscard]] bool fit(std::size_t shapes, std::size_t bytes) const noexcept {
        const GraphedFunctionOptions& options = setup_.options;
        return shapes <= options.capacity && (bytes <= options.max_bytes || shapes <= options.min_graphs);
    }
    void make_pool();
    /// Orders `stream` behind the last replay; returns its id.
    unsigned long long order_behind_last(cudaStream_t stream) const;
    [[nodiscard]] std::vector<std::size_t> missing_buckets(std::span<const std::size_t> sizes) const;
    [[nodiscard]] auto find(GraphedInputs shape) {
        return std::find_if(shapes_.rbegin(), shapes_.rend(),
                            [&](const GraphedShape& each) { return each.is_of(shape); });
    }
    template <class Inputs>
    void replay(std::reverse_iterator<Place> known, cudaStream_t stream, GraphedInputs given, const Inputs& inputs);
    void run_new(cudaStream_t stream, const GraphedCall& call);
    void capture(cudaStream_t stream, const GraphedCall& call, const UseHistory& history);
    void run_eagerly(cudaStream_t stream, const GraphedCall& call);
    [[nodiscard]] const void* forward_padded(cudaStream_t stream, GraphedInputs given);
    const void* note_last(unsigned long long stream);
    void observe_crowding() const;

    GraphedSetup setup_;
    LruInFlight<GraphedShape> shapes_;
    MemoryHolder held_;
    std::optional<GraphedShape> guest_; ///< the shape of the last eager run
    bool last_is_guest_ = false;
    bool is_looked_at_ = false;       ///< whether `look_at` has to do something before a replay
    std::shared_ptr<const void> cut_; ///< the output of the last padded call, cut
    std::vector<KnownShape> known_;   ///< those without a graph
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
        refuse<CaptureError>("the stream is being captured, and replays are not recorded, since each waits for the one "
                             "before: call the function itself there",
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
    while (!fit(shapes_.size(), kept_bytes())) {
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

std::size_t GraphedCache::State::kept_bytes() noexcept {
    std::size_t bytes = 0;
    for (const GraphedShape& shape : shapes_)
        bytes += shape.held_bytes();
    return bytes;
}

void GraphedCache::State::count_held() noexcept {
    held_.set(kept_bytes() + (guest_ ? guest_->held_bytes() : 0));
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
/// `own_bytes`: of its static inputs.
bool GraphedCache::State::gets_room(const UseHistory& history, std::size_t own_bytes) {
    const std::size_t bytes = kept_bytes(), mean = shapes_.empty() ? 0 : bytes / shapes_.size();
    if (fit(shapes_.size() + 1, bytes + std::max(mean, own_bytes))) return true;
    const auto worst =
        std::min_element(shapes_.begin(), shapes_.end(), [&](const GraphedShape& a, const GraphedShape& b) {
            return policy_.goes_before(a.history, b.history);
        });
    return policy_.displaces(history, policy_.frequency(worst->history));
}

/// Captures the shape of `call`, and replays it; it is then the last one.
void GraphedCache::State::capture(cudaStream_t stream, const GraphedCall& call, const UseHistory& history) {
    std::list<GraphedShape> made;
    std::size_t copied = 0;
    try {
        const DeviceGuard device(setup_.device);
        std::optional<StagedInputs> staged; // with buckets they may be former outputs, in the memory of all shapes
        GraphedCall first = call;
        if (call.padded != nullptr && setup_.options.warm_up_runs != 0)
            first.given = staged.emplace(stream, call.given).inputs();
        made.emplace_back(setup_, stream, first);
        copied = made.front().replay(stream, first);
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

void GraphedCache::State::run_eagerly(cudaStream_t stream, const GraphedCall& call) {
    const DeviceGuard device(setup_.device);
    GraphedShape guest(setup_, stream, call, GraphedShape::Eager());
    copied_inputs_ += guest.run_eagerly(setup_, stream, call);
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

unsigned long long GraphedCache::State::order_behind_last(cudaStream_t stream) const {
    const unsigned long long id = id_of(stream);
    if (last_ && id != last_stream_)
        checked(cudaStreamWaitEvent(stream, last_->get(), cudaEventWaitDefault), "cudaStreamWaitEvent");
    return id;
}

/// Looks at a shape before its replay: copies into released memory would be no error of CUDA's, but a fault.
void GraphedCache::State::look_at(GraphedShape& shape, GraphedInputs given) {
    if (setup_.pool != nullptr && is_looked_for(LaunchLook::released) && setup_.pool->is_released())
        refuse<Error>(
            fmt::format("its memory is released, in {}; call restore_memory() before, or restore() of the pool",
                        setup_.pool->memory().name),
            setup_.subject(), cudaErrorNotReady);
    if (setup_.options.verify != 0) shape.verify(setup_, given);
}

/// Replays a known shape, which becomes the last one, with `inputs`: those given, or a call.
template <class Inputs>
void GraphedCache::State::replay(std::reverse_iterator<Place> known, cudaStream_t stream, GraphedInputs given,
                                 const Inputs& inputs) {
    std::optional<DeviceGuard> device; // CUDA copies to memory of pools in the context of the current device
    if (!setup_.is_on_only_device) device.emplace(setup_.device);
    if (is_looked_at_) [[unlikely]]
        look_at(*known, given);
    copied_inputs_ += known->replay(stream, inputs);
    policy_.use_kept(known->history);
    if (known != shapes_.rbegin()) shapes_.use(std::prev(known.base()));
    ++replays_;
    last_is_guest_ = false;
}

/// Captures and replays a shape without a graph, or runs it eagerly.
void GraphedCache::State::run_new(cudaStream_t stream, const GraphedCall& call) {
    const UseHistory history = policy_.used(known_shape(call.shape).history);
    std::size_t own_bytes = 0;
    for (const GraphedInput& input : call.shape)
        if (setup_.pool == nullptr) own_bytes += bytes_of(input);
    const bool is_captured = gets_room(history, own_bytes);
    if (is_captured)
        capture(stream, call, history);
    else
        run_eagerly(stream, call);
    KnownShape& used = known_shape(call.shape); // again: the function may have used others
    policy_.use(used.history);
    if (std::exchange(used.has_gone, false)) ++returns_;
    last_is_guest_ = !is_captured;
    count_held();
    if (is_captured) {
        std::erase_if(known_, [&](const KnownShape& other) {
            return std::ranges::equal(other.sizes, call.shape, {}, {}, &GraphedInput::size);
        });
        evict();
        count_held();
    } else {
        observe_crowding();
    }
}

const void* GraphedCache::State::note_last(unsigned long long stream) {
    const GraphedShape& last = last_is_guest_ ? *guest_ : shapes_.back();
    last_ = last.replayed();
    last_stream_ = stream;
    return last.output();
}

const void* GraphedCache::State::forward(cudaStream_t stream, GraphedInputs given) {
    require_not_captured(stream);
    require_memory(given);
    require_recorded(stream, [&] { return setup_.subject(); });
    if (const auto known = find(given); known != shapes_.rend()) [[likely]] {
        const unsigned long long id = order_behind_last(stream);
        replay(known, stream, given, given);
        return note_last(id);
    }
    if (setup_.options.bucket) return forward_padded(stream, given);
    const unsigned long long id = order_behind_last(stream);
    run_new(stream, {given, given});
    return note_last(id);
}

const void* GraphedCache::State::forward_padded(cudaStream_t stream, GraphedInputs given) {
    const PaddedCall padded = pad(setup_.options, setup_.task, given, setup_.location);
    const GraphedCall call{given, padded.shape, &padded};
    const unsigned long long id = order_behind_last(stream);
    if (const auto known = find(call.shape); known != shapes_.rend())
        replay(known, stream, given, call);
    else
        run_new(stream, call);
    const void* const output = note_last(id);
    if (padded.items == padded.bucket || !setup_.options.cut_outputs || output == nullptr) return output;
    cut_ = setup_.task.cut(output, padded.items, padded.bucket);
    return cut_.get();
}

/// Makes the pool of all static inputs, which all graphs retain.
void GraphedCache::State::make_pool() {
    PoolId& id = setup_.options.capture.pool;
    setup_.pool = std::make_shared<CapturePool>(id != PoolId() ? CapturePool::find(id)
                                                               : CapturePool("GraphedFunction", setup_.location));
    id = setup_.pool->id();
}

/// The buckets of `sizes` without a graph, the largest first. Throws GraphError.
std::vector<std::size_t> GraphedCache::State::missing_buckets(std::span<const std::size_t> sizes) const {
    const Subject subject{fmt::format("GraphedFunction at {}: prepare", setup_.location), {}, setup_.location};
    if (!setup_.options.bucket)
        refuse("there is no bucket; set that option, or let the first forward of each shape capture it", subject);
    const auto& elements = setup_.options.item_elements;
    if (const auto own = std::ranges::find(elements, 0U); own != elements.end())
        refuse(fmt::format("the size of input {} is not rounded (item_elements is 0), so only forward knows its shapes",
                           own - elements.begin()),
               subject);
    std::vector<std::size_t> buckets;
    for (const std::size_t size : sizes) {
        if (size == 0) refuse("a size of 0 items; leave it out", subject);
        buckets.push_back(setup_.options.bucket.round_up(size));
    }
    std::ranges::sort(buckets, std::greater<>());
    buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
    std::erase_if(buckets, [&](std::size_t bucket) {
        const PaddedCall call = call_of_zeros(setup_.options, setup_.task, bucket);
        return std::any_of(shapes_.begin(), shapes_.end(),
                           [&](const GraphedShape& shape) { return shape.is_of(call.shape); });
    });
    if (shapes_.size() + buckets.size() > setup_.options.capacity)
        refuse(fmt::format("{} more buckets, beside {} shapes, are above the capacity of {}; raise it", buckets.size(),
                           shapes_.size(), setup_.options.capacity),
               subject);
    return buckets;
}

void GraphedCache::State::prepare(cudaStream_t stream, std::span<const std::size_t> sizes,
                                  const std::function<void(const PreparedBucket&)>& progress) {
    const std::vector<std::size_t> buckets = missing_buckets(sizes);
    if (buckets.empty()) return;
    require_not_captured(stream);
    require_recorded(stream, [&] { return setup_.subject(); });
    const unsigned long long id = order_behind_last(stream);
    std::list<GraphedShape> made;
    try {
        const DeviceGuard device(setup_.device);
        for (const std::size_t bucket : buckets) {
            const PaddedCall call = call_of_zeros(setup_.options, setup_.task, bucket);
            made.emplace_back(setup_, stream, GraphedCall{{}, call.shape, &call});
            if (progress) progress({bucket, made.size(), buckets.size(), setup_.pool->reserved_bytes()});
        }
        checked(cudaEventRecord(made.back().replayed()->get(), stream), "cudaEventRecord");
    } catch (...) {
        ignore(cudaStreamSynchronize(setup_.side.get())); // later calls do not wait for these warm-up runs
        throw;
    }
    last_ = made.back().replayed();
    last_stream_ = id;
    const bool has_last = !shapes_.empty();
    const Place former = has_last ? shapes_.last() : shapes_.end();
    captures_ += made.size();
    while (!made.empty()) {
        std::list<GraphedShape> one;
        one.splice(one.end(), made, made.begin());
        policy_.keep(one.front().history);
        shapes_.add(std::move(one));
    }
    if (has_last) shapes_.use(former);
    count_held();
}

GraphedCache::GraphedCache(GraphedTask&& task, const GraphedFunctionOptions& options, const SourceLocation& location) {
    if (options.capacity == 0)
        refuse("the capacity is 0; at least 1 shape must be kept",
               {fmt::format("GraphedFunction at {}", location), {}, location});
    if (options.min_graphs == 0)
        refuse("min_graphs is 0; at least 1 shape must be kept",
               {fmt::format("GraphedFunction at {}", location), {}, location});
    require_sound(options, task, {fmt::format("GraphedFunction at {}", location), {}, location});
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
void GraphedCache::prepare(cudaStream_t stream, std::span<const std::size_t> sizes,
                           const std::function<void(const PreparedBucket&)>& progress) {
    state().prepare(stream, sizes, progress);
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
