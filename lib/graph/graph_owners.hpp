// The owners of what a graph uses, and their copies in CUDA's graph.
#pragma once

#include "owners/reclaim.hpp"
#include "waiting_owners.hpp"

#include <cudag/detail/owners.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The owners of one graph. They live until the graph, its clones and execs are gone and no launch uses them.
class GraphOwners {
  public:
    /// Bundles of owners, each immutable: clones and execs share them.
    using Bundles = std::vector<std::shared_ptr<const void>>;

    GraphOwners() = default;
    /// Constructs the owners of a clone from the bundles of its origin.
    explicit GraphOwners(Bundles bundles) : bundles_(std::move(bundles)) {}

    /// Makes room for `more` owners: adding them then cannot fail.
    void reserve(std::size_t more) { waiting_.reserve(more); }
    /// Adds an owner of `node`, or of the graph itself: see WaitingOwners.
    void add(std::shared_ptr<const void>&& object, std::uint32_t node) { waiting_.add(std::move(object), node); }
    [[nodiscard]] bool empty() const noexcept { return bundles_.empty() && waiting_.empty(); }
    void clear() noexcept {
        waiting_.clear();
        bundles_.clear();
    }

    /// Bundles the owners added since the last call.
    void bundle() {
        if (!waiting_.empty()) add_bundle();
    }
    [[nodiscard]] const Bundles& bundles() const noexcept { return bundles_; }
    /// Calls `visit` with each owner, bundled or not.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& bundle : bundles_)
            for (const auto& owner : *static_cast<const std::vector<std::shared_ptr<const void>>*>(bundle.get()))
                visit(owner);
        for (const auto& owner : waiting_.objects())
            visit(owner);
    }

    /// Whether CUDA's graph has some of the bundles, too.
    [[nodiscard]] bool is_given() const noexcept { return given_bundles_ != 0; }
    /// Gives CUDA's `graph` the bundles that it lacks. Throws GraphError, and can then be called again.
    void give_to(cudaGraph_t graph);
    /// Take the given bundles out of CUDA's `graph`, and put them back.
    void take_from(cudaGraph_t graph) noexcept { given_.take_from(graph); }
    void return_to(cudaGraph_t graph) noexcept { given_.return_to(graph); }

    /// Counts the owners of removed nodes. `renumber` moves them to `gone`, where room must be.
    [[nodiscard]] std::size_t count_gone(const Renumbering& next) const noexcept { return waiting_.count_gone(next); }
    void renumber(const Renumbering& next, std::vector<std::shared_ptr<const void>>& gone) noexcept {
        waiting_.renumber(next, gone);
    }

  private:
    void add_bundle();

    WaitingOwners waiting_;
    Bundles bundles_;
    std::size_t given_bundles_ = 0; ///< number of bundles that CUDA's graph has, too
    GivenObjects given_;            ///< CUDA's references to them
};

[[nodiscard]] const GraphOwners& owned_by(const GraphState& graph) noexcept;
[[nodiscard]] GraphOwners& owned_by(GraphState& graph) noexcept;

// These functions are about the owners of `graph` and of the graphs inside it.

/// Adds all of them to `owners`, as bundles shared with clones and execs.
void list_owners(GraphState& graph, Owners& owners);
[[nodiscard]] bool may_have_owners(const GraphState& graph) noexcept;
/// Gives them to CUDA's graphs, too, for copies and execs made by others. Throws GraphError, and can then be called
/// again.
void give_owners_to_native(GraphState& graph);
/// Releases them, whoever still holds the graphs. CUDA's graph must be gone.
void drop_owners(GraphState& graph) noexcept;
/// Keeps owners of `graph` itself, or of `node`: its removal releases them.
void keep_owners(GraphState& graph, std::vector<std::shared_ptr<const void>>&& owners,
                 std::uint32_t node = WaitingOwners::of_graph);

/// Takes the owners given by cudag out of the CUDA graphs of a tree for its lifetime: clones, execs and children made
/// of them then launch at full speed, and keep owners themselves. Requires the graph's lock.
class WithoutUserObjects {
  public:
    explicit WithoutUserObjects(GraphState& graph) noexcept;
    ~WithoutUserObjects();
    WithoutUserObjects(const WithoutUserObjects&) = delete;
    WithoutUserObjects& operator=(const WithoutUserObjects&) = delete;

  private:
    GraphState& graph_;
    bool may_have_;
};

} // namespace cudag::detail
