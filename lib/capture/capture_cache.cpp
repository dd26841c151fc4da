// CaptureCache: eager runs, captures and replays of keys, and their eviction.
#include <cudag/capture_cache.hpp>

#include "capture_attempt.hpp"
#include "cuda/failure.hpp"
#include "cuda/memory_holders.hpp"
#include "cuda/observing.hpp"
#include "cuda/open_captures.hpp"
#include "exec/cache_content.hpp"
#include "lists/keep_policy.hpp"
#include "lists/lru.hpp"
#include "owners/capture_owners.hpp"
#include "owners/in_flight.hpp"
#include "segments/crossing_buffers.hpp"
#include "step_walk.hpp"
#include "verification.hpp"

#include <cudag/buffer_param.hpp>
#include <cudag/error.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <list>
#include <optional>
#include <utility>
#include <vector>

namespace cudag {

namespace detail {

namespace {

std::shared_ptr<const void> run_eagerly(cudaStream_t stream,
                                        const std::function<std::shared_ptr<const void>(Steps&)>& run) {
    Steps steps(Passkey(), stream);
    return run(steps);
}

/// The number of replays before a learned break is tried as a step again.
constexpr std::uint64_t first_retry = 64;

/// An exec, and the memory of its captured function.
struct VerifiedExec {
    Exec exec;
    RecordedMemory memory;
};

/// A key and its state, shared with its calls under way: the functions in them may evict it.
struct CachedKey {
    CachedKey(const KeyView& view, std::uint64_t number, const SourceLocation& location)
        : type(view.type), hash(view.hash), equal(view.equal), key(view.copy(view.key)) {
        report.key = view.text(view.key);
        if (report.key == "?") report.key = fmt::format("key {}", number);
        report.location = location;
    }

    [[nodiscard]] bool has_graph() const noexcept { return exec || verified || walked; }
    [[nodiscard]] bool is(const KeyView& view) const {
        return hash == view.hash && *type == *view.type && equal(key.get(), view.key);
    }

    const TypeTag* type;
    std::size_t hash;
    bool (*equal)(const void*, const void*);
    std::shared_ptr<const void> key;
    KeyReport report;
    unsigned warm = 0;                            ///< eager runs since the last attempt to capture
    std::optional<Exec> exec;                     ///< none with `verified`
    std::unique_ptr<VerifiedExec> verified;       ///< replaces `exec` in a cache that verifies
    RunBuffers buffers;                           ///< of the exec
    std::shared_ptr<WalkedSteps> walked;          ///< replaces `exec` if the function has breaks
    unsigned failures = 0;                        ///< failed captures that taught no break
    std::vector<LearnedBreak> learned;            ///< steps that are breaks
    std::uint64_t replays_to_retry = first_retry; ///< until a learned break is tried as a step again
    std::uint64_t retry_after = first_retry;
    InFlight in_flight; ///< of the execs
    UseHistory history;
    bool is_crowded = false;   ///< its last warm run found no room
    bool has_returned = false; ///< it ran since the eviction of its graph
    LruIndex<std::size_t, LruInFlight<std::shared_ptr<CachedKey>>::Place>::Link in_cache{}; ///< by its hash
};

} // namespace

class CaptureStore {
  public:
    CaptureStore(const CaptureCacheOptions& options, const SourceLocation& location)
        : options_(options), held_("CaptureCache", std::string(), location) {
        if (options.capacity == 0)
            refuse("CaptureCache: the capacity is 0; it must be at least 1, the graph that is launched");
        if (options.min_graphs == 0 || options.known_keys == 0)
            refuse(fmt::format("CaptureCache: {} is 0; it must be at least 1, the key that is run",
                               options.min_graphs == 0 ? "min_graphs" : "known_keys"));
    }
    ~CaptureStore() { clear(); }
    CaptureStore(const CaptureStore&) = delete;
    CaptureStore& operator=(const CaptureStore&) = delete;

    RunKind run(cudaStream_t stream, const KeyView& view, std::span<const ChangingBuffer> buffers,
                const CachedCall& call, const SourceLocation& location) {
        if (capture_status(stream) != CaptureStatus::none) {
            run_into_capture(stream, call);
            return RunKind::eager;
        }
        require_recorded(stream, [&] {
            return Subject{fmt::format("CaptureCache::run at {}", location), {}, location};
        });
        Use use(*this, view, location);
        const RunKind kind = run(stream, use.key(), bytes_of(buffers), call);
        use.succeed();
        if (kind == RunKind::replayed) [[likely]] {
            policy_.use_kept(use.key().history);
        } else {
            policy_.use(use.key().history);
            note_miss(use.key(), kind);
        }
        if (is_over_) [[unlikely]]
            evict();
        return kind;
    }

    bool forget(const KeyView& view) {
        const Place place = find(view);
        if (place == keys_.end()) return false;
        (*place)->in_flight.wait();
        erase(**place);
        return true;
    }

    void clear() noexcept {
        for (Keys* const keys : {&keys_, &kept_}) {
            for (const auto& key : *keys) {
                key->in_flight.wait();
                key->in_cache.reset();
            }
            keys->clear();
        }
        held_.set(0);
    }

    [[nodiscard]] CaptureCacheStats stats() const {
        CaptureCacheStats stats = stats_;
        stats.keys = keys_.size() + kept_.size();
        stats.graphs = kept_.size();
        stats.bytes = held_.bytes();
        for (const auto& key : keys_)
            if (key->is_crowded && policy_.is_active(key->history)) {
                ++stats.crowded_keys;
                stats.crowded_bytes += bytes_for(*key);
            }
        return stats;
    }

    [[nodiscard]] CaptureCacheReport report() const {
        CaptureCacheReport report{stats(), {}};
        std::vector<const CachedKey*> keys;
        for (const Keys* const list : {&keys_, &kept_})
            for (const auto& key : *list)
                keys.push_back(key.get());
        std::ranges::stable_sort(keys, {}, [](const CachedKey* key) { return key->history.last; });
        for (const CachedKey* const key : keys) {
            report.keys.push_back(key->report);
            report.keys.back().state = state_of(*key);
            if (key->walked) describe(*key, report.keys.back());
        }
        return report;
    }

    [[nodiscard]] CacheContent content() const {
        CacheContent content{.held = held_.bytes(), .held_high = held_.high()};
        for (const std::shared_ptr<CachedKey>& key : kept_) {
            if (key->walked)
                for (const Exec& exec : key->walked->execs)
                    content.execs.push_back(&exec);
            else
                content.execs.push_back(key->verified ? &key->verified->exec : &*key->exec);
        }
        return content;
    }

  private:
    using Keys = LruInFlight<std::shared_ptr<CachedKey>>;
    using Place = Keys::Place;

    /// A call of a key: the key is in the cache meanwhile, and leaves it if it is new and the call fails.
    class Use {
      public:
        Use(CaptureStore& store, const KeyView& view, const SourceLocation& location) : store_(store) {
            const Place known = store.find(view);
            if (known != store.keys_.end()) {
                key_ = *known;
                return;
            }
            is_new_ = true;
            key_ = store.insert(view, location);
        }
        ~Use() {
            if (is_new_) store_.erase(*key_);
        }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

        [[nodiscard]] CachedKey& key() const noexcept { return *key_; }
        void succeed() noexcept {
            is_new_ = false;
            if (key_->in_cache && !key_->has_graph()) store_.keys_.use(key_->in_cache.place());
        }

      private:
        CaptureStore& store_;
        std::shared_ptr<CachedKey> key_;
        bool is_new_ = false;
    };

    using Buffers = std::vector<DeviceSpan<std::byte>>;
    static Buffers bytes_of(std::span<const ChangingBuffer> buffers) {
        Buffers bytes;
        for (const ChangingBuffer& buffer : buffers)
            bytes.push_back(buffer.bytes());
        return bytes;
    }

    [[gnu::always_inline]] static void bind(CachedKey& key, Exec& exec, const Buffers& buffers) {
        bind(key, exec, key.buffers, buffers);
    }
    [[gnu::always_inline]] static void bind(const CachedKey& key, Exec& exec, const RunBuffers& params,
                                            const Buffers& buffers) {
        if (buffers.size() != params.size())
            refuse(fmt::format("CaptureCache: key {} was captured with {} changing buffers, and is run with {}",
                               key.report.key, params.size(), buffers.size()));
        std::vector<BufferBinding> bindings;
        for (std::size_t i = 0; i < buffers.size(); ++i)
            if (params[i]) bindings.emplace_back(*params[i], buffers[i]);
        if (!bindings.empty()) exec.bind(bindings);
    }

    [[gnu::always_inline]] RunKind run(cudaStream_t stream, CachedKey& key, const Buffers& buffers,
                                       const CachedCall& call) {
        if (key.exec) return replay(stream, key, *key.exec, buffers);
        if (key.verified) return replay_verified(stream, key, buffers, call);
        if (key.walked) return replay_walked(stream, key, buffers, call);
        const bool is_warm = is_to_capture(key) && key.warm >= options_.warm_up;
        if (is_warm && gets_room(key)) return capture(stream, key, buffers, call);
        const auto function = [&](Steps& steps) { return call.run(call.function, steps); };
        keep_until_run(stream, [&] { return run_eagerly(stream, function); });
        if (is_warm) {
            key.is_crowded = true;
            ++key.report.crowded_runs;
            ++stats_.crowded_runs;
        } else {
            ++key.warm;
        }
        count_eager_run(key);
        return RunKind::eager;
    }

    /// A replay. Inlined, like the functions around it: verification adds no call to hits without it.
    [[gnu::always_inline]] RunKind replay(cudaStream_t stream, CachedKey& key, Exec& exec, const Buffers& buffers) {
        bind(key, exec, buffers);
        launch(stream, key, exec);
        ++key.report.replays;
        ++stats_.replays;
        return RunKind::replayed;
    }

    [[gnu::noinline]] RunKind replay_verified(cudaStream_t stream, CachedKey& key, const Buffers& buffers,
                                              const CachedCall& call) {
        if ((key.report.replays + 1) % options_.verify == 0) verify(stream, key, buffers, call);
        return replay(stream, key, key.verified->exec, buffers);
    }

    /// Calls `function(steps)` as a replay, between marks of its work.
    template <class Function>
    static void walk(cudaStream_t stream, CachedKey& key, WalkedSteps& walked, const Function& function) {
        struct Marked {
            CachedKey& key;
            cudaStream_t stream;
            LaunchMark mark = key.in_flight.mark(stream);
            ~Marked() { key.in_flight.launched(std::move(mark), stream); }
        };
        const Marked marked{key, stream};
        StepWalk guide(walked, stream);
        Steps steps(Passkey(), stream, &guide);
        function(steps);
        guide.finish();
    }

    [[gnu::noinline]] RunKind replay_walked(cudaStream_t stream, CachedKey& key, const Buffers& buffers,
                                            const CachedCall& call) {
        const std::shared_ptr<WalkedSteps> walked = key.walked; // the function may drop the key, or capture it again
        if (!key.learned.empty() && --key.replays_to_retry == 0) {
            key.retry_after *= 2;
            key.replays_to_retry = key.retry_after;
            return retry(stream, key, buffers, call);
        }
        for (std::size_t i = 0; i < walked->execs.size(); ++i)
            bind(key, walked->execs[i], walked->buffers[i], buffers);
        if (options_.verify != 0 && (key.report.replays + 1) % options_.verify == 0)
            verify_walked(stream, key, *walked, call);
        walk(stream, key, *walked, [&](Steps& steps) { static_cast<void>(call.run(call.function, steps)); });
        ++key.report.replays;
        ++stats_.replays;
        return RunKind::replayed;
    }

    static MadeBlock object_of(const void* function, const CachedCall& call) noexcept {
        return {reinterpret_cast<std::uintptr_t>(function), call.bytes};
    }

    static VerifiedReplay verified_replay(const CachedKey& key) {
        return {fmt::format("CaptureCache: key {}: replay {}", key.report.key, key.report.replays + 1),
                key.report.location,
                "put what changes into the key, pass changing buffers in a list, and changing values in device memory "
                "(DeviceScalar), or forget the key after a change"};
    }

    [[nodiscard]] RecordedFunction record_again(cudaStream_t stream, const CachedKey& key,
                                                const CachedCall& call) const {
        std::shared_ptr<const void> result;
        AttemptSetup setup = setup_of(key, {}, result);
        setup.allow_empty = true;
        RecordedFunction again = CaptureAttempt::record(stream, setup, [&](Steps& steps) {
            result = call.run(call.function, steps);
            return result;
        });
        if (again.error) refuse_again(verified_replay(key), *again.error);
        return again;
    }

    void verify(cudaStream_t stream, CachedKey& key, const Buffers& buffers, const CachedCall& call) const {
        bind(key, key.verified->exec, buffers); // those that the function records now
        RecordedFunction again = record_again(stream, key, call);
        if (!again.graph) refuse_path(key);
        require_same(verified_replay(key), key.verified->exec, key.verified->memory, *again.graph,
                     {std::move(again.made), object_of(call.function, call)});
    }

    /// The execs have been bound.
    void verify_walked(cudaStream_t stream, const CachedKey& key, const WalkedSteps& walked,
                       const CachedCall& call) const {
        const RecordedFunction again = record_again(stream, key, call);
        const bool is_same_path =
            again.parts && std::ranges::equal(again.items, walked.items, {}, &StepItem::label, &StepItem::label);
        if (!is_same_path || again.parts->graphs.size() != walked.execs.size()) refuse_path(key);
        for (std::size_t i = 0; i < walked.execs.size(); ++i)
            require_same(verified_replay(key), walked.execs[i], {}, again.parts->graphs[i], {});
    }

    [[noreturn]] static void refuse_path(const CachedKey& key) {
        const VerifiedReplay replay = verified_replay(key);
        refuse<CaptureError>("the function, captured again, has other steps and breaks than in its capture: put what "
                             "decides its path into the key, or a break before the decision",
                             {replay.text, {}, replay.where}, cudaErrorIllegalState);
    }

    /// `result` is null, and becomes the result of the captured function.
    [[nodiscard]] AttemptSetup setup_of(const CachedKey& key, const Buffers& buffers,
                                        const std::shared_ptr<const void>& result) const {
        AttemptSetup setup{options_.mode, options_.refuse_legacy_stream, options_.instantiate, key.report.location,
                           buffers};
        setup.is_cached = true;
        setup.learned = key.learned;
        setup.result = &result;
        return setup;
    }

    struct Kept {
        std::shared_ptr<void> function;
        std::shared_ptr<const void> output = nullptr;
    };

    static AttemptedFunction kept_function(const CachedCall& call, const std::shared_ptr<Kept>& kept) {
        return [call, kept](Steps& steps) {
            kept->output = call.run_kept(kept->function.get(), steps);
            return kept;
        };
    }

    /// Runs a new capture with breaks by a walk, and keeps it.
    RunKind keep_walked(cudaStream_t stream, CachedKey& key, std::shared_ptr<WalkedSteps>&& walked, std::size_t bytes,
                        const AttemptedFunction& function) {
        walk(stream, key, *walked, [&](Steps& steps) { static_cast<void>(function(steps)); });
        take_place(key, bytes);
        key.exec.reset();
        key.verified.reset();
        key.walked = std::move(walked);
        ++stats_.captures;
        return RunKind::captured;
    }

    /// Captures the function with its oldest learned break as a step. If this fails, the former capture stays.
    RunKind retry(cudaStream_t stream, CachedKey& key, const Buffers& buffers, const CachedCall& call) {
        const std::shared_ptr<WalkedSteps> former = key.walked;
        std::rotate(key.learned.begin(), key.learned.begin() + 1, key.learned.end());
        const auto kept = std::make_shared<Kept>(Kept{call.keep(call.function)});
        const AttemptedFunction function = kept_function(call, kept);
        AttemptSetup setup = setup_of(key, buffers, kept->output);
        setup.learned.pop_back();
        CaptureAttempt attempt(stream, setup, function);
        if (!attempt.error) {
            const RunKind kind = keep_captured(stream, key, std::move(attempt), function, call, *kept);
            key.learned.pop_back();
            return kind;
        }
        for (std::size_t i = 0; i < former->execs.size(); ++i)
            bind(key, former->execs[i], former->buffers[i], buffers);
        walk(stream, key, *former, [&](Steps& steps) { static_cast<void>(function(steps)); });
        ++key.report.replays;
        ++stats_.replays;
        return RunKind::replayed;
    }

    RunKind keep_captured(cudaStream_t stream, CachedKey& key, CaptureAttempt&& attempt,
                          const AttemptedFunction& function, const CachedCall& call, const Kept& kept) {
        if (attempt.walked) return keep_walked(stream, key, std::move(attempt.walked), attempt.bytes, function);
        std::unique_ptr<VerifiedExec> verified;
        if (options_.verify != 0)
            verified = std::make_unique<VerifiedExec>(VerifiedExec{
                std::move(*attempt.exec), {std::move(attempt.made), object_of(kept.function.get(), call)}});
        launch(stream, key, verified ? verified->exec : *attempt.exec);
        take_place(key, attempt.bytes);
        if (verified)
            key.verified = std::move(verified);
        else
            key.exec = std::move(attempt.exec);
        key.walked.reset();
        key.buffers = std::move(attempt.buffers);
        ++stats_.captures;
        return RunKind::captured;
    }

    RunKind capture(cudaStream_t stream, CachedKey& key, const Buffers& buffers, const CachedCall& call) {
        const auto kept = std::make_shared<Kept>(Kept{call.keep(call.function)});
        const AttemptedFunction function = kept_function(call, kept);
        CaptureAttempt attempt(stream, setup_of(key, buffers, kept->output), function);
        if (!attempt.error) return keep_captured(stream, key, std::move(attempt), function, call, *kept);
        std::string reason = attempt.error->what();
        std::string step = attempt.error->labels().empty() ? std::string() : attempt.error->labels().front();
        keep_until_run(stream, [&]() -> std::shared_ptr<const void> {
            return attempt.must_run() ? run_eagerly(stream, function) : kept;
        });
        key.report.reason = std::move(reason);
        key.report.step = std::move(step);
        ++key.report.failed_captures;
        ++stats_.failed_captures;
        const auto is_known = [&](const LearnedBreak& each) { return each.item == attempt.failed->item; };
        if (options_.learn_breaks && attempt.failed && std::ranges::none_of(key.learned, is_known)) {
            key.learned.push_back(*std::move(attempt.failed)); // and the next call captures
        } else {
            key.warm = 0;
            ++key.failures;
        }
        count_eager_run(key);
        observe([&] {
            return ObservedFallback{"CaptureCache", key.report.step, key.report.reason, key.report.location};
        });
        return RunKind::eager;
    }

    static void describe(const CachedKey& key, KeyReport& report) {
        report.segments = key.walked->graphs.size();
        for (std::size_t i = 0; i < key.walked->items.size(); ++i) {
            const StepItem& item = key.walked->items[i];
            if (!item.is_break) continue;
            const auto learned = std::ranges::find(key.learned, i, &LearnedBreak::item);
            report.breaks.push_back(
                {item.label, item.location, learned == key.learned.end() ? std::string() : learned->reason});
        }
        report.crossing = crossing_buffers(key.walked->graphs);
        for (CrossingBuffer& buffer : report.crossing)
            for (const StepItem& item : key.walked->items)
                if (item.is_break && buffer.first < item.segment && item.segment <= buffer.last)
                    buffer.breaks.push_back(item.label);
    }

    static void run_into_capture(cudaStream_t stream, const CachedCall& call) {
        const auto function = [&](Steps& steps) { return call.run(call.function, steps); };
        const std::shared_ptr<const void> output = run_eagerly(stream, function);
        if (output) keep_with_capture(stream, {Owner{0, 0, output}});
    }

    static void launch(cudaStream_t stream, CachedKey& key, Exec& exec) {
        LaunchMark mark = key.in_flight.mark(stream);
        exec.launch(stream);
        key.in_flight.launched(std::move(mark), stream);
    }

    /// Keeps the result of `run` until the work that `run` has enqueued in `stream` has ended.
    template <class Run>
    static void keep_until_run(cudaStream_t stream, const Run& run) {
        OwnerVersions kept = version_of({Owner()}); // before anything is enqueued
        std::shared_ptr<const void> output = run();
        if (!output) return;
        kept.front().owners.front().object = std::move(output);
        InFlight work;
        try {
            work.launched(work.mark(stream), stream);
        } catch (const Error&) {
            ignore(cudaStreamSynchronize(stream));
        }
        work.retire(std::move(kept));
    }

    void note_miss(CachedKey& key, RunKind kind) noexcept {
        if (key.report.evictions != 0 && !std::exchange(key.has_returned, true)) ++stats_.returns;
        const std::uint64_t misses = misses_.note(stats_.replays);
        is_over_ = true; // perhaps: `evict` sees
        if (!is_observed()) return;
        observe([&] { return ObservedMiss{"CaptureCache", key.report.key, misses}; });
        constexpr std::uint64_t first_event = 8;
        const bool is_crowded = kind == RunKind::eager && key.is_crowded;
        if (!is_crowded || stats_.crowded_runs < first_event || !std::has_single_bit(stats_.crowded_runs)) return;
        const CaptureCacheStats now = stats();
        observe([&] {
            return ObservedCrowding{"CaptureCache", now.crowded_runs,  now.crowded_keys,
                                    now.returns,    options_.capacity, now.needed_capacity()};
        });
    }

    void count_eager_run(CachedKey& key) noexcept {
        ++key.report.eager_runs;
        ++stats_.eager_runs;
    }

    [[nodiscard]] KeyState state_of(const CachedKey& key) const noexcept {
        if (key.has_graph()) return KeyState::captured;
        if (!is_to_capture(key)) return KeyState::eager;
        return key.is_crowded ? KeyState::crowded_out : KeyState::warming_up;
    }
    /// Whether captures of the key have not failed too often.
    [[nodiscard]] bool is_to_capture(const CachedKey& key) const noexcept { return key.failures <= options_.retries; }

    [[nodiscard]] Place find(const KeyView& view) {
        const std::list<Place>& same_hash = of_hash_.of(view.hash);
        const auto found = std::ranges::find_if(same_hash, [&](Place place) { return (*place)->is(view); });
        return found == same_hash.end() ? keys_.end() : *found;
    }

    [[nodiscard]] std::shared_ptr<CachedKey> insert(const KeyView& view, const SourceLocation& location) {
        std::list<std::shared_ptr<CachedKey>> made;
        made.push_back(std::make_shared<CachedKey>(view, ++numbers_, location));
        made.front()->in_cache.put(of_hash_, view.hash, made.begin());
        return *keys_.add(std::move(made));
    }

    /// Does nothing if the key has gone already.
    void erase(CachedKey& key) noexcept {
        if (!key.in_cache) return;
        const Place place = key.in_cache.place();
        key.in_cache.reset();
        if (key.has_graph()) {
            held_.remove(key.report.bytes);
            kept_.erase(place);
        } else {
            keys_.erase(place);
        }
    }

    /// Counts a graph that `key` is about to get, unless it has one, or has gone.
    void take_place(CachedKey& key, std::size_t bytes) noexcept {
        if (key.in_cache) {
            if (key.has_graph())
                held_.remove(key.report.bytes);
            else
                kept_.take(keys_, key.in_cache.place());
            held_.add(bytes);
        }
        key.report.bytes = bytes;
        key.is_crowded = false;
        policy_.keep(key.history);
    }

    /// The memory for the graph of a key: as of its last graph, else the mean of all graphs.
    [[nodiscard]] std::size_t bytes_for(const CachedKey& key) const noexcept {
        if (key.report.bytes != 0 || kept_.empty()) return key.report.bytes;
        return held_.bytes() / kept_.size();
    }
    [[nodiscard]] bool fit(std::size_t graphs, std::size_t bytes) const noexcept {
        return graphs <= options_.capacity && (bytes <= options_.max_bytes || graphs <= options_.min_graphs);
    }
    /// Whether the graph of `a` is to go before that of `b`.
    [[nodiscard]] bool goes_before(const CachedKey& a, const CachedKey& b) const noexcept {
        if (options_.max_bytes == std::numeric_limits<std::size_t>::max())
            return policy_.goes_before(a.history, b.history);
        return policy_.goes_before(a.history, b.history, a.report.bytes, b.report.bytes);
    }
    /// The graph that goes first of those for which `may_go`; the end if there is none.
    template <class MayGo>
    [[nodiscard]] Place first_to_go(const MayGo& may_go) noexcept {
        Place first = kept_.end();
        for (Place place = kept_.begin(); place != kept_.end(); ++place)
            if (may_go(*place) && (first == kept_.end() || goes_before(**place, **first))) first = place;
        return first;
    }

    /// Whether a warm key gets a graph: there is room, or it is worth more than the graphs that would go for it.
    [[nodiscard]] bool gets_room(const CachedKey& key) noexcept {
        std::size_t graphs = kept_.size() + 1, bytes = held_.bytes() + bytes_for(key);
        if (fit(graphs, bytes)) return true;
        if (policy_.clock() < next_comparison_) return false;
        next_comparison_ = policy_.clock() + kept_.size() / rare; // a look at all graphs is rare if there are many
        const UseHistory history = policy_.used(key.history);
        double frequency = 0;
        for (const CachedKey* last = nullptr; !fit(graphs, bytes);) {
            const Place next =
                first_to_go([&](const auto& other) { return last == nullptr || goes_before(*last, *other); });
            if (next == kept_.end()) return false;
            last = next->get();
            frequency += policy_.frequency(last->history);
            if (!policy_.displaces(history, frequency)) return false;
            --graphs;
            bytes -= last->report.bytes;
        }
        return true;
    }

    /// Drops graphs and keys beyond the limits. Asks CUDA about a few graphs at most, however many are in flight.
    void evict() noexcept {
        while (keys_.size() > options_.known_keys)
            drop_key();
        is_over_ = !fit(kept_.size(), held_.bytes());
        if (!is_over_ || policy_.clock() < next_eviction_) return;
        unsigned running = 0;
        const CachedKey* last = nullptr; // the last one found in flight: those before it are, too
        while (!fit(kept_.size(), held_.bytes())) {
            const Place place = first_to_go([&](const std::shared_ptr<CachedKey>& key) {
                return key.use_count() == 1 && (last == nullptr || goes_before(*last, *key)); // no call of it under way
            });
            constexpr unsigned most_running = 4;
            if (place == kept_.end() || running == most_running) {
                next_eviction_ = policy_.clock() + kept_.size() / rare;
                return;
            }
            if ((*place)->in_flight.is_running()) {
                ++running;
                last = place->get();
            } else {
                drop_graph(place);
            }
        }
        is_over_ = keys_.size() > options_.known_keys;
    }
    /// Drops a graph; its key stays, and need not warm up again.
    void drop_graph(Place place) noexcept {
        const std::shared_ptr<CachedKey> key = *place;
        keys_.take(kept_, place);
        held_.remove(key->report.bytes);
        policy_.displace(key->history);
        key->exec.reset();
        key->verified.reset();
        key->walked.reset();
        key->buffers.clear();
        key->has_returned = false;
        ++key->report.evictions;
        ++stats_.evictions;
        observe([&] { return ObservedEviction{"CaptureCache", key->report.key, stats_.evictions}; });
    }
    /// Drops the least recently run key without a graph. There are several: the last one has just been run.
    void drop_key() noexcept {
        const std::shared_ptr<CachedKey> gone = *keys_.begin();
        erase(*gone);
        ++stats_.evictions;
        observe([&] { return ObservedEviction{"CaptureCache", gone->report.key, stats_.evictions}; });
    }

    static constexpr std::uint64_t rare = 64; ///< graphs looked at for each call, on average

    CaptureCacheOptions options_;
    CaptureCacheStats stats_;
    std::uint64_t numbers_ = 0; ///< how many keys were ever made
    MemoryHolder held_;         ///< the memory of the graphs, estimated
    ConsecutiveMisses misses_;
    KeepPolicy policy_;
    std::uint64_t next_comparison_ = 0; ///< by the policy's clock
    std::uint64_t next_eviction_ = 0;
    bool is_over_ = false; ///< whether there may be something beyond the limits
    LruIndex<std::size_t, Place> of_hash_;
    Keys keys_; ///< without a graph, the least recently run first
    Keys kept_; ///< with a graph, in the order of their captures
};

} // namespace detail

CaptureCache::CaptureCache(CaptureCacheOptions options, SourceLocation location)
    : store_(std::make_unique<detail::CaptureStore>(options, location)) {}
CaptureCache::CaptureCache(CaptureCache&&) noexcept = default;
CaptureCache& CaptureCache::operator=(CaptureCache&&) noexcept = default;
CaptureCache::~CaptureCache() = default;

detail::CaptureStore& CaptureCache::store() const {
    if (!store_) [[unlikely]]
        detail::refuse("a moved-from CaptureCache was used");
    return *store_;
}

RunKind CaptureCache::run(cudaStream_t stream, const detail::KeyView& key, std::span<const ChangingBuffer> buffers,
                          const detail::CachedCall& call, const SourceLocation& location) {
    return store().run(stream, key, buffers, call, location);
}
bool CaptureCache::forget(const detail::KeyView& key) {
    return store().forget(key);
}
void CaptureCache::clear() {
    store().clear();
}
CaptureCacheStats CaptureCache::stats() const {
    return store().stats();
}
CaptureCacheReport CaptureCache::report() const {
    return store().report();
}
detail::CacheContent CaptureCache::content() const {
    return store().content();
}

} // namespace cudag
