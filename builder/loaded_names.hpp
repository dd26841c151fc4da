// What the names in the text of a graph stand for, while the graph is built.
#pragma once

#include "text/graph_document.hpp"
#include "text/text_lines.hpp"

#include <cudag/condition.hpp>
#include <cudag/detail/graph_names.hpp>
#include <cudag/function.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudag::detail {

/// Throws GraphError about a line of a text.
[[noreturn]] void refuse_at(std::size_t line, const std::string& reason);

/// The kernel of a node, with the types of its parameters if they are known.
struct FoundKernel {
    const void* symbol = nullptr;
    const Function* function = nullptr;
    const KernelSignature* signature = nullptr; ///< null: only `untyped` is known
    KernelSignature untyped = {};
};

/// The named memory, functions and handles, with the allocations and conditions of the graph built so far. Its
/// functions read a name at the beginning of the rest of a line, and throw GraphError if nothing has it.
class LoadedNames {
  public:
    /// Throws GraphError if memory of the text is missing in `names`, or is smaller there.
    LoadedNames(const GraphDocument& document, const NameLists& names, const SourceLocation& where);

    /// Reads "x", "x + 16", "@2" or "null".
    [[nodiscard]] void* address(LineReader& line);
    /// Returns null for "null".
    [[nodiscard]] void* handle(HandleKind kind, LineReader& line);
    [[nodiscard]] const Condition& condition(LineReader& line) const;
    [[nodiscard]] HostParams host(LineReader& line);
    [[nodiscard]] FoundKernel kernel(const TextField& field) const;

    void add_condition(const Condition& condition) { conditions_.push_back(condition); }
    [[nodiscard]] const std::vector<Condition>& conditions() const noexcept { return conditions_; }
    /// Adds the alloc node at `place`, such as "@2/0".
    void add_allocation(const std::string& place, const Node& node) { allocations_.emplace(place, node); }
    /// Returns the alloc node with this place in the rest of a line.
    [[nodiscard]] const Node& allocation(LineReader& line) const;
    /// Returns the owners of everything asked for.
    [[nodiscard]] std::vector<std::shared_ptr<const void>> take_owners() noexcept { return std::move(owners_); }

  private:
    void require_memory(const TextMemory& memory) const;
    const NamedMemory& named_memory(std::string_view name, const LineReader& line);
    void keep_later(const std::shared_ptr<const void>& owner);

    const NameLists& names_;
    SourceLocation where_;
    std::unordered_map<std::string, const NamedMemory*> memory_;
    std::unordered_map<std::string, Node> allocations_; ///< by place
    std::vector<Condition> conditions_;
    std::vector<std::shared_ptr<const void>> owners_;
};

} // namespace cudag::detail
