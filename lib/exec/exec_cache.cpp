// Choice, update and eviction of the execs of an ExecCache.
#include <cudag/exec_cache.hpp>
#include <cudag/graph.hpp>
#include <cudag/graph_memory.hpp>

#include "before_launch.hpp"
#include "cache_content.hpp"
#include "compare/structure.hpp"
#include "cuda/failure.hpp"
#include "cuda/launch_looks.hpp"
#include "cuda/memory_holders.hpp"
#include "cuda/no_waiting.hpp"
#include "cuda/observing.hpp"
#include "cuda/relaxed_capture.hpp"
#include "exec_state.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "lists/keep_policy.hpp"
#include "lists/lru.hpp"
#include "owners/reclaim.hpp"
#include "sampled_time.hpp"
#include "update_few.hpp"
#include "update_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <list>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

namespace cudag {

namespace detail {

namespace {

std::size_t free_memory() {
    std::size_t free = 0, total = 0;
    checked(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
}

/// The part of `free` taken since; 0 if CUDA fails: the launch has happened and cannot fail any more.
std::size_t taken_of(std::size_t free) noexcept {
    std::size_t rest = free, total = 0;
    if (cudaMemGetInfo(&rest, &total) != cudaSuccess) static_cast<void>(cudaGetLastError());
    return free > rest ? free - rest : 0;
}

bool is_out_of_memory(const Error& error) {
    return error.code().value() == static_cast<int>(cudaErrorMemoryAllocation);
}

/// Unique among all caches: a graph records the number of its exec, and may outlive the exec.
std::uint64_t next_number() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

int current_device() {
    int device = 0;
    checked(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

} // namespace

class ExecStore {
  public:
    ExecStore(const ExecCacheOptions& options, const SourceLocation& location)
        : options_(options), held_("ExecCache", std::string(), location) {
        if (options.capacity == 0)
            refuse("ExecCache: the capacity is 0; it must be at least 1, the exec that is launched");
    }
    ~ExecStore() { clear(); }
    ExecStore(const ExecStore&) = delete;
    ExecStore& operator=(const ExecStore&) = delete;

    const Exec& launch(const Graph& graph, cudaStream_t stream) {
        if (const std::optional<Place> known = find_or_update(graph, stream)) {
            if (!is_last(*known, stream)) make_last(*known, stream);
            if (is_over()) [[unlikely]]
                evict();
            Access::state((*known)->exec).launch(stream);
        } else {
            launch_new(graph, stream);
            if (is_over()) {
                reconsider(entries_.back());
                next_eviction_ = 0;
                evict();
            }
        }
        return entries_.back().exec;
    }

    void clear() noexcept {
        const RelaxedCapture allow_waiting;
        for (Entry& entry : entries_)
            Access::state(entry.exec).in_flight().wait();
        entries_.clear();
        past_.clear();
        held_.set(0);
    }

    [[nodiscard]] ExecCacheStats stats() const {
        ExecCacheStats stats = stats_;
        stats.execs = entries_.size();
        stats.bytes = held_.bytes();
        stats.update_seconds = update_time_.seconds();
        stats.instantiate_seconds = instantiate_time_.seconds();
        const auto is_active = [&](const auto& known) { return policy_.is_active(known.second); };
        stats.needed_capacity =
            entries_.size() + static_cast<std::size_t>(std::count_if(past_.begin(), past_.end(), is_active));
        return stats;
    }
    [[nodiscard]] CacheContent content() const {
        CacheContent content{.held = held_.bytes(), .held_high = held_.high(), .is_measured = true};
        for (const Entry& entry : entries_)
            content.execs.push_back(&entry.exec);
        return content;
    }

  private:
    struct Entry;
    using Place = LruInFlight<Entry>::Place;
    using Numbers = LruIndex<std::uint64_t, Place>;
    struct Entry {
        Entry(Exec&& made, cudaStream_t only, std::shared_ptr<const GraphState>&& its_graph, std::uint64_t its_version)
            : exec(std::move(made)), stream(only), graph(std::move(its_graph)), version(its_version) {}

        Exec exec;
        cudaStream_t stream; ///< the only stream if stream-affine, else null
        std::size_t bytes = 0;
        std::shared_ptr<const GraphState> graph; ///< its present graph
        std::uint64_t version;                   ///< of its present graph
        unsigned not_compared = 0;               ///< how many later updates skip the comparison
        std::uint64_t launch = 0;                ///< number of its last launch
        UseHistory history = {};                 ///< without the launches since the last change of the last entry
        bool is_guest = false;                   ///< stays until the next exec comes that is worth no place
        const Entry* next_running = nullptr;     ///< in `evict_one`
        Numbers::Link number{};
        Numbers::Link structure{};
        cudaStream_t launched_in = nullptr; ///< the stream of its last launch
    };

    /// The only stream of an exec launched in `stream`; null if it may use all.
    [[nodiscard]] cudaStream_t only_stream(cudaStream_t stream) const noexcept {
        return options_.stream_affine ? stream : nullptr;
    }

    /// Returns an exec that has `graph`, updated if necessary; nothing if `graph` must be instantiated.
    [[nodiscard]] std::optional<Place> find_or_update(const Graph& graph, cudaStream_t stream) {
        const GraphState& state = Access::state(graph);
        const std::uint64_t version = state.changes().version();
        const cudaStream_t only = only_stream(stream);
        const std::uint64_t number = state.memos().hint().load(std::memory_order_relaxed);
        const Place place = find(number);
        if (place != entries_.end()) {
            if (place->graph.get() == &state && place->stream == only) {
                if (place->version == version) return hit(place);
                // If refused, the exec has the former version.
                if (update(place, Access::shared_state(graph), version)) return place;
            }
        }
        const std::list<Place>& same_structure = of_structure_.of(structure_in(state));
        const bool may_be_others = number != 0 && (place == entries_.end() || options_.stream_affine);
        if (may_be_others) // an exec of another stream or cache has taken the graph since
            for (const Place other : same_structure)
                if (other->graph.get() == &state && other->stream == only && other->version == version)
                    return hit(other);
        for (const Place other : same_structure)
            if (other->stream == only && update(other, Access::shared_state(graph), version)) return other;
        return std::nullopt;
    }
    /// Returns the entry with this number, or the end. Tries the last launched entry first: it needs no lookup.
    [[nodiscard]] Place find(std::uint64_t number) noexcept {
        if (!entries_.empty() && entries_.back().number.key() == number) return entries_.last();
        const std::list<Place>& known = of_number_.of(number);
        return known.empty() ? entries_.end() : known.front();
    }
    [[nodiscard]] Place hit(Place place) noexcept {
        ++stats_.hits;
        return place;
    }

    /// Whether this exec had the latest launch of all, in `stream`. It is then last in each of its lists.
    [[nodiscard]] bool is_last(Place place, cudaStream_t stream) noexcept {
        return place == entries_.last() && place->launched_in == stream;
    }
    /// Moves a kept exec to the end of its lists, for a launch in `stream`.
    [[gnu::noinline]] void make_last(Place place, cudaStream_t stream) noexcept {
        const std::uint64_t launches = launch_count(); // with this one
        count_row(launches - 1);
        place->structure.use();
        place->launched_in = stream;
        place->launch = launches;
        entries_.use(place);
        if (place->is_guest) [[unlikely]]
            reconsider(*place);
    }
    [[nodiscard]] std::uint64_t launch_count() const noexcept {
        return stats_.hits + stats_.updates + stats_.instantiations;
    }
    /// Adds the launches up to number `until`, which were all of the last entry, to its history: launches of one exec
    /// in a row count nothing themselves.
    void count_row(std::uint64_t until) noexcept {
        const std::uint64_t count = until - policy_.clock(); // 0 if the last launch failed
        policy_.pass(count);
        if (!entries_.empty()) policy_.add_row(entries_.back().history, count);
    }
    [[gnu::noinline]] void reconsider(Entry& guest) noexcept { guest.is_guest = !is_worth_a_place(guest); }
    /// Whether the last entry, just launched, gets a place of its own: one place is for those that do not.
    [[nodiscard]] bool is_worth_a_place(const Entry& entry) noexcept {
        const UseHistory history = policy_.used(entry.history);
        const Entry* worst = nullptr;
        std::size_t others = 0;
        for (const Entry& other : entries_) {
            if (&other == &entry || is_guest(other)) continue;
            ++others;
            if (worst == nullptr || goes_before(other, *worst)) worst = &other;
        }
        if (others + 1 < std::min(options_.capacity, entries_.size() - 1)) return history.uses >= 2;
        return worst == nullptr || policy_.displaces(history, policy_.frequency(worst->history));
    }

    [[nodiscard]] bool update(Place place, const std::shared_ptr<GraphState>& graph, std::uint64_t version) {
        const SampledTime::Scope timed(update_time_);
        if (!(is_observed() ? update_observed(*place, graph) : update_entry(*place, graph))) return false;
        place->graph = graph;
        place->version = version;
        graph->memos().hint().store(place->number.key(), std::memory_order_relaxed);
        ++stats_.updates;
        return true;
    }

    [[nodiscard]] static bool update_observed(Entry& entry, const std::shared_ptr<GraphState>& graph) {
        const CallTime time;
        std::string refusal;
        const char* method = "by order";
        const bool updated = update_entry(entry, graph, &refusal, &method);
        observe([&]() -> Observation {
            if (!updated) return {ObservedRefusal{"update", describe_graph(*graph), refusal}};
            return {ObservedUpdate{describe_graph(*graph), method, time.milliseconds()}};
        });
        return updated;
    }

    /// Updates an exec. After a failed comparison, the next ones are skipped: if graphs always differ in many nodes,
    /// few comparisons are paid for.
    [[nodiscard]] static bool update_entry(Entry& entry, const std::shared_ptr<GraphState>& graph,
                                           std::string* refusal = nullptr, const char** method = nullptr) {
        constexpr unsigned before_next_comparison = 15;
        const NoWaiting no_waiting; // the former graph may be the last owner of something
        ExecState& exec = Access::state(entry.exec);
        if (entry.not_compared != 0) {
            --entry.not_compared;
        } else {
            if (update_few(exec, graph)) {
                if (method != nullptr) *method = "by changed nodes";
                return true;
            }
            entry.not_compared = before_next_comparison;
        }
        const UpdateReport report = update_whole(exec, graph, {}, Compared::if_refused);
        if (refusal != nullptr && !report.updated()) *refusal = report.to_string();
        return report.updated();
    }

    /// Instantiates and launches `graph`; its entry is then the last.
    void launch_new(const Graph& graph, cudaStream_t stream) {
        if (is_looked_for(LaunchLook::released)) require_no_released(Access::state(graph));
        const std::uint64_t misses = misses_.note(stats_.hits + stats_.updates);
        observe([&] { return ObservedMiss{"ExecCache", describe_graph(Access::state(graph)), misses}; });
        const SampledTime::Scope timed(instantiate_time_);
        try {
            try_new(graph, stream);
            return;
        } catch (const Error& error) {
            if (!is_out_of_memory(error)) throw;
        }
        trim_graph_memory(current_device());
        while (evict_one(entries_.end())) {
        }
        reclaim(); // evictions must not wait: they leave memory over
        try {
            try_new(graph, stream);
        } catch (const Error& error) {
            if (!is_out_of_memory(error)) throw;
            throw InstantiateError(cudaErrorMemoryAllocation,
                                   fmt::format("{}; the ExecCache has trimmed graph memory and dropped all execs that "
                                               "are not in flight: {} are, with {} bytes of device memory",
                                               error.what(), entries_.size(), held_.bytes()),
                                   {error.operation(), error.log(), error.labels(), error.location()});
        }
    }

    /// Measures the exec's memory: CUDA allocates it at the first launch. No upload before it: the cache would have to
    /// wait for it, behind all work in the stream (see Exec::upload).
    void try_new(const Graph& graph, cudaStream_t stream) {
        const std::size_t free = free_memory();
        const Place place = add(graph, stream);
        try {
            place->exec.launch(stream);
        } catch (...) {
            entries_.erase(place);
            throw;
        }
        place->bytes = taken_of(free);
        held_.add(place->bytes);
        ++stats_.instantiations;
        if (const auto known = past_.find(place->structure.key()); known != past_.end()) {
            place->history = known->second;
            past_.erase(known);
            note_return();
        }
        policy_.keep(place->history);
    }

    void note_return() noexcept {
        constexpr std::uint64_t first_event = 8;
        if (++stats_.returns < first_event || !std::has_single_bit(stats_.returns)) return;
        observe([&] {
            const std::size_t needed = stats().needed_capacity;
            return ObservedCrowding{
                "ExecCache",       0,     needed - std::min(needed, options_.capacity), stats_.returns,
                options_.capacity, needed};
        });
    }

    /// Makes a new exec as the last entry.
    [[nodiscard]] Place add(const Graph& graph, cudaStream_t stream) {
        const GraphState& state = Access::state(graph);
        const std::uint64_t version = state.changes().version();
        const std::uint64_t structure = structure_in(state);
        std::list<Entry> made;
        made.emplace_back(graph.instantiate(options_.instantiate), only_stream(stream), Access::shared_state(graph),
                          version);
        Entry& entry = made.front();
        Access::state(entry.exec).in_flight().begin_tracking();
        count_row(launch_count());
        entry.number.put(of_number_, next_number(), made.begin());
        entry.structure.put(of_structure_, structure, made.begin());
        entry.launched_in = stream;
        entry.launch = launch_count() + 1;
        state.memos().hint().store(entry.number.key(), std::memory_order_relaxed);
        return entries_.add(std::move(made));
    }

    [[nodiscard]] bool is_over() const noexcept {
        return entries_.size() > options_.capacity || held_.bytes() > options_.max_bytes;
    }
    /// Drops execs beyond the limits. The last entry stays: it is the one launched. Asks CUDA about few execs, however
    /// many are in flight, and looks through many of them rarely.
    [[gnu::noinline]] void evict() noexcept {
        if (launch_count() < next_eviction_) return;
        while (is_over()) {
            constexpr unsigned most_running = 4;
            constexpr std::size_t rare = 64;
            const NoWaiting no_waiting;
            if (evict_one(entries_.last(), most_running)) continue;
            next_eviction_ = launch_count() + entries_.size() / rare;
            return;
        }
    }
    /// Whether an entry has no place of its own: those go before others. One launched once has none either.
    [[nodiscard]] static bool is_guest(const Entry& entry) noexcept { return entry.is_guest || entry.history.uses < 2; }
    /// Whether `a` is to go before `b`.
    [[nodiscard]] bool goes_before(const Entry& a, const Entry& b) const noexcept {
        if (is_guest(a) != is_guest(b)) return is_guest(a);
        if (options_.max_bytes == std::numeric_limits<std::size_t>::max())
            return policy_.goes_before(a.history, b.history);
        return policy_.goes_before(a.history, b.history, a.bytes + 1, b.bytes + 1);
    }
    /// Drops the exec, other than `kept`, that is worth least of those not in flight; false if there is none, or
    /// `most_running` are found in flight. Never asks about two in one stream: launches there end in order.
    bool evict_one(Place kept, unsigned most_running = std::numeric_limits<unsigned>::max()) noexcept {
        const RelaxedCapture allow_queries;
        const Entry* running = nullptr; // those found in flight, linked
        const auto is_behind = [&](const Entry& entry) {
            for (const Entry* other = running; other != nullptr; other = other->next_running)
                if (other->launched_in == entry.launched_in && other->launch <= entry.launch) return true;
            return false;
        };
        Place place = entries_.end();
        for (unsigned found = 1;; ++found) {
            place = entries_.end();
            for (Place next = entries_.begin(); next != entries_.end(); ++next)
                if (next != kept && !is_behind(*next) && (place == entries_.end() || goes_before(*next, *place)))
                    place = next;
            if (place == entries_.end()) return false;
            if (!Access::state(place->exec).in_flight().is_running()) break;
            if (found == most_running) return false;
            place->next_running = std::exchange(running, &*place);
        }
        drop(place);
        return true;
    }
    void drop(Place place) noexcept {
        const std::shared_ptr<const GraphState> gone = is_observed() ? place->graph : nullptr;
        if (!is_guest(*place) && !entries_.back().is_guest) policy_.displace(place->history);
        constexpr std::size_t most_known = 1024;
        try {
            if (past_.size() >= most_known) forget_oldest();
            past_.insert_or_assign(place->structure.key(), place->history);
        } catch (const std::bad_alloc&) { // the structure is then as a new one
        }
        held_.remove(place->bytes);
        ++stats_.evictions;
        entries_.erase(place);
        if (gone != nullptr)
            observe([&] { return ObservedEviction{"ExecCache", describe_graph(*gone), stats_.evictions}; });
    }
    /// Forgets those structures that were not launched for the longest time: half of them, so that it happens rarely.
    void forget_oldest() noexcept {
        std::uint64_t before = 0;
        for (const auto& [structure, history] : past_)
            before += history.last / past_.size();
        std::erase_if(past_, [&](const auto& known) { return known.second.last <= before; });
    }

    static std::uint64_t structure_in(const GraphState& graph) {
        const auto lock = graph.lock();
        return structure_of(graph);
    }

    ExecCacheOptions options_;
    ExecCacheStats stats_;        ///< without the times and the bytes
    MemoryHolder held_;           ///< the memory of the execs
    SampledTime update_time_{13}; ///< coprime to the period of comparisons in `update_entry`
    SampledTime instantiate_time_{1};
    Numbers of_number_;
    Numbers of_structure_;
    LruInFlight<Entry> entries_;      ///< last: its entries are in the indices
    std::uint64_t next_eviction_ = 0; ///< by `launch_count`
    KeepPolicy policy_;               ///< its clock: `launch_count` at the last change of the last entry
    std::unordered_map<std::uint64_t, UseHistory> past_; ///< of dropped execs, by structure
    ConsecutiveMisses misses_;
};

} // namespace detail

ExecCache::ExecCache(ExecCacheOptions options, SourceLocation location)
    : store_(std::make_unique<detail::ExecStore>(options, location)) {}
ExecCache::ExecCache(ExecCache&&) noexcept = default;
ExecCache& ExecCache::operator=(ExecCache&&) noexcept = default;
ExecCache::~ExecCache() = default;

detail::ExecStore& ExecCache::store() const {
    if (!store_) [[unlikely]]
        detail::refuse("a moved-from ExecCache was used");
    return *store_;
}

const Exec& ExecCache::launch(const Graph& graph, StreamRef stream) {
    return store().launch(graph, stream.get());
}
void ExecCache::clear() {
    store().clear();
}
ExecCacheStats ExecCache::stats() const {
    return store().stats();
}
detail::CacheContent ExecCache::content() const {
    return store().content();
}

std::string to_string(const ExecCacheStats& stats) {
    const auto count = [](std::uint64_t number, const char* what) {
        return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
    };
    std::string crowding;
    if (stats.returns != 0)
        crowding =
            fmt::format(", {}: capacity {} would keep all", count(stats.returns, "return"), stats.needed_capacity);
    return fmt::format("{}, {:.1f} MiB; {}, {} in {:.2f} ms, {} in {:.2f} ms, {}{}", count(stats.execs, "exec"),
                       static_cast<double>(stats.bytes) / (1 << 20), count(stats.hits, "hit"),
                       count(stats.updates, "update"), 1e3 * stats.update_seconds,
                       count(stats.instantiations, "instantiation"), 1e3 * stats.instantiate_seconds,
                       count(stats.evictions, "eviction"), crowding);
}

} // namespace cudag
