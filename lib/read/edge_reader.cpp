// Edges of graphs made without cudag.
#include "edge_reader.hpp"

#include "cuda/driver.hpp"
#include "cuda/edge_data.hpp"
#include "cuda/failure.hpp"
#include "graph/graph_records.hpp"
#include "lists/none.hpp"

#include <algorithm>

namespace cudag::detail {

std::vector<EdgeRecord> EdgeReader::edges(std::uint32_t first) {
    std::vector<EdgeRecord> edges;
    edges.reserve(nodes_.size());
    const auto index_of = [&](cudaGraphNode_t node, std::uint32_t to) {
        // most nodes of a captured graph depend on the one before
        if (to > 0 && node == nodes_[to - 1]) return first + to - 1;
        indices_.extend(nodes_);
        const std::uint32_t place = indices_.find(nodes_, node);
        if (place != none) return first + place;
        return first == 0 || graph_ == nullptr ? none : records_of(*graph_).find_native(node);
    };
    for (std::uint32_t to = 0; to < nodes_.size(); ++to)
        for (std::size_t i = 0, count = read(nodes_[to]); i < count; ++i) {
            const std::uint32_t from = index_of(from_[i], to);
            if (from != none) edges.push_back({from, first + to, edge_kind(data_[i])});
        }
    return edges;
}

std::vector<cudaGraphNode_t> EdgeReader::line_to(GraphState& graph, cudaGraphNode_t last, std::size_t count) {
    EdgeReader reader(graph, {});
    std::vector<cudaGraphNode_t> line(count);
    cudaGraphNode_t node = last;
    for (std::size_t i = count; i-- > 0; node = reader.from_.front()) {
        line[i] = node;
        const std::size_t before = reader.read(node);
        if (records_of(graph).find_native(node) != none || (i != 0 && before != 1)) return {};
        const auto is_known = [&](cudaGraphNode_t from) { return records_of(graph).find_native(from) != none; };
        if (i == 0 &&
            !std::all_of(reader.from_.begin(), reader.from_.begin() + static_cast<std::ptrdiff_t>(before), is_known))
            return {};
    }
    return line;
}

std::size_t EdgeReader::read(cudaGraphNode_t node) {
    const auto ask = [&](std::size_t room) {
        checked_driver<GraphError>(driver().graph_node_get_dependencies(node, room == 0 ? nullptr : from_.data(),
                                                                        room == 0 ? nullptr : data_.data(), &room),
                                   "cuGraphNodeGetDependencies");
        return room;
    };
    const std::size_t count = ask(from_.size());
    if (count < from_.size()) return count;
    const std::size_t all = ask(0);
    from_.resize(all + 1);
    data_.resize(from_.size());
    return ask(from_.size());
}

} // namespace cudag::detail
