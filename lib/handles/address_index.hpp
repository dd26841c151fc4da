// An index of the addresses in the parameters of a graph's nodes.
#pragma once

#include "accesses/memory_access.hpp"
#include "graph/construction.hpp"
#include "graph/node_place.hpp"
#include "graph/node_record.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The kind of an address in a node's parameters.
enum class WordKind : std::uint8_t {
    address, ///< of a kernel: a pointer, the beginning of a span, or 8 bytes of an unknown type
    part,    ///< a word in an object, a number or an unknown argument of a kernel: perhaps an address
    operand, ///< of a copy or a fill
    freed,   ///< memory that the node frees, allocated by no node of the graph
};

/// An address in the first parameters of a node.
struct AddressWord {
    std::uintptr_t address;
    std::size_t bytes;      ///< length of the memory used by a copy or a fill; 0 for a kernel
    std::uint32_t graph;    ///< number of the node's graph: see AddressIndex::place
    std::uint32_t node;     ///< index of the node
    std::uint32_t argument; ///< as in BufferUse
    std::uint32_t at;       ///< offset in a kernel's block of values, in bytes
    WordKind kind;
    bool begins_memory; ///< whether the node declares memory of known length from there on
};

/// Memory of known length that a node uses: an operand of a copy or a fill, or a declared access.
struct KnownMemory {
    MemoryBlock block;
    std::uint32_t graph;
    std::uint32_t node;
    std::uint32_t argument; ///< `whole_node` if declared by the node or its region
    std::uint32_t unit;     ///< of a captured region: see ArgumentAccess
};

/// The addresses in the first parameters of the nodes of a graph, and of those inside it. Construction takes n log(n)
/// time for n words of parameters, a query log(n) time plus the size of its result.
class AddressIndex {
  public:
    /// Reads a captured graph. Throws GraphError.
    explicit AddressIndex(const GraphState& graph);

    [[nodiscard]] NodePlace place(std::uint32_t graph, std::uint32_t node) const noexcept {
        return {graphs_[graph].state, node};
    }
    struct Holder {
        std::uint32_t graph;
        std::uint32_t node;
    };
    static constexpr std::uint32_t no_graph = ~std::uint32_t{0};
    /// Returns the node around graph number `graph`; its own graph is `no_graph` for the first one.
    [[nodiscard]] Holder holder(std::uint32_t graph) const noexcept { return graphs_[graph].holder; }

    /// Return all addresses in ascending order, or those from `begin` to before `end`.
    [[nodiscard]] std::span<const AddressWord> words() const noexcept { return words_; }
    [[nodiscard]] std::span<const AddressWord> words_in(const AddressRange& range) const noexcept;
    /// Calls `visit(memory)` for all known memory that overlaps `range`.
    template <class Visit>
    void for_each_known(const AddressRange& range, const Visit& visit) const {
        for (std::size_t i = known_before(range.end); i-- > 0 && ends_[i] > range.begin;)
            if (common_bytes(known_[i].block, {range.begin, range.end - range.begin})) visit(known_[i]);
    }
    /// Whether known memory begins at `address`.
    [[nodiscard]] bool has_beginning(std::uintptr_t address) const noexcept;

    /// Returns the first opaque node that does not declare its memory either, if there is one.
    [[nodiscard]] const std::optional<Holder>& first_opaque() const noexcept { return opaque_; }
    /// The graph's number of declarations at the construction: see GraphState::declared_version.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

  private:
    struct Indexed {
        const GraphState* state;
        Holder holder;
    };

    void add(const GraphState& graph, const Holder& holder, const std::unordered_set<std::uintptr_t>& allocated);
    void sort();
    /// Number of known blocks that begin before `address`.
    [[nodiscard]] std::size_t known_before(std::uintptr_t address) const noexcept;

    std::uint64_t version_;
    std::vector<Indexed> graphs_;
    std::vector<AddressWord> words_;   ///< by address
    std::vector<KnownMemory> known_;   ///< by beginning
    std::vector<std::uintptr_t> ends_; ///< the last end among each known block and those before it
    std::optional<Holder> opaque_;
};

/// Returns the index of `graph`, made by the first query, and made anew after further declarations by nodes.
[[nodiscard]] std::shared_ptr<const AddressIndex> addresses_of(const GraphState& graph);

/// Whether the memory of a node is unknown: cudag did not make the node, and CUDA does not describe it.
[[nodiscard]] bool is_opaque(const NodeRecord& node) noexcept;

} // namespace cudag::detail
