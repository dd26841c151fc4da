// Graph identities: they let a handle outlive its graph without dangling.
#pragma once

#include <atomic>
#include <cstdint>

namespace cudag::detail {

class GraphState;
class RemovedNodes;

/// The identity of a graph. Slots are reused, never freed: a handle is alive while its generation equals the slot's.
struct GraphSlot {
    std::atomic<std::uint32_t> generation = 0;
    GraphState* state = nullptr;
    const RemovedNodes* removed = nullptr; ///< null if each handle's number is the index of its node
};

/// Takes a slot for one graph's life; its release kills the handles.
[[nodiscard]] GraphSlot* take_slot(GraphState& state);
void release_slot(GraphSlot* slot) noexcept;

} // namespace cudag::detail
