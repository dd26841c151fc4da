// The report of a SegmentedGraph, as text.
#include "crossing_buffers.hpp"

#include <cudag/segment_report.hpp>

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace cudag {

std::string detail::text_of(const CrossingBuffer& buffer) {
    std::string text =
        fmt::format("{} bytes{} at {}: segments {} to {}, across ", buffer.bytes,
                    buffer.is_graph_memory ? " of graph memory" : "", buffer.data, buffer.first, buffer.last);
    for (std::size_t i = 0; i < buffer.breaks.size(); ++i)
        text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", buffer.breaks[i]);
    return text;
}

std::string to_string(const SegmentedReport& report) {
    const auto s = [](std::size_t count) { return count == 1 ? "" : "s"; };
    std::string nodes;
    for (const std::size_t count : report.nodes)
        nodes += fmt::format("{}{}", nodes.empty() ? "" : ", ", count);
    std::string text = fmt::format("{} segment{}", report.nodes.size(), s(report.nodes.size()));
    if (!nodes.empty()) text += fmt::format(" of {} node{}", nodes, nodes == "1" ? "" : "s");
    text += fmt::format(", {} exec{}, {} break{}, {} launch{}", report.execs, s(report.execs), report.breaks.size(),
                        s(report.breaks.size()), report.launches, report.launches == 1 ? "" : "es");
    for (const BreakReport& each : report.breaks)
        text += fmt::format("\n\"{}\" at {}: after {} segment{}, {} run{}", each.label, each.location, each.segments,
                            s(each.segments), each.runs, each.runs == 1 ? "" : "s");
    for (const CrossingBuffer& buffer : report.crossing)
        text += "\n" + detail::text_of(buffer);
    return text;
}

} // namespace cudag
