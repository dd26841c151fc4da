// Additions of the pieces of a large copy.
#include "add_node.hpp"
#include "node/copy_pieces.hpp"

#include <cudag/detail/record.hpp>

namespace cudag::detail {

void add_pieces(GraphState& graph, const CopyParams& copy, const Owners& owners, const SourceLocation& where) {
    require_sound(copy, [&] { return new_node_subject(NodeKind::memcpy, where); });
    for (const CopyParams& piece : pieces_of(copy))
        static_cast<void>(add_memcpy(graph, piece, Owners(owners), where));
}

} // namespace cudag::detail
