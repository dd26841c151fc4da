// Graph identities: what lets a handle outlive its graph without dangling.
#pragma once

#include <atomic>
#include <cstdint>

namespace cudag::detail {

class GraphState;
class RemovedNodes;

/// Slots are reused, never freed: a handle compares its generation with the slot's and knows whether its graph lives.
struct GraphSlot {
    std::atomic<std::uint32_t> generation = 0;
    GraphState* state = nullptr;
    const RemovedNodes* removed = nullptr; ///< null where the number of each handle is the index of its node
};

/// A slot for one graph's life; releasing it kills the handles.
[[nodiscard]] GraphSlot* take_slot(GraphState& state);
void release_slot(GraphSlot* slot) noexcept;

} // namespace cudag::detail
