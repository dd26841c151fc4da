// Reads the edges of graphs that were made without cudag.
#include "edge_reader.hpp"

#include "driver.hpp"
#include "edge_data.hpp"
#include "failure.hpp"

#include <algorithm>

namespace cudag::detail {

std::vector<EdgeRecord> EdgeReader::edges_to(std::size_t first) {
    std::vector<EdgeRecord> edges;
    edges.reserve(nodes_.size() - first);
    for (auto to = static_cast<std::uint32_t>(first); to < nodes_.size(); ++to) {
        const std::size_t begin = edges.size();
        for (std::size_t i = 0, count = read(nodes_[to]); i < count; ++i) {
            // most nodes of a captured graph depend on the one before
            const std::uint32_t from = to > 0 && from_[i] == nodes_[to - 1] ? to - 1 : indices_.find(from_[i]);
            if (from != NodeIndices::none) edges.push_back({from, to, edge_kind(data_[i])});
        }
        std::sort(edges.begin() + static_cast<std::ptrdiff_t>(begin), edges.end(),
                  [](const EdgeRecord& a, const EdgeRecord& b) { return a.from < b.from; });
    }
    return edges;
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
    data_.resize(all + 1);
    return ask(all + 1);
}

} // namespace cudag::detail
