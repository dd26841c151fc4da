// The pool of graph identities.
#include "graph_slot.hpp"

#include <deque>
#include <mutex>
#include <vector>

namespace cudag::detail {

namespace {

struct Pool {
    std::mutex mutex;
    std::deque<GraphSlot> slots; // stable addresses
    std::vector<GraphSlot*> free;
};

Pool& pool() {
    static auto* all = new Pool; // never destroyed: handles may be used during static destruction
    return *all;
}

} // namespace

GraphSlot* take_slot(GraphState& state) {
    Pool& all = pool();
    const std::scoped_lock lock(all.mutex);
    if (all.free.empty()) {
        if (all.free.capacity() <= all.slots.size()) // release_slot must not allocate
            all.free.reserve(2 * all.slots.size() + 1);
        all.free.push_back(&all.slots.emplace_back());
    }
    GraphSlot* slot = all.free.back();
    all.free.pop_back();
    slot->state = &state;
    return slot;
}

void release_slot(GraphSlot* slot) noexcept {
    Pool& all = pool();
    const std::scoped_lock lock(all.mutex);
    slot->removed = nullptr; // it dies with the graph
    slot->generation.fetch_add(1, std::memory_order_release);
    all.free.push_back(slot);
}

} // namespace cudag::detail
