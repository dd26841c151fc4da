// SegmentedGraph: the user's side of segments and breaks.
#include <cudag/segmented_graph.hpp>

#include "cuda/failure.hpp"
#include "segmented_state.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace cudag {

SegmentedGraph::SegmentedGraph(std::shared_ptr<detail::SegmentedState> state) noexcept : state_(std::move(state)) {}
SegmentedGraph::SegmentedGraph(SegmentedGraph&&) noexcept = default;
SegmentedGraph& SegmentedGraph::operator=(SegmentedGraph&&) noexcept = default;
SegmentedGraph::~SegmentedGraph() = default;

const std::shared_ptr<detail::SegmentedState>& SegmentedGraph::state() const {
    if (state_ == nullptr) [[unlikely]]
        detail::refuse("a moved-from SegmentedGraph was used");
    return state_;
}

void SegmentedGraph::launch(StreamRef stream) {
    const std::shared_ptr<detail::SegmentedState> kept = state(); // a break may assign to this object
    kept->launch(stream.get());
}

std::size_t SegmentedGraph::segment_count() const {
    return state()->parts().graphs.size();
}
std::size_t SegmentedGraph::break_count() const {
    return state()->parts().breaks.size();
}
const Graph& SegmentedGraph::graph(std::size_t index) const {
    return state()->graph(index);
}
Exec& SegmentedGraph::exec(std::size_t index) {
    return state()->exec(index);
}
std::uint64_t SegmentedGraph::replays() const {
    return state()->launches();
}
SegmentedReport SegmentedGraph::report() const {
    return state()->report();
}

detail::CacheContent SegmentedGraph::content() const {
    return state()->content();
}

} // namespace cudag
