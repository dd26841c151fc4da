// The effective parameters and accesses of nodes: those of a graph, or of an exec.
#pragma once

#include "changes.hpp"
#include "graph_records.hpp"
#include "node_place.hpp"

#include <cudag/detail/call_effects.hpp>

#include <concepts>
#include <cstdint>
#include <vector>

namespace cudag::detail {

class GraphState;

/// Calls `visit(access)` for each access that the node has declared. Needs the graph's lock.
template <class Visit>
void for_each_declared(const GraphRecords& records, std::uint32_t index, const Visit& visit) {
    if (const UpdatedNode* const changed = records.updated().find(index); changed != nullptr)
        for (const ArgumentAccess& access : changed->accesses)
            visit(access);
    else
        records.initial_accesses().for_each(index, visit);
}
template <class Visit>
void for_each_declared(const GraphState& graph, std::uint32_t index, const Visit& visit) {
    for_each_declared(records_of(graph), index, visit);
}
[[nodiscard]] inline std::vector<ArgumentAccess> all_declared(const GraphState& graph, std::uint32_t index) {
    std::vector<ArgumentAccess> accesses;
    for_each_declared(graph, index, [&](const ArgumentAccess& access) { accesses.push_back(access); });
    return accesses;
}

/// A reference to a function that takes accesses. The function must outlive it.
class AccessVisitor {
  public:
    template <std::invocable<const ArgumentAccess&> Visit>
    AccessVisitor(const Visit& visit) noexcept
        : visit_(&visit),
          call_([](const void* v, const ArgumentAccess& access) { (*static_cast<const Visit*>(v))(access); }) {}
    void operator()(const ArgumentAccess& access) const { call_(visit_, access); }

  private:
    const void* visit_;
    void (*call_)(const void* visit, const ArgumentAccess& access);
};

/// The effective state of the nodes of a graph tree, or of an exec of it.
class InForce {
  public:
    [[nodiscard]] virtual const NodeParams& params(const NodePlace& node) const = 0;
    /// Visits each access declared by the node, through arguments, `.reads` and `.writes`. `visit` must not ask about
    /// another node: a lock may be held.
    virtual void for_each_declared(const NodePlace& node, const AccessVisitor& visit) const = 0;
    /// Returns the captured region of the node: see RegionUnits.
    [[nodiscard]] virtual std::uint32_t region(const NodePlace& node) const = 0;
    /// Number of declarations of accesses in the graph and inside it: see GraphState::declared_version.
    [[nodiscard]] virtual std::uint64_t declared_version(const GraphState& graph) const = 0;

  protected:
    ~InForce() = default;
};

/// The effective state of each node in its own graph. Needs the graph's lock.
class GraphInForce final : public InForce {
  public:
    [[nodiscard]] const NodeParams& params(const NodePlace& node) const override;
    void for_each_declared(const NodePlace& node, const AccessVisitor& visit) const override;
    [[nodiscard]] std::uint32_t region(const NodePlace& node) const override;
    [[nodiscard]] std::uint64_t declared_version(const GraphState& graph) const override;
};
inline constexpr GraphInForce graph_in_force;

} // namespace cudag::detail
