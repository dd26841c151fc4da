// The names in the text of one graph: those given, and numbered ones for the rest.
#pragma once

#include "graph_document.hpp"
#include "node/node_params.hpp"

#include <cudag/detail/graph_names.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The beginning of the names of cudag's own kernels, which no GraphNames need to name.
inline constexpr std::string_view own_kernel_prefix = "cudag_";

/// Memory of an alloc node of the graph, or of a graph inside it. Its name is the place of the node: "@2", or "@4/0"
/// for node 0 of the graph inside node 4.
struct NamedAllocation {
    std::uintptr_t address;
    std::size_t bytes;
    std::string name;
    std::uint32_t order; ///< among all nodes
};

/// Names addresses and handles. A name without a number for a kernel or a host node is followed by "#2", ... if it is
/// taken. Reads all nodes of the graph first, since one node tells the extent of memory that another one points into.
class NameBook {
  public:
    /// `keeps_kernels`: for `take_all`. Asks CUDA about each kernel that the program does not have.
    NameBook(const GraphState& root, const NameLists& given, bool keeps_kernels = false);

    /// Returns "x", "x + 16" or "null". `order` is that of the node with the address.
    [[nodiscard]] std::string address(const void* address, std::uint32_t order);
    /// The same for a word that may be no address: nothing if it is in no named memory, nor in memory of the graph.
    /// `asks_cuda`: any memory known to CUDA counts, too.
    [[nodiscard]] std::optional<std::string> word(std::uintptr_t word, std::uint32_t order, bool asks_cuda);
    [[nodiscard]] std::string kernel(const KernelParams& kernel, const KernelSignature& signature);
    [[nodiscard]] std::string host(const HostParams& host, std::string_view label);
    [[nodiscard]] std::string handle(HandleKind kind, const void* handle);
    /// The types of a kernel's parameters.
    [[nodiscard]] ParameterType type_of(const KernelParams& kernel, const KernelSignature& signature,
                                        std::uint32_t index);

    [[nodiscard]] const std::vector<NamedAllocation>& allocations() const noexcept { return allocations_; }
    /// The memory named so far, in this order.
    [[nodiscard]] const std::vector<TextMemory>& used_memory() const noexcept { return used_; }
    /// Returns the given names, and those found.
    [[nodiscard]] NameLists take_all() noexcept { return std::move(names_); }

  private:
    /// Memory used by nodes, without a name so far.
    struct Block {
        std::uintptr_t begin;
        std::uintptr_t end;
        std::string name;
    };

    void add_ranges(const GraphState& graph);
    void add_allocations(const GraphState& graph, const std::string& path, std::uint32_t& order);
    /// The name and offset in given names, and in graph memory; then in used memory.
    [[nodiscard]] std::optional<std::string> in_named(std::uintptr_t address, std::uint32_t order);
    [[nodiscard]] std::optional<std::string> in_blocks(std::uintptr_t address);
    void use(const std::string& name, std::size_t bytes);
    [[nodiscard]] const NamedKernel* given_kernel(const KernelParams& kernel) const;
    [[nodiscard]] std::string free_name(std::string_view base);
    [[nodiscard]] std::string numbered(std::string_view base);

    NameLists names_;
    std::size_t given_memory_; ///< number of given names
    bool keeps_kernels_;
    std::vector<NamedAllocation> allocations_;
    std::vector<Block> blocks_; ///< sorted, disjoint
    std::vector<TextMemory> used_;
    std::unordered_set<std::string> used_names_;
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, unsigned> numbers_;
    std::unordered_map<CUfunction, std::string> kernels_;
    std::unordered_map<CUfunction, std::vector<ParameterType>> types_;
};

} // namespace cudag::detail
