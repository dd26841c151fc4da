// Where the nodes of a graph refer to memory, by address.
#pragma once

#include "accesses/memory_access.hpp"
#include "graph/graph_state.hpp"
#include "graph/node_place.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

namespace cudag::detail {

/// What an address in a node's parameters is.
enum class WordKind : std::uint8_t {
    address, ///< of a kernel: a pointer, the beginning of a span, or 8 bytes of an unknown type
    part,    ///< a word of a kernel's argument that is an object, a number, or unknown: it may be an address
    operand, ///< of a copy or a fill
    freed,   ///< memory that the node frees, and that no node of the graph allocates
};

/// An address in the parameters that a node was made with.
struct AddressWord {
    std::uintptr_t address;
    std::size_t bytes;      ///< how many a copy or a fill uses from there on; 0 of a kernel
    std::uint32_t graph;    ///< number of the node's graph: see AddressIndex::place
    std::uint32_t node;     ///< index of the node
    std::uint32_t argument; ///< as in BufferUse
    std::uint32_t at;       ///< of a kernel: in its block of values, in bytes
    WordKind kind;
    bool begins_memory; ///< the node declares that memory begins there, of which it knows the length
};

/// Memory that a node uses, with its length: an operand of a copy or a fill, or a declared access.
struct KnownMemory {
    MemoryRegion region;
    std::uint32_t graph;
    std::uint32_t node;
    std::uint32_t argument; ///< `whole_node` if the node, or its region, declares it
    std::uint32_t unit;     ///< of a captured region: see ArgumentAccess
};

/// The addresses in the parameters that the nodes of a graph, and of those inside it, were made with. It takes
/// n log(n) time for n words of parameters, and each question about memory log(n) and what it finds.
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
    /// The node that graph number `graph` is inside of; in no graph for the first one.
    [[nodiscard]] Holder holder(std::uint32_t graph) const noexcept { return graphs_[graph].holder; }

    /// All addresses, in ascending order, and those from `begin` to before `end`.
    [[nodiscard]] std::span<const AddressWord> words() const noexcept { return words_; }
    [[nodiscard]] std::span<const AddressWord> words_in(const AddressRange& range) const noexcept;
    /// Calls `visit(memory)` for the known memory that has bytes in common with `range`.
    template <class Visit>
    void for_each_known(const AddressRange& range, const Visit& visit) const {
        for (std::size_t i = known_before(range.end); i-- > 0 && ends_[i] > range.begin;)
            if (common_bytes(known_[i].region, {range.begin, range.end - range.begin})) visit(known_[i]);
    }
    /// Whether known memory begins at `address`.
    [[nodiscard]] bool has_beginning(std::uintptr_t address) const noexcept;

    /// The first node of which cudag does not know what memory it uses, and that does not declare it either; none if
    /// there is none.
    [[nodiscard]] const std::optional<Holder>& first_opaque() const noexcept { return opaque_; }
    /// Counts the declarations that were in the graph: see GraphState::declared_version.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }

  private:
    struct Indexed {
        const GraphState* state;
        Holder holder;
    };

    void add(const GraphState& graph, const Holder& holder, const std::unordered_set<std::uintptr_t>& allocated);
    void sort();
    /// How many known regions begin before `address`.
    [[nodiscard]] std::size_t known_before(std::uintptr_t address) const noexcept;

    std::uint64_t version_;
    std::vector<Indexed> graphs_;
    std::vector<AddressWord> words_;   ///< by address
    std::vector<KnownMemory> known_;   ///< by their beginnings
    std::vector<std::uintptr_t> ends_; ///< of each known region and those before it: the last end
    std::optional<Holder> opaque_;
};

/// That of `graph`, made with the first question, and anew where nodes have declared more since.
[[nodiscard]] std::shared_ptr<const AddressIndex> addresses_of(const GraphState& graph);

/// Whether cudag does not know what memory the node uses: it did not make it, and CUDA does not describe it.
[[nodiscard]] bool is_opaque(const NodeRecord& node) noexcept;

} // namespace cudag::detail
