// Which nodes use the memory of a BufferParam, and where the addresses stand in their parameters.
#pragma once

#include "graph/graph_state.hpp"
#include "graph/node_place.hpp"
#include "node/owned_params.hpp"

#include <cudag/buffer_param.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudag::detail {

/// An address in a node's parameters.
struct AddressUse {
    NodePlace place;
    std::uint32_t argument; ///< as in BufferUse
    std::uint32_t at;       ///< of a kernel: in its block of values, in bytes
    std::size_t offset;     ///< from the beginning of the parameter, in bytes: its length for a pointer to its end
    std::size_t bytes;      ///< how many from there on, or 0 where only the kernel knows that
    bool is_in_object;
};

/// A node that declares, by `.reads` or `.writes`, what a use of the same memory does: its own, one inside it, or one
/// in the region that it was captured with.
struct DeclaredUse {
    NodePlace place;
    std::size_t use; ///< number of the use whose memory it is
};

/// Why a node keeps a BufferParam from being bound: it uses the memory, or may, and there is no address to replace.
enum class Obstacle : std::uint8_t {
    opaque, ///< cudag does not know what memory it uses
    object, ///< an address inside the memory stands in an argument of another type, and those do not count
    end,    ///< a pointer to the end of the memory, where other memory is, too: for who cannot tell which is meant
    from_outside, ///< what it uses begins before the memory, and reaches into it
    declared,     ///< it declares that it uses the memory, and has no address of it
    freed,        ///< it frees the memory
};

struct ObstacleAt {
    NodePlace place;
    Obstacle kind;
    std::uint32_t argument;
};

/// How a graph, and those inside it, use the memory of a BufferParam, by the parameters that the nodes were made with.
struct MemoryUses {
    std::vector<AddressUse> uses;      ///< node by node
    std::vector<DeclaredUse> declared; ///< node by node
    std::vector<ObstacleAt> obstacles; ///< node by node
};

/// Reads a captured graph. Takes log(n) time and what it finds, but for the first question about a graph: see
/// AddressIndex. Throws GraphError.
[[nodiscard]] MemoryUses uses_of(const GraphState& graph, const ParamMemory& param);

/// All addresses in the parameters of the nodes, in ascending order; numbers may be among them.
[[nodiscard]] std::vector<std::uintptr_t> all_addresses(const GraphState& graph);

/// "the parameter of 64 bytes at 0x7f00"
[[nodiscard]] std::string describe_param(const ParamMemory& param);
/// What the obstacle is, but for its node, and what a user of Exec::bind can do about it.
[[nodiscard]] std::string describe_obstacle(const ObstacleAt& obstacle, const ParamMemory& param);
[[nodiscard]] const char* remedy_of(Obstacle obstacle) noexcept;
/// Throws UpdateError: bind cannot replace the memory.
[[noreturn]] void refuse_obstacle(const ObstacleAt& obstacle, const ParamMemory& param);

/// The address that stands there in `params`, of the same node, and how it is changed in a copy.
[[nodiscard]] std::uintptr_t address_in(const NodeParams& params, const AddressUse& use) noexcept;
void set_address(OwnedParams& params, const AddressUse& use, std::uintptr_t address) noexcept;

} // namespace cudag::detail
