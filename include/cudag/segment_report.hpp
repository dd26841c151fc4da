// SegmentedReport: the segments and breaks of a program, and the memory that crosses them.
#pragma once

#include <cudag/config.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudag {

/// A break of a SegmentedGraph.
struct BreakReport {
    std::string label;
    SourceLocation location;  ///< of the call of `eager`
    std::size_t segments = 0; ///< number of segments before the break
    std::uint64_t runs = 0;   ///< completed calls of its function
};

/// Device memory used by segments on both sides of a break: its content lives across the break.
struct CrossingBuffer {
    const void* data = nullptr; ///< beginning of the allocation
    std::size_t bytes = 0;      ///< size of the allocation
    std::size_t first = 0;      ///< the first segment that uses it
    std::size_t last = 0;       ///< the last segment that uses it
    bool is_graph_memory = false;
    std::vector<std::string> breaks{}; ///< labels of the breaks in between
};

/// The parts of a SegmentedGraph, its counts, and the memory across its breaks.
struct SegmentedReport {
    std::vector<std::size_t> nodes; ///< number of nodes of each segment
    std::vector<BreakReport> breaks;
    /// The memory found in the parameters of nodes, by address. Memory that only a kernel knows, as behind a table of
    /// pointers, or that only the functions of breaks use, is missing.
    std::vector<CrossingBuffer> crossing;
    std::uint64_t launches = 0; ///< complete ones
    std::size_t execs = 0;      ///< fewer than segments if they are shared; 0 before the first launch then
};

/// Describes the parts in one line, and each break and each crossing buffer in a further line.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const SegmentedReport& report);

} // namespace cudag
