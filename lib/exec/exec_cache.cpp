// Choice, update and eviction of the execs of an ExecCache.
#include <cudag/exec_cache.hpp>
#include <cudag/graph.hpp>
#include <cudag/graph_memory.hpp>

#include "compare/structure.hpp"
#include "cuda/failure.hpp"
#include "cuda/no_waiting.hpp"
#include "cuda/relaxed_capture.hpp"
#include "exec_state.hpp"
#include "owners/reclaim.hpp"
#include "sampled_time.hpp"
#include "update_few.hpp"
#include "update_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <list>
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
    explicit ExecStore(const ExecCacheOptions& options) : options_(options) {
        if (options.capacity == 0)
            refuse("ExecCache: the capacity is 0; it must be at least 1, the exec that is launched");
    }
    ~ExecStore() { clear(); }
    ExecStore(const ExecStore&) = delete;
    ExecStore& operator=(const ExecStore&) = delete;

    const Exec& launch(const Graph& graph, cudaStream_t stream) {
        if (const std::optional<Place> known = find_or_update(graph, stream)) {
            if (!is_last(*known, stream)) make_last(*known, stream);
            evict();
            Access::state((*known)->exec).launch(stream);
        } else {
            launch_new(graph, stream);
            evict();
        }
        return entries_.back().exec;
    }

    void clear() noexcept {
        const RelaxedCapture allow_waiting;
        for (Entry& entry : entries_)
            Access::state(entry.exec).in_flight().wait();
        of_number_.clear();
        of_structure_.clear();
        of_stream_.clear();
        entries_.clear();
        stats_.bytes = 0;
    }

    [[nodiscard]] ExecCacheStats stats() const {
        ExecCacheStats stats = stats_;
        stats.execs = entries_.size();
        stats.update_seconds = update_time_.seconds();
        stats.instantiate_seconds = instantiate_time_.seconds();
        return stats;
    }

  private:
    struct Entry;
    using Place = std::list<Entry>::iterator;
    using SameStructure = std::list<Place>; ///< execs of one structure, the least recently launched first
    using InStream = std::list<Place>;      ///< execs launched last in one stream, in the same order
    struct Entry {
        Exec exec;
        std::uint64_t number = next_number();
        cudaStream_t stream; ///< the only stream if stream-affine, else null
        std::uint64_t structure;
        std::size_t bytes;
        std::shared_ptr<const GraphState> graph; ///< its present graph
        std::uint64_t version;                   ///< of its present graph
        unsigned not_compared = 0;               ///< how many later updates skip the comparison
        SameStructure* same_structure = nullptr; ///< the list of its structure
        SameStructure::iterator place = {};      ///< its position there
        cudaStream_t launched_in = nullptr;
        InStream* in_stream = nullptr; ///< the list of its stream
        InStream::iterator turn = {};  ///< its position there
        std::uint64_t launch = 0;      ///< number of its last launch
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
        const auto same_structure = of_structure_.find(structure_in(state));
        if (same_structure == of_structure_.end()) return std::nullopt;
        const bool may_be_others = number != 0 && (place == entries_.end() || options_.stream_affine);
        if (may_be_others) // an exec of another stream or cache has taken the graph since
            for (const Place other : same_structure->second)
                if (other->graph.get() == &state && other->stream == only && other->version == version)
                    return hit(other);
        for (const Place other : same_structure->second)
            if (other->stream == only && update(other, Access::shared_state(graph), version)) return other;
        return std::nullopt;
    }
    /// Returns the entry with this number, or the end. Tries the last launched entry first: it needs no lookup.
    [[nodiscard]] Place find(std::uint64_t number) noexcept {
        if (!entries_.empty() && entries_.back().number == number) return std::prev(entries_.end());
        const auto known = of_number_.find(number);
        return known == of_number_.end() ? entries_.end() : known->second;
    }
    [[nodiscard]] Place hit(Place place) noexcept {
        ++stats_.hits;
        return place;
    }

    /// Whether this exec had the latest launch of all, in `stream`. It is then last in each of its lists.
    [[nodiscard]] bool is_last(Place place, cudaStream_t stream) noexcept {
        return std::next(place) == entries_.end() && place->launched_in == stream;
    }
    /// Moves a kept exec to the end of its lists, for a launch in `stream`.
    void make_last(Place place, cudaStream_t stream) {
        InStream& last = place->launched_in == stream ? *place->in_stream : of_stream_[stream]; // first: it may fail
        entries_.splice(entries_.end(), entries_, place);
        place->same_structure->splice(place->same_structure->end(), *place->same_structure, place->place);
        last.splice(last.end(), *place->in_stream, place->turn);
        if (place->in_stream->empty()) of_stream_.erase(place->launched_in);
        note_launch(*place, last, stream);
    }
    void note_launch(Entry& entry, InStream& in_stream, cudaStream_t stream) noexcept {
        entry.in_stream = &in_stream;
        entry.launched_in = stream;
        entry.launch = ++launches_;
    }

    [[nodiscard]] bool update(Place place, const std::shared_ptr<GraphState>& graph, std::uint64_t version) {
        const SampledTime::Scope timed(update_time_);
        if (!update_entry(*place, graph)) return false;
        place->graph = graph;
        place->version = version;
        graph->memos().hint().store(place->number, std::memory_order_relaxed);
        ++stats_.updates;
        return true;
    }

    /// Updates an exec. After a failed comparison, the next ones are skipped: if graphs always differ in many nodes,
    /// few comparisons are paid for.
    [[nodiscard]] static bool update_entry(Entry& entry, const std::shared_ptr<GraphState>& graph) {
        constexpr unsigned before_next_comparison = 15;
        const NoWaiting no_waiting; // the former graph may be the last owner of something
        ExecState& exec = Access::state(entry.exec);
        if (entry.not_compared != 0) {
            --entry.not_compared;
        } else {
            if (update_few(exec, graph)) return true;
            entry.not_compared = before_next_comparison;
        }
        return update_whole(exec, graph, {}, Compared::if_refused).updated();
    }

    /// Instantiates and launches `graph`; its entry is then the last.
    void launch_new(const Graph& graph, cudaStream_t stream) {
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
                                               error.what(), entries_.size(), stats_.bytes),
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
            erase(place);
            throw;
        }
        place->bytes = taken_of(free);
        stats_.bytes += place->bytes;
        ++stats_.instantiations;
    }

    /// Makes a new exec as the last entry.
    [[nodiscard]] Place add(const Graph& graph, cudaStream_t stream) {
        const GraphState& state = Access::state(graph);
        const std::uint64_t version = state.changes().version();
        const std::uint64_t structure = structure_in(state);
        std::list<Entry> made;
        made.push_back({.exec = graph.instantiate(options_.instantiate),
                        .stream = only_stream(stream),
                        .structure = structure,
                        .bytes = 0,
                        .graph = Access::shared_state(graph),
                        .version = version});
        Entry& entry = made.front();
        Access::state(entry.exec).in_flight().begin_tracking();
        SameStructure alone{made.begin()};
        InStream alone_in_stream{made.begin()};
        entry.place = alone.begin();
        entry.turn = alone_in_stream.begin();
        entry.same_structure = &of_structure_[structure];
        try {
            note_launch(entry, of_stream_[stream], stream);
            of_number_.emplace(entry.number, made.begin());
        } catch (...) {
            if (entry.same_structure->empty()) of_structure_.erase(structure);
            if (entry.in_stream != nullptr && entry.in_stream->empty()) of_stream_.erase(stream);
            throw;
        }
        entry.same_structure->splice(entry.same_structure->end(), alone);
        entry.in_stream->splice(entry.in_stream->end(), alone_in_stream);
        entries_.splice(entries_.end(), made);
        state.memos().hint().store(entry.number, std::memory_order_relaxed);
        return std::prev(entries_.end());
    }

    void erase(Place place) noexcept {
        of_number_.erase(place->number);
        place->same_structure->erase(place->place);
        if (place->same_structure->empty()) of_structure_.erase(place->structure);
        place->in_stream->erase(place->turn);
        if (place->in_stream->empty()) of_stream_.erase(place->launched_in);
        entries_.erase(place);
    }

    /// Drops execs beyond the limits. The last entry stays: it is the one launched.
    void evict() noexcept {
        while (entries_.size() > options_.capacity || stats_.bytes > options_.max_bytes) {
            const NoWaiting no_waiting;
            if (!evict_one(std::prev(entries_.end()))) return;
        }
    }
    /// Drops the least recently launched exec before `end` that is not in flight; false if all are. Asks CUDA about one
    /// exec for each stream, however many are in flight: launches in one stream end in order.
    bool evict_one(Place end) noexcept {
        const RelaxedCapture allow_queries;
        Place place = end;
        for (const auto& [stream, execs] : of_stream_) {
            const Place first = execs.front();
            if (first == end || (place != end && place->launch < first->launch)) continue;
            if (!Access::state(first->exec).in_flight().is_running()) place = first;
        }
        if (place == end) return false;
        stats_.bytes -= place->bytes;
        ++stats_.evictions;
        erase(place);
        return true;
    }

    static std::uint64_t structure_in(const GraphState& graph) {
        const auto lock = graph.lock();
        return structure_of(graph);
    }

    ExecCacheOptions options_;
    ExecCacheStats stats_;        ///< without the times
    SampledTime update_time_{13}; ///< coprime to the period of comparisons in `give`
    SampledTime instantiate_time_{1};
    std::list<Entry> entries_; ///< the least recently launched first
    std::unordered_map<std::uint64_t, Place> of_number_;
    std::unordered_map<std::uint64_t, SameStructure> of_structure_;
    std::unordered_map<cudaStream_t, InStream> of_stream_; ///< no list is empty
    std::uint64_t launches_ = 0;
};

} // namespace detail

ExecCache::ExecCache(ExecCacheOptions options) : store_(std::make_unique<detail::ExecStore>(options)) {}
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

std::string to_string(const ExecCacheStats& stats) {
    const auto count = [](std::uint64_t number, const char* what) {
        return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
    };
    return fmt::format("{}, {:.1f} MiB; {}, {} in {:.2f} ms, {} in {:.2f} ms, {}", count(stats.execs, "exec"),
                       static_cast<double>(stats.bytes) / (1 << 20), count(stats.hits, "hit"),
                       count(stats.updates, "update"), 1e3 * stats.update_seconds,
                       count(stats.instantiations, "instantiation"), 1e3 * stats.instantiate_seconds,
                       count(stats.evictions, "eviction"));
}

} // namespace cudag
