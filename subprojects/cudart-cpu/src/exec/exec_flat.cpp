// The graph of a launch: an exec's graph with its child graphs laid into it.
#include "exec_flat.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

class Flattening {
  public:
    Flattening(LaunchGraph& flat, bool is_body) : flat_(flat), is_body_(is_body) {}

    /// `child` is null for a graph other than a child graph.
    void add(const ExecGraph& graph, const std::uint32_t* child) {
        std::vector<Ends> ends;
        ends.reserve(graph.states.size());
        for (std::uint32_t i = 0; i < graph.states.size(); ++i)
            ends.push_back(add(graph.states[i], graph.shape->sources[i], i, child));
        for (std::size_t i = 0; i < ends.size(); ++i)
            if (is_body_ || !graph.states[i].forgets_order()) add_edges(ends, *graph.shape, i);
        if (!child) return;
        const std::uint32_t end = add_node({nullptr, true, 0, *child});
        add_edge(*child, end);
        for (std::size_t i = 0; i < ends.size(); ++i) {
            if (graph.shape->dependencies[i].empty()) add_edge(*child, ends[i].first);
            if (graph.shape->dependents[i].empty()) add_edge(ends[i].last, end);
        }
    }

  private:
    /// The first and last flat node of one node of an exec.
    struct Ends {
        std::uint32_t first;
        std::uint32_t last;
    };

    Ends add(const NodeState& state, cudaGraphNode_t source, std::uint32_t number, const std::uint32_t* child) {
        const auto place = static_cast<std::uint32_t>(flat_.nodes.size());
        add_node({state.work, state.enabled || state.work->decides_whether_it_runs(), number, child ? *child : place});
        flat_.nodes[place].source = source;
        flat_.nodes[place].declared = state.declared;
        flat_.nodes[place].waits = state.waits;
        if (state.enabled && state.work->is_staged()) flat_.staged.push_back(place);
        if (state.enabled && state.work->holds_launch()) flat_.holding.push_back(place);
        if (state.work->type() == cudaGraphNodeTypeGraph) {
            add(state.bodies.front(), &place);
            return {place, static_cast<std::uint32_t>(flat_.nodes.size() - 1)};
        }
        for (const ExecGraph& body : state.bodies)
            flat_.nodes[place].bodies.push_back(flatten(body, true));
        return {place, place};
    }

    /// Adds the edges to node `to`.
    void add_edges(const std::vector<Ends>& ends, const ExecShape& shape, std::size_t to) {
        for (std::size_t i = 0; i < shape.dependencies[to].size(); ++i) {
            const Ends& from = ends[shape.dependencies[to][i]];
            const std::uint32_t node = ends[to].first;
            if (is_ordinary(shape.data[to][i])) {
                add_edge(from.last, node);
                continue;
            }
            flat_.shape.producers[node].push_back(from.last);
            flat_.shape.consumers[from.last].push_back(node);
            if (shape.data[to][i].type == cudaGraphDependencyTypeProgrammatic)
                flat_.shape.awaited[node].push_back(from.last);
        }
    }

    std::uint32_t add_node(LaunchNode node) {
        flat_.nodes.push_back(std::move(node));
        flat_.shape.dependencies.emplace_back();
        flat_.shape.dependents.emplace_back();
        flat_.shape.producers.emplace_back();
        flat_.shape.consumers.emplace_back();
        flat_.shape.awaited.emplace_back();
        return static_cast<std::uint32_t>(flat_.nodes.size() - 1);
    }

    void add_edge(std::uint32_t from, std::uint32_t to) {
        flat_.shape.dependencies[to].push_back(from);
        flat_.shape.dependents[from].push_back(to);
    }

    LaunchGraph& flat_;
    bool is_body_;
};

/// Marks the nodes after `node`.
std::vector<bool> reached_from(const LaunchShape& shape, std::uint32_t node) {
    std::vector<bool> reached(shape.dependents.size());
    std::vector<std::uint32_t> open{node};
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        for (const std::uint32_t next : shape.dependents[at]) {
            if (reached[next]) continue;
            reached[next] = true;
            open.push_back(next);
        }
        for (const std::uint32_t next : shape.consumers[at]) {
            if (reached[next]) continue;
            reached[next] = true;
            open.push_back(next);
        }
    }
    return reached;
}

/// Moves the copies staged late from `staged` to `late`. Events stay: the call of the launch looks at them.
void find_late(LaunchGraph& flat) {
    std::vector<std::vector<std::uint32_t>> after(flat.nodes.size());
    for (std::uint32_t place = 0; place < flat.holding.size(); ++place) {
        const std::vector<bool> reached = reached_from(flat.shape, flat.holding[place]);
        for (const std::uint32_t node : flat.staged)
            if (reached[node] && flat.nodes[node].work->type() == cudaGraphNodeTypeMemcpy) after[node].push_back(place);
    }
    std::erase_if(flat.staged, [&](std::uint32_t node) {
        if (after[node].empty()) return false;
        flat.late.push_back({node, std::move(after[node])});
        return true;
    });
}

} // namespace

std::shared_ptr<const LaunchGraph> flatten(const ExecGraph& graph, bool is_body) {
    auto flat = std::make_shared<LaunchGraph>();
    Flattening(*flat, is_body).add(graph, nullptr);
    std::stable_partition(flat->staged.begin(), flat->staged.end(), [&](std::uint32_t node) {
        return flat->nodes[node].work->type() != cudaGraphNodeTypeEventRecord;
    });
    if (!flat->holding.empty()) find_late(*flat);
    return flat;
}

std::string name_of(const LaunchGraph& graph, std::uint32_t node) {
    const LaunchNode& named = graph.nodes[node];
    if (!named.work) return {};
    std::string path = text(named.number);
    for (std::uint32_t at = node; graph.nodes[at].child != at;) {
        at = graph.nodes[at].child;
        path = text(graph.nodes[at].number, '/', path);
    }
    return text(path, ": ", named.work->title());
}

} // namespace cudart_cpu::detail
