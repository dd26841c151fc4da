// to_text, diff with a text, and names_of.
#include <cudag/graph_text.hpp>

#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "name_book.hpp"
#include "text_diff.hpp"
#include "write_graph.hpp"

namespace cudag {

std::string to_text(const Graph& graph, const GraphNames& names, const GraphTextOptions& options) {
    const detail::GraphState& state = detail::Access::state(graph);
    require_root(state, "to_text");
    const auto lock = lock_of(state);
    read_all(state);
    detail::NameBook book(state, names.lists(detail::Passkey()));
    detail::GraphDocument document = document_of(state, book);
    document.plan = options.plan;
    return to_string(document);
}

std::vector<Difference> diff(const Graph& graph, std::string_view text, const GraphNames& names) {
    const detail::GraphState& state = detail::Access::state(graph);
    require_root(state, "diff with a text");
    const detail::GraphDocument other = detail::parse_document(text);
    const auto lock = lock_of(state);
    read_all(state);
    detail::NameBook book(state, names.lists(detail::Passkey()));
    return diff_document(state, document_of(state, book), other);
}

GraphNames names_of(const Graph& graph, const GraphNames& names) {
    const detail::GraphState& state = detail::Access::state(graph);
    require_root(state, "names_of");
    const auto lock = lock_of(state);
    read_all(state);
    detail::NameBook book(state, names.lists(detail::Passkey()), true);
    static_cast<void>(document_of(state, book));
    return {detail::Passkey(), book.take_all()};
}

} // namespace cudag
