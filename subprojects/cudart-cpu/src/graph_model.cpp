// Graphs and their nodes, and the lock that guards them.
#include "graph_model.hpp"

#include "handle_table.hpp"

#include <algorithm>
#include <unordered_set>

namespace cudart_cpu::detail {

namespace {

// Never destroyed: a program's static objects may still destroy their graphs when it ends.
HandleTable<Graph, cudaGraph_t>& graphs() {
    static auto& table = *new HandleTable<Graph, cudaGraph_t>;
    return table;
}

HandleTable<Node, cudaGraphNode_t>& live_nodes() {
    static auto& table = *new HandleTable<Node, cudaGraphNode_t>;
    return table;
}

std::shared_ptr<Node> make_node(Graph& graph, WorkPointer work) {
    auto node = std::make_shared<Node>(Node{graph, nullptr, std::move(work), {}, {}});
    node->handle = live_nodes().add(node);
    return node;
}

} // namespace

void Node::set_work(WorkPointer next) noexcept {
    work = std::move(next);
    shown = nullptr;
}

Graph::~Graph() {
    for (const auto& node : nodes_)
        live_nodes().take(node->handle);
}

Node& Graph::add(WorkPointer work, const std::vector<Node*>& dependencies) {
    nodes_.push_back(make_node(*this, std::move(work)));
    Node& node = *nodes_.back();
    make_root(node);
    try {
        for (Node* dependency : dependencies)
            add_edge(*dependency, node);
    } catch (...) {
        remove(node);
        throw;
    }
    return node;
}

void Graph::remove(Node& node) noexcept {
    while (!node.dependencies.empty())
        remove_edge(*node.dependencies.back(), node);
    while (!node.dependents.empty())
        remove_edge(node, *node.dependents.back());
    clones_.erase(node.origin);
    live_nodes().take(node.handle);
    // Destroying one node after the other must not search from the front each time.
    const auto place = std::find_if(nodes_.rbegin(), nodes_.rend(), [&](const auto& n) { return n.get() == &node; });
    nodes_.erase(std::next(place).base());
}

std::shared_ptr<Graph> Graph::clone() const {
    auto copy = std::make_shared<Graph>();
    copy->user_objects = user_objects;
    std::unordered_map<const Node*, Node*> twin;
    for (const auto& node : nodes_) {
        Node& made = copy->add(node->work, {});
        made.origin = node->handle;
        copy->clones_.emplace(node->handle, &made);
        twin.emplace(node.get(), &made);
    }
    for (const auto& node : nodes_)
        for (const Node* dependency : node->dependencies)
            copy->add_edge(*twin.at(dependency), *twin.at(node.get()));
    return copy;
}

void Graph::add_edge(Node& from, Node& to) {
    to.dependencies.push_back(&from);
    try {
        from.dependents.push_back(&to);
    } catch (...) {
        to.dependencies.pop_back();
        throw;
    }
}

void Graph::remove_edge(Node& from, Node& to) noexcept {
    std::erase(to.dependencies, &from);
    if (to.dependencies.empty()) make_root(to);
    // The order that CUDA leaves behind.
    const auto place = std::find(from.dependents.begin(), from.dependents.end(), &to);
    *place = from.dependents.back();
    from.dependents.pop_back();
}

Node* Graph::find_clone_of(cudaGraphNode_t original) const noexcept {
    const auto found = clones_.find(original);
    return found == clones_.end() ? nullptr : found->second;
}

bool has_edge(const Node& from, const Node& to) noexcept {
    if (from.dependents.size() < to.dependencies.size())
        return std::find(from.dependents.begin(), from.dependents.end(), &to) != from.dependents.end();
    return std::find(to.dependencies.begin(), to.dependencies.end(), &from) != to.dependencies.end();
}

cudaGraph_t register_graph(std::shared_ptr<Graph> graph) {
    return graphs().add(std::move(graph));
}

void destroy_graph(cudaGraph_t handle) {
    graph_of(handle);
    graphs().take(handle);
}

Graph& graph_of(cudaGraph_t handle) {
    const auto graph = graphs().find(handle);
    if (!graph) fail(cudaErrorInvalidValue, text("The source graph ", handle, " is invalid"));
    return *graph;
}

Node& node_of(cudaGraphNode_t handle) {
    const auto node = live_nodes().find(handle);
    if (!node) fail(cudaErrorInvalidValue, text("node ", handle, " is not alive"));
    return *node;
}

std::vector<Node*> dependencies_of(const Graph& graph, const cudaGraphNode_t* handles, std::size_t count) {
    if (count > 0) require_pointer(handles, "pDependencies");
    std::vector<Node*> nodes;
    std::unordered_set<cudaGraphNode_t> seen;
    for (std::size_t i = 0; i < count; ++i) {
        Node& node = node_of(handles[i]);
        if (&node.graph != &graph)
            fail(cudaErrorInvalidValue, text("dependency ", i, " (node ", handles[i], ") is in another graph"));
        if (count > 1 && !seen.insert(handles[i]).second)
            fail(cudaErrorInvalidValue, text("dependency ", i, " (node ", handles[i], ") is given twice"));
        nodes.push_back(&node);
    }
    return nodes;
}

std::mutex& graph_mutex() {
    static auto& mutex = *new std::mutex;
    return mutex;
}

} // namespace cudart_cpu::detail
