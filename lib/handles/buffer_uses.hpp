// The uses of a BufferParam's memory by nodes, and the addresses in their parameters.
#pragma once

#include "graph/node_place.hpp"
#include "node/owned_params.hpp"

#include <cudag/buffer_param.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudag::detail {

class GraphState;

/// An address in a node's parameters.
struct AddressUse {
    NodePlace place;
    std::uint32_t argument; ///< as in BufferUse
    std::uint32_t at;       ///< offset in a kernel's block of values, in bytes
    std::size_t offset;     ///< from the beginning of the parameter, in bytes; a pointer to its end has its length
    std::size_t bytes;      ///< length of the memory used from there on; 0 if only the kernel knows it
    bool is_in_object;
};

/// A node that declares, by `.reads` or `.writes`, the access of a use of the same memory: its own use, that of a node
/// inside it, or that of a node captured in the same region.
struct DeclaredUse {
    NodePlace place;
    std::size_t use; ///< number of this use
};

/// A reason why a node prevents a BufferParam from being bound: it uses the memory, or may use it, and has no address
/// to replace.
enum class Obstacle : std::uint8_t {
    opaque,       ///< its memory is unknown
    object,       ///< an address inside the memory is in an argument of another type, and `in_objects` is not set
    end,          ///< an ambiguous pointer to the end of the memory: other memory is there, too
    from_outside, ///< its memory begins before the parameter, and reaches into it
    declared,     ///< it declares a use of the memory, but has no address of it
    freed,        ///< it frees the memory
};

struct ObstacleAt {
    NodePlace place;
    Obstacle kind;
    std::uint32_t argument;
};

/// The uses of a BufferParam's memory by a graph, and those inside it, according to the first parameters of the nodes.
struct MemoryUses {
    std::vector<AddressUse> uses;      ///< node by node
    std::vector<DeclaredUse> declared; ///< node by node
    std::vector<ObstacleAt> obstacles; ///< node by node
};

/// Finds the uses of a parameter. Reads a captured graph. Takes log(n) time plus the size of the result, except for the
/// first query about a graph: see AddressIndex. Throws GraphError.
[[nodiscard]] MemoryUses uses_of(const GraphState& graph, const ParamMemory& param);

/// Returns all addresses in the parameters of the nodes, in ascending order; numbers may be among them.
[[nodiscard]] std::vector<std::uintptr_t> all_addresses(const GraphState& graph);

/// Returns the graph around a node that `bind` captures again with other memory, since its nodes keep addresses for
/// themselves; null if there is none.
[[nodiscard]] const GraphState* recaptured_around(const NodePlace& place) noexcept;
/// The same, also for a node that is around such a graph.
[[nodiscard]] const GraphState* recaptured_at(const NodePlace& place);

/// Describes a parameter: "the parameter of 64 bytes at 0x7f00".
[[nodiscard]] std::string describe_param(const ParamMemory& param);
/// Describe an obstacle without its node, and the remedy for a user of Exec::bind.
[[nodiscard]] std::string describe_obstacle(const ObstacleAt& obstacle, const ParamMemory& param);
[[nodiscard]] const char* remedy_of(Obstacle obstacle) noexcept;
/// Throws UpdateError: bind cannot replace the memory.
[[noreturn]] void refuse_obstacle(const ObstacleAt& obstacle, const ParamMemory& param);

/// Return or replace the address of `use` in `params`, which are parameters of the same node.
[[nodiscard]] std::uintptr_t address_in(const NodeParams& params, const AddressUse& use) noexcept;
void set_address(OwnedParams& params, const AddressUse& use, std::uintptr_t address) noexcept;

} // namespace cudag::detail
