// CaptureCache: eager runs, captures and replays of keys, and their eviction.
#include <cudag/capture_cache.hpp>

#include "capture_attempt.hpp"
#include "cuda/failure.hpp"
#include "cuda/observing.hpp"
#include "cuda/open_captures.hpp"
#include "lists/lru.hpp"
#include "owners/capture_owners.hpp"
#include "owners/in_flight.hpp"
#include "verification.hpp"

#include <cudag/buffer_param.hpp>
#include <cudag/error.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
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

/// An exec, and the memory of its captured function.
struct VerifiedExec {
    Exec exec;
    FunctionMemory memory;
};

/// A key and its state, shared with its calls under way: the functions in them may evict it.
struct CachedKey {
    CachedKey(const KeyView& view, std::uint64_t number, const SourceLocation& location)
        : type(view.type), hash(view.hash), equal(view.equal), key(view.copy(view.key)) {
        report.key = view.text(view.key);
        if (report.key == "?") report.key = fmt::format("key {}", number);
        report.location = location;
    }

    [[nodiscard]] bool has_graph() const noexcept { return exec || verified; }
    [[nodiscard]] bool is(const KeyView& view) const {
        return hash == view.hash && *type == *view.type && equal(key.get(), view.key);
    }

    const TypeTag* type;
    std::size_t hash;
    bool (*equal)(const void*, const void*);
    std::shared_ptr<const void> key;
    KeyReport report;
    unsigned warm = 0;                                          ///< eager runs since the last attempt to capture
    std::optional<Exec> exec;                                   ///< none with `verified`
    std::unique_ptr<VerifiedExec> verified;                     ///< replaces `exec` in a cache that verifies
    std::vector<std::optional<BufferParam<std::byte>>> buffers; ///< of the exec; none for one it does not use
    InFlight in_flight;                                         ///< of the exec
    LruIndex<std::size_t, LruInFlight<std::shared_ptr<CachedKey>>::Place>::Link in_cache{}; ///< by its hash
};

} // namespace

class CaptureStore {
  public:
    explicit CaptureStore(const CaptureCacheOptions& options) : options_(options) {
        if (options.capacity == 0)
            refuse("CaptureCache: the capacity is 0; it must be at least 1, the graph that is launched");
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
        if (kind != RunKind::replayed) note_miss(use.key());
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
        for (const auto& key : keys_) {
            key->in_flight.wait();
            key->in_cache.reset();
        }
        keys_.clear();
        graphs_ = 0;
    }

    [[nodiscard]] CaptureCacheStats stats() const {
        CaptureCacheStats stats = stats_;
        stats.keys = keys_.size();
        stats.graphs = graphs_;
        return stats;
    }

    [[nodiscard]] CaptureCacheReport report() const {
        CaptureCacheReport report{stats(), {}};
        for (const auto& key : keys_) {
            report.keys.push_back(key->report);
            report.keys.back().state = state_of(*key);
        }
        return report;
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
            if (key_->in_cache) store_.keys_.use(key_->in_cache.place());
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
        if (buffers.size() != key.buffers.size())
            refuse(fmt::format("CaptureCache: key {} was captured with {} changing buffers, and is run with {}",
                               key.report.key, key.buffers.size(), buffers.size()));
        std::vector<BufferBinding> bindings;
        for (std::size_t i = 0; i < buffers.size(); ++i)
            if (key.buffers[i]) bindings.emplace_back(*key.buffers[i], buffers[i]);
        if (!bindings.empty()) exec.bind(bindings);
    }

    [[gnu::always_inline]] RunKind run(cudaStream_t stream, CachedKey& key, const Buffers& buffers,
                                       const CachedCall& call) {
        if (key.exec) return replay(stream, key, *key.exec, buffers);
        if (key.verified) return replay_verified(stream, key, buffers, call);
        if (state_of(key) == KeyState::warming_up && key.warm >= options_.warm_up)
            return capture(stream, key, buffers, call);
        const auto function = [&](Steps& steps) { return call.run(call.function, steps); };
        keep_until_run(stream, [&] { return run_eagerly(stream, function); });
        ++key.warm;
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

    static MadeBlock object_of(const void* function, const CachedCall& call) noexcept {
        return {reinterpret_cast<std::uintptr_t>(function), call.bytes};
    }

    void verify(cudaStream_t stream, CachedKey& key, const Buffers& buffers, const CachedCall& call) const {
        bind(key, key.verified->exec, buffers); // those that the function records now
        const VerifiedReplay verified{
            fmt::format("CaptureCache: key {}: replay {}", key.report.key, key.report.replays + 1), key.report.location,
            "put what changes into the key, pass changing buffers in a list, and changing values in device memory "
            "(DeviceScalar), or forget the key after a change"};
        const AttemptSetup setup{
            options_.mode, options_.refuse_legacy_stream, options_.instantiate, key.report.location, {}, true};
        MadeMemory made;
        const RecordedFunction again =
            CaptureAttempt::record(stream, setup, [&](Steps& steps) { return call.run(call.function, steps); });
        if (!again.graph) refuse_again(verified, *again.error);
        require_same(verified, key.verified->exec, key.verified->memory, *again.graph,
                     {made.take(), object_of(call.function, call)});
    }

    RunKind capture(cudaStream_t stream, CachedKey& key, const Buffers& buffers, const CachedCall& call) {
        struct Kept {
            std::shared_ptr<void> function;
            std::shared_ptr<const void> output = nullptr;
        };
        const auto kept = std::make_shared<Kept>(Kept{call.keep(call.function)});
        const auto function = [&](Steps& steps) {
            kept->output = call.run_kept(kept->function.get(), steps);
            return kept;
        };
        const AttemptSetup setup{options_.mode, options_.refuse_legacy_stream, options_.instantiate,
                                 key.report.location, buffers};
        std::optional<MadeMemory> made;
        if (options_.verify != 0) made.emplace();
        CaptureAttempt attempt(stream, setup, function);
        if (attempt.exec) {
            std::unique_ptr<VerifiedExec> verified;
            if (made)
                verified = std::make_unique<VerifiedExec>(
                    VerifiedExec{std::move(*attempt.exec), {made->take(), object_of(kept->function.get(), call)}});
            launch(stream, key, verified ? verified->exec : *attempt.exec);
            if (!key.has_graph() && key.in_cache) ++graphs_;
            if (verified)
                key.verified = std::move(verified);
            else
                key.exec = std::move(attempt.exec);
            key.buffers = std::move(attempt.buffers);
            ++stats_.captures;
            return RunKind::captured;
        }
        std::string reason = attempt.error->what();
        std::string step = attempt.error->labels().empty() ? std::string() : attempt.error->labels().front();
        keep_until_run(stream, [&]() -> std::shared_ptr<const void> {
            return attempt.must_run() ? run_eagerly(stream, function) : kept;
        });
        key.report.reason = std::move(reason);
        key.report.step = std::move(step);
        ++key.report.failed_captures;
        ++stats_.failed_captures;
        key.warm = 0;
        count_eager_run(key);
        observe([&] {
            return ObservedFallback{"CaptureCache", key.report.step, key.report.reason, key.report.location};
        });
        return RunKind::eager;
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

    void note_miss(const CachedKey& key) noexcept {
        const std::uint64_t misses = misses_.note(stats_.replays);
        observe([&] { return ObservedMiss{"CaptureCache", key.report.key, misses}; });
    }

    void count_eager_run(CachedKey& key) noexcept {
        ++key.report.eager_runs;
        ++stats_.eager_runs;
    }

    [[nodiscard]] KeyState state_of(const CachedKey& key) const noexcept {
        if (key.has_graph()) return KeyState::captured;
        return key.report.failed_captures > options_.retries ? KeyState::eager : KeyState::warming_up;
    }

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
        if (key.has_graph()) --graphs_;
        const Place place = key.in_cache.place();
        key.in_cache.reset();
        keys_.erase(place);
    }

    void evict() noexcept {
        while (graphs_ > options_.capacity && evict_one(true)) {
        }
        while (keys_.size() - graphs_ > options_.capacity && evict_one(false)) {
        }
    }
    /// Drops the least recently run key, with a graph or without, that is not in flight; false if all are. Spares the
    /// last key: it has just been run.
    bool evict_one(bool with_graph) noexcept {
        const Place place = keys_.first_idle(
            [&](const auto& key) { return key->has_graph() == with_graph && !key->in_flight.is_running(); });
        if (place == keys_.last()) return false;
        const std::shared_ptr<const CachedKey> gone = is_observed() ? *place : nullptr;
        erase(**place);
        ++stats_.evictions;
        if (gone != nullptr)
            observe([&] { return ObservedEviction{"CaptureCache", gone->report.key, stats_.evictions}; });
        return true;
    }

    CaptureCacheOptions options_;
    CaptureCacheStats stats_;
    std::uint64_t numbers_ = 0; ///< how many keys were ever made
    std::size_t graphs_ = 0;
    ConsecutiveMisses misses_;
    LruIndex<std::size_t, Place> of_hash_;
    Keys keys_;
};

} // namespace detail

CaptureCache::CaptureCache(CaptureCacheOptions options) : store_(std::make_unique<detail::CaptureStore>(options)) {}
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

} // namespace cudag
