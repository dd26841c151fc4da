// Logical edges of a graph: added by handles, and settled before CUDA gets them.
#include "cuda/failure.hpp"
#include "graph_state.hpp"

#include <cudag/format.hpp>

#include <cstddef>
#include <span>

namespace cudag::detail {

namespace {

const Node& node_of(const Node& source) {
    return source;
}
const Node& node_of(const Dependency& source) {
    return source.node;
}
EdgeKind kind_of(const Node&) {
    return EdgeKind::full;
}
EdgeKind kind_of(const Dependency& source) {
    return source.kind;
}

} // namespace

void add_edges(const Node& to, const Node* from, std::size_t count) {
    GraphState::of(to).add_edges(to, from, count);
}
void add_edges(const Node& to, const Dependency* from, std::size_t count) {
    GraphState::of(to).add_edges(to, from, count);
}

void GraphState::add_edges(const Node& to, const Node* from, std::size_t count) {
    add_edges_from(to, std::span(from, count));
}

void GraphState::add_edges(const Node& to, const Dependency* from, std::size_t count) {
    add_edges_from(to, std::span(from, count));
}

template <class Sources>
void GraphState::add_edges_from(const Node& to, const Sources& sources) {
    const std::uint32_t target = index_unchecked(to);
    if (is_built() && place() == Place::body)
        refuse("the body that it is in has ended; edges are added inside it", node_subject(*this, target, "after: "));
    if (is_built())
        refuse(made_at_.line == 0 ? "its Graph is built; edges are added before build()"
                                  : fmt::format("its Graph is built, at {}; edges are added before build()", made_at_),
               node_subject(*this, target, "after: "));
    const std::size_t before = edges_.size();
    try {
        for (const auto& from : sources) {
            const std::uint32_t source = index_of(node_of(from), "after");
            if (source == target) refuse("a node cannot come after itself", node_subject(*this, target, "after: "));
            edges_.add({source, target, kind_of(from)});
        }
    } catch (...) {
        edges_.take_back(before);
        throw;
    }
}

void GraphState::merge_edges() {
    const std::size_t before = edges_.size();
    edges_.merge(nodes_.size());
    if (edges_.size() != before) written_edges_ = 0;
}

void GraphState::settle_edges(const char* action) {
    if (!edges_.only_extend()) {
        check_edges(action);
        merge_edges();
    }
    edges_.settle();
}

} // namespace cudag::detail
