// Which nodes use the memory of a BufferParam, and where the addresses stand in their parameters.
#pragma once

#include "graph_state.hpp"
#include "node/owned_params.hpp"
#include "node_place.hpp"

#include <cudag/buffer_param.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudag::detail {

/// An address in a node's parameters.
struct AddressUse {
    NodePlace place;
    std::uint32_t argument; ///< as in BufferUse
    std::uint32_t at;       ///< of a kernel: in its block of values, in bytes
    std::size_t offset;     ///< from the begin of the parameter, in bytes
    std::size_t bytes;      ///< how many from there on, or 0 where only the kernel knows that
    bool is_in_object;
};

/// The uses in `graph` and in those inside, by the parameters that the nodes were made with; node by node. Reads a
/// captured graph. Throws GraphError.
[[nodiscard]] std::vector<AddressUse> uses_of(const GraphState& graph, const ParamMemory& param);

/// The address that stands there in `params`, of the same node, and how it is changed in a copy.
[[nodiscard]] std::uintptr_t address_in(const NodeParams& params, const AddressUse& use) noexcept;
void set_address(OwnedParams& params, const AddressUse& use, std::uintptr_t address) noexcept;

} // namespace cudag::detail
