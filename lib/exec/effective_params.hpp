// The effective parameters of the nodes of one exec: CUDA has no getter for them.
#pragma once

#include "graph/node_place.hpp"
#include "node/node_params.hpp"
#include "shadows.hpp"

#include <cstdint>
#include <list>
#include <memory>
#include <utility>

namespace cudag::detail {

/// The effective parameters of an exec: those of its basis, and shadows for updated nodes. The inline functions without
/// a body here are about nodes: exec_nodes.hpp defines them.
class EffectiveParams {
  public:
    /// `source` is the graph of the exec, and its first basis.
    explicit EffectiveParams(std::shared_ptr<GraphState> source)
        : source_(*source), basis_(std::move(source)), shadows_(std::make_unique<Shadows>()) {}

    /// The graph that last set all parameters: the source, or the graph of the last whole update.
    [[nodiscard]] const GraphState& basis() const noexcept { return *basis_; }
    void set_basis(std::shared_ptr<GraphState>&& basis) noexcept { basis_ = std::move(basis); }
    /// The graph of the basis at the place of `graph` in the source.
    [[nodiscard]] inline const GraphState& in_basis(const GraphState& graph) const;

    /// The effective parameters of a node. Makes no shadow.
    [[nodiscard]] const NodeParams& of(const NodePlace& node) const;
    /// The node's parameters in the basis as it was made.
    [[nodiscard]] const NodeParams& as_made(const NodePlace& node) const;

    /// Whether nodes may differ from the basis as it was made.
    [[nodiscard]] bool has_shadows() const noexcept { return !shadows_->empty(); }
    /// The effective parameters of a node, with their owners; made on first use.
    [[nodiscard]] inline Shadow& shadow(const NodePlace& node);
    /// Returns the node's shadow; null if there is none yet.
    [[nodiscard]] inline Shadow* find_shadow(const NodePlace& node) noexcept;
    [[nodiscard]] inline const Shadow* find_shadow(const NodePlace& node) const noexcept;
    /// Makes room for `params` in a shadow; see Shadows.
    void reserve(Shadow& shadow, const NodeParams& params) { shadows_->reserve(shadow, params); }

    /// Makes the shadows of an exec with all parameters from `basis`: one for each node updated in `basis`, and for
    /// each disabled memset. Null if there are none.
    [[nodiscard]] std::unique_ptr<Shadows> shadows_from(const GraphState& basis,
                                                        const std::list<NodePlace>& disabled_memsets,
                                                        const std::list<NodePlace>& batches) const;
    /// Replaces the shadows by those of the next basis; null if it needs none.
    void replace_shadows(std::unique_ptr<Shadows>&& shadows, InFlight& in_flight) noexcept;

    [[nodiscard]] bool keep_owners() const noexcept { return shadows_->keep_owners(); }
    template <class Visit>
    void for_each_owner(const Visit& visit) const {
        shadows_->for_each_owner(visit);
    }
    /// Drops the owners once the launches with access to them have finished.
    void retire(InFlight& in_flight) noexcept { shadows_->retire(in_flight); }

  private:
    [[nodiscard]] const GraphState& inside_basis(const GraphState& graph) const;
    Shadow& make_shadow(std::uint32_t number, const NodePlace& node);

    const GraphState& source_;
    std::shared_ptr<GraphState> basis_; ///< the origin of the parameters of nodes without a shadow
    std::unique_ptr<Shadows> shadows_;
};

} // namespace cudag::detail
