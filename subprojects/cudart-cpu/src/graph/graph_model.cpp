// Graphs and their nodes, and the lock that guards them.
#include "graph_model.hpp"

#include "runtime/handle_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
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

/// Reserves room for more elements, so that their addition cannot fail.
template <class T>
void make_room(std::vector<T>& elements, std::size_t more = 1) {
    if (elements.capacity() - elements.size() < more)
        elements.reserve(std::max(2 * elements.size() + 1, elements.size() + more));
}

/// Returns the number of nodes if `node` is not among them. Looks at the last ones first: removed nodes are mostly the
/// newest.
std::ptrdiff_t place_of(const std::vector<Node*>& nodes, const Node& node) noexcept {
    const auto found = std::find(nodes.rbegin(), nodes.rend(), &node);
    return found == nodes.rend() ? std::ssize(nodes) : std::prev(found.base()) - nodes.begin();
}

/// Whether the node is an alloc or free node, or owns a graph with one.
bool is_memory_node(const Node& node) {
    const cudaGraphNodeType type = node.work->type();
    return type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree ||
           std::ranges::any_of(node.bodies, [](const auto& body) { return body->holds_memory(); });
}

} // namespace

void Node::set_work(WorkPointer next) noexcept {
    work = std::move(next);
    shown = nullptr;
}

void Node::set_content(NodeContent next) {
    own_bodies(*this, std::move(next.bodies));
    set_work(std::move(next.work));
}

Graph::~Graph() {
    for (const auto& node : nodes_)
        retire(*node);
}

void disown(Graph& body) noexcept {
    graphs().take(body.handle_);
    // A capture into the body may go on.
    body.owner_ = nullptr;
}

void Graph::retire(Node& node) noexcept {
    live_nodes().take(node.handle);
    for (const auto& body : node.bodies)
        disown(*body);
}

Node& Graph::add(NodeContent content, const std::vector<Node*>& dependencies, const cudaGraphEdgeData* data) {
    make_room(nodes_);
    nodes_.push_back(make_node(*this, std::move(content.work)));
    Node& node = *nodes_.back();
    node.number = nodes_made_;
    make_root(node);
    node.sunk_at = ++sinks_made_;
    try {
        for (std::size_t i = 0; i < dependencies.size(); ++i)
            add_edge(*dependencies[i], node, data ? data[i] : cudaGraphEdgeData{});
        own_bodies(node, std::move(content.bodies));
        holds_memory_ = holds_memory_ || is_memory_node(node);
        node.work->added_to(*this);
    } catch (...) {
        remove(node);
        throw;
    }
    ++nodes_made_;
    return node;
}

void Graph::tell_removed(const Node& node) noexcept {
    node.work->removed_from(node.graph);
    for (const auto& body : node.bodies)
        for (const auto& inner : body->nodes())
            tell_removed(*inner);
}

void Graph::remove(Node& node) noexcept {
    tell_removed(node);
    // CUDA's order, in which the dependencies become nodes without dependents.
    if (!node.dependencies.empty()) remove_edge(*node.dependencies.front(), node);
    while (!node.dependencies.empty())
        remove_edge(*node.dependencies.back(), node);
    while (!node.dependents.empty())
        remove_edge(node, *node.dependents.back());
    clones_.erase(node.origin);
    retire(node);
    // The nodes are sorted by number: destroying many of them must not search all of them each time.
    const auto precedes = [](const auto& n, std::uint64_t number) { return n->number < number; };
    nodes_.erase(std::lower_bound(nodes_.begin(), nodes_.end(), node.number, precedes));
}

void Graph::require_clonable() const {
    if (!conditions.empty())
        fail(cudaErrorNotSupported,
             "Cloning is not supported for graphs containing or contained within a conditional node");
    for (const auto& node : nodes_) {
        if (const std::string reason = node->work->refuse_clone(); !reason.empty()) fail(cudaErrorNotSupported, reason);
        for (const auto& body : node->bodies)
            body->require_clonable();
    }
}

std::shared_ptr<Graph> Graph::clone() const {
    require_clonable();
    return clone_as_child();
}

std::shared_ptr<Graph> Graph::clone_as_child() const {
    auto copy = std::make_shared<Graph>();
    copy->user_objects = user_objects;
    std::unordered_map<const Node*, Node*> twin;
    for (const auto& node : nodes_) {
        Bodies bodies;
        for (const auto& body : node->bodies)
            bodies.push_back(body->clone_as_child());
        copy->nodes_made_ = node->number;
        Node& made = copy->add({node->work, std::move(bodies)}, {});
        made.origin = node->handle;
        made.sunk_at = node->sunk_at;
        copy->clones_.emplace(node->handle, &made);
        twin.emplace(node.get(), &made);
    }
    for (const auto& node : nodes_)
        for (std::size_t i = 0; i < node->dependencies.size(); ++i)
            copy->add_edge(*twin.at(node->dependencies[i]), *twin.at(node.get()), node->dependency_data[i]);
    copy->nodes_made_ = nodes_made_;
    copy->sinks_made_ = sinks_made_;
    return copy;
}

void Graph::add_edge(Node& from, Node& to, const cudaGraphEdgeData& data) {
    make_room(to.dependencies);
    make_room(to.dependency_data);
    make_room(from.dependents);
    make_room(from.dependent_data);
    to.dependencies.push_back(&from);
    to.dependency_data.push_back(data);
    from.dependents.push_back(&to);
    from.dependent_data.push_back(data);
}

void Graph::make_room_for_edges(const std::vector<std::pair<Node*, Node*>>& edges) {
    struct Count {
        std::size_t dependencies = 0;
        std::size_t dependents = 0;
    };
    std::unordered_map<Node*, Count> counts;
    for (const auto& [from, to] : edges) {
        ++counts[from].dependents;
        ++counts[to].dependencies;
    }
    for (const auto& [node, count] : counts) {
        make_room(node->dependencies, count.dependencies);
        make_room(node->dependency_data, count.dependencies);
        make_room(node->dependents, count.dependents);
        make_room(node->dependent_data, count.dependents);
    }
}

void Graph::remove_edge(Node& from, Node& to) noexcept {
    const auto dependency = place_of(to.dependencies, from);
    to.dependencies.erase(to.dependencies.begin() + dependency);
    to.dependency_data.erase(to.dependency_data.begin() + dependency);
    if (to.dependencies.empty()) make_root(to);
    // CUDA's order after a removal.
    const auto dependent = static_cast<std::size_t>(place_of(from.dependents, to));
    from.dependents[dependent] = from.dependents.back();
    from.dependents.pop_back();
    from.dependent_data[dependent] = from.dependent_data.back();
    from.dependent_data.pop_back();
    if (from.dependents.empty()) from.sunk_at = ++sinks_made_;
}

void Graph::make_sinks(const std::vector<Node*>& nodes) noexcept {
    for (Node* node : nodes)
        if (node->dependents.empty()) node->sunk_at = ++sinks_made_;
}

Node* Graph::find_clone_of(cudaGraphNode_t original) const noexcept {
    const auto found = clones_.find(original);
    return found == clones_.end() ? nullptr : found->second;
}

std::vector<Node*> sinks_of(const Graph& graph) {
    std::vector<Node*> sinks;
    for (const auto& node : graph.nodes())
        if (node->dependents.empty()) sinks.push_back(node.get());
    std::sort(sinks.begin(), sinks.end(), [](const Node* a, const Node* b) { return a->sunk_at < b->sunk_at; });
    return sinks;
}

const cudaGraphEdgeData* find_edge(const Node& from, const Node& to) noexcept {
    const bool backwards = to.dependencies.size() <= from.dependents.size();
    const std::vector<Node*>& nodes = backwards ? to.dependencies : from.dependents;
    const auto place = static_cast<std::size_t>(place_of(nodes, backwards ? from : to));
    if (place == nodes.size()) return nullptr;
    return backwards ? &to.dependency_data[place] : &from.dependent_data[place];
}

bool same(const cudaGraphEdgeData& a, const cudaGraphEdgeData& b) noexcept {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

bool is_ordinary(const cudaGraphEdgeData& data) noexcept {
    return same(data, {});
}

cudaGraph_t register_graph(std::shared_ptr<Graph> graph) {
    Graph& registered = *graph;
    registered.handle_ = graphs().add(std::move(graph));
    registered.counted_.emplace();
    return registered.handle_;
}

void own_bodies(Node& owner, Bodies bodies) {
    std::vector<cudaGraph_t> handles;
    handles.reserve(bodies.size());
    std::vector<Graph*> registered;
    registered.reserve(bodies.size());
    try {
        for (const auto& body : bodies) {
            if (!body->handle_) {
                body->handle_ = graphs().add(body);
                registered.push_back(body.get());
            }
            handles.push_back(body->handle_);
        }
    } catch (...) {
        for (Graph* body : registered) {
            graphs().take(body->handle_);
            body->handle_ = nullptr;
        }
        throw;
    }
    // Nothing fails from here on.
    for (const auto& body : bodies) {
        body->counted_.reset();
        body->owner_ = &owner;
    }
    owner.body_handles.swap(handles);
    owner.bodies.swap(bodies);
    for (const auto& replaced : bodies)
        disown(*replaced);
}

void destroy_graph(cudaGraph_t handle) {
    if (graph_of(handle).owner())
        fail(cudaErrorInvalidValue,
             text("Graph ", handle, " is owned by another graph and cannot be independently destroyed"));
    if (graph_of(handle).is_captured_to)
        fail(cudaErrorIllegalState, "Cannot destroy a graph while it is being captured to");
    graphs().take(handle);
}

void lose_graph(Graph& graph) noexcept {
    graph.is_lost = true;
    graph.user_objects.clear(); // also for a body, whose node lives on
    graphs().take(graph.handle());
}

std::shared_ptr<Graph> shared_graph_of(cudaGraph_t handle) {
    auto graph = graphs().find(handle);
    if (!graph) fail(cudaErrorInvalidValue, text("The source graph ", handle, " is invalid"));
    return graph;
}

Graph& graph_of(cudaGraph_t handle) {
    return *shared_graph_of(handle);
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
