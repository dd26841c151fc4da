// set_observer(): a function that receives the events of cudag, such as instantiations, refusals and evictions.
#pragma once

#include <cudag/config.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

namespace cudag {

class Exec;
class Graph;

/// A Graph was instantiated.
struct ObservedInstantiation {
    const Graph& graph;
    const Exec& exec;    ///< not launched yet
    std::string name;    ///< description of the graph: "the graph \"decode\" made at a.cpp:12"
    double milliseconds; ///< time of the call
    std::size_t nodes;   ///< of the graph, without those of inner graphs
    std::size_t edges;   ///< of the graph and its inner graphs, as given to CUDA
    std::string plan;    ///< the changes made by the plan: "1500 edges became 1400, 3 joins"
};

/// An Exec took another graph as a whole: by `Exec::update` or in an ExecCache.
struct ObservedUpdate {
    std::string name;    ///< description of the other graph
    std::string method;  ///< "by order", "by structure"; "by changed nodes" in an ExecCache
    double milliseconds; ///< time of the call
};

/// `build()`, `instantiate()` or the update of an Exec by a graph was refused.
struct ObservedRefusal {
    std::string attempt; ///< "build", "instantiate" or "update"
    std::string name;    ///< description of the graph
    std::string reason;  ///< text of the error or of the UpdateReport
};

/// A cache dropped an entry because of its limits.
struct ObservedEviction {
    std::string cache;       ///< "ExecCache" or "CaptureCache"
    std::string entry;       ///< description of the graph, or text of the key
    std::uint64_t evictions; ///< number of evictions of this cache
};

/// A cache could not replay: an ExecCache instantiated, a CaptureCache captured or ran eagerly.
struct ObservedMiss {
    std::string cache;         ///< "ExecCache" or "CaptureCache"
    std::string entry;         ///< description of the graph, or text of the key
    std::uint64_t consecutive; ///< number of misses since the last hit, with this one
};

/// Keys come again for which a cache has no room: it runs them eagerly, or an ExecCache instantiates them again. After
/// 8 such calls, and after twice as many each time.
struct ObservedCrowding {
    std::string cache;     ///< "CaptureCache", "GraphedFunction" or "ExecCache"
    std::uint64_t runs;    ///< eager runs for lack of room, so far; 0 of an ExecCache
    std::size_t keys;      ///< keys, shapes or structures that come again now, and find no room
    std::uint64_t returns; ///< runs of keys whose graph was dropped before
    std::size_t capacity;  ///< the present one, in graphs
    std::size_t needed;    ///< the capacity that would keep these keys, too
};

/// A function could not be captured, and ran eagerly.
struct ObservedFallback {
    std::string caller;      ///< "CaptureCache" or "capture_or_run"
    std::string step;        ///< label of the step that broke the capture; may be empty
    std::string reason;      ///< text of the error
    SourceLocation location; ///< of the call
};

/// A destructor failed to release something. stderr shows the same text, once for equal codes in a row.
struct ObservedFailure {
    std::string text; ///< "cudag: in a destructor: cudaEventDestroy: invalid argument (cudaErrorInvalidValue)"
};

/// The check of a probe failed. The event comes on a thread of CUDA, inside a launch: the observer must not call CUDA,
/// nor cudag but for texts.
struct ObservedProbe {
    std::string label;       ///< of the probe; may be empty
    SourceLocation location; ///< of the call of `probe`
    std::uint64_t run;       ///< number of the run, from 1
    std::string text;        ///< "probe \"norm\" at a.cpp:12, run 3: element 7 is nan: it is not a number"
};

/// An event of cudag: one of the structs above.
struct Observation {
    std::variant<ObservedInstantiation, ObservedUpdate, ObservedRefusal, ObservedEviction, ObservedMiss,
                 ObservedFallback, ObservedFailure, ObservedProbe, ObservedCrowding>
        event;

    /// Returns the event if it is of this kind, else null.
    template <class Kind>
    [[nodiscard]] const Kind* find() const noexcept {
        return std::get_if<Kind>(&event);
    }
};

/// A function that receives events.
using Observer = std::function<void(const Observation&)>;

/// Makes `observer` receive the events of cudag in this process, and returns the former observer. An empty one ends it.
///
///     cudag::set_observer([](const cudag::Observation& event) {
///         if (const auto* made = event.find<cudag::ObservedInstantiation>(); made && made->milliseconds > 10)
///             std::puts(to_string(event).c_str());
///     });
///
/// cudag calls it on the thread of the event, after the event, and holds no lock meanwhile.
/// - Threads: calls come concurrently from several threads. After `set_observer` returns, calls of the former observer
///   may still run on other threads; it lives until they have returned.
/// - Exceptions: cudag catches them and prints them on stderr. The observed call continues.
/// - Re-entrance: the observer may call cudag, and `set_observer`. Events caused by it are delivered to nobody. It must
///   not use the cache of an ObservedEviction, ObservedMiss or ObservedCrowding, and must not keep references to
///   `graph` and `exec`.
///
/// Launches, updates of single nodes, `bind` and `apply` are no events: there, an observer costs nothing.
CUDAG_EXPORT Observer set_observer(Observer observer);

/// Returns an event as one line: "instantiated the graph \"decode\" made at a.cpp:12 in 0.31 ms: 700 nodes, ...".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Observation& event);

} // namespace cudag
