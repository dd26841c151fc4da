// Graph memory of a graph written again: its alloc nodes get other memory, so addresses in its nodes are translated.
#pragma once

#include "graph/in_force.hpp"
#include "graph/node_place.hpp"
#include "node/kernel.hpp"
#include "node/owned_params.hpp"

#include <cudag/detail/memory_block.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/node.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The declared accesses of a node.
[[nodiscard]] std::vector<ArgumentAccess> all_declared(const InForce& in_force, const NodePlace& node);
/// The signature of a node's kernel in force, with the types known to cudag.
[[nodiscard]] const KernelSignature& signature_to_write(const NodePlace& node, const KernelParams& kernel);

/// The memory of one alloc node of the original, and of the node written for it.
struct WrittenAllocation {
    NodePlace alloc;
    std::uintptr_t begin;
    std::size_t bytes;
    NodePlace free = {};           ///< the node that frees it; empty if the original frees it nowhere
    Node copy = {};                ///< the alloc node written
    std::uintptr_t copy_begin = 0; ///< its address
    std::uint32_t order = 0;       ///< among all nodes of the original, in the order in which they are written

    [[nodiscard]] std::uintptr_t end() const noexcept { return begin + bytes; }
};

/// The graph memory of a tree of graphs, and the addresses in it among the parameters of nodes. CUDA reuses addresses:
/// an address belongs to the allocation whose lifetime has the node. The original must stay as it is.
class WrittenMemory {
  public:
    /// `in_force` must outlive this object.
    WrittenMemory(const GraphState& original, const InForce& in_force);

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    /// Throws GraphError, naming `action`, if a node has an address in graph memory that cannot be translated, or frees
    /// memory that another graph allocates.
    void require_translatable(const GraphState& original, std::string_view action);

    /// Throws GraphError, naming `action`, if the original does not free the memory of one of its nodes.
    void require_freed(std::string_view action) const;

    /// Return the allocation of an alloc node, and that of a free node.
    [[nodiscard]] WrittenAllocation& of_alloc(const NodePlace& alloc);
    [[nodiscard]] WrittenAllocation& of_free(const NodePlace& free);

    // Each translates what a node of the original has, once its alloc nodes are written.
    void translate(const NodePlace& node, OwnedParams& params);
    void translate(const NodePlace& node, std::vector<ArgumentAccess>& accesses);
    void translate(const NodePlace& node, LaunchConfig& config);

  private:
    [[nodiscard]] WrittenAllocation* find(const NodePlace& node, std::uintptr_t address);
    [[nodiscard]] std::uintptr_t translated(const NodePlace& node, std::uintptr_t address);
    template <class Pointer>
    void translate_pointer(const NodePlace& node, Pointer& pointer);
    [[nodiscard]] bool is_alive_at(const WrittenAllocation& memory, const NodePlace& node);
    [[nodiscard]] bool comes_after(const NodePlace& later, const NodePlace& earlier);
    [[nodiscard]] const std::vector<bool>& reached_from(const NodePlace& node);
    [[nodiscard]] WrittenAllocation* find_ended_at(const NodePlace& node, const KernelParams& kernel,
                                                   std::uintptr_t address);
    void check(const GraphState& graph, std::uint32_t& order, std::string_view action);
    void check_kernel(const NodePlace& node, const KernelParams& kernel, std::string_view action);
    [[nodiscard]] std::size_t count_at(std::uintptr_t address) const;

    const InForce& in_force_;
    std::vector<WrittenAllocation> all_; ///< by beginning
    std::vector<std::uintptr_t> ends_;   ///< the last end among each allocation and those before it
    std::map<std::pair<const GraphState*, std::uint32_t>, std::vector<bool>> reached_;
};

} // namespace cudag::detail
