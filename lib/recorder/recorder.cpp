// Records of an exec's nodes, and the list of all recorders.
#include "recorder.hpp"

#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace cudag {

namespace detail {

namespace {

/// The live recorders. The list is never destroyed: execs may be destroyed after main().
struct Recorders {
    std::mutex mutex;
    std::vector<std::weak_ptr<Recorder>> all;
};

Recorders& recorders() {
    static auto* const list = new Recorders;
    return *list;
}

std::vector<std::shared_ptr<Recorder>> live_recorders() {
    std::vector<std::shared_ptr<Recorder>> live;
    const std::lock_guard lock(recorders().mutex);
    for (const std::weak_ptr<Recorder>& each : recorders().all)
        if (auto recorder = each.lock()) live.push_back(std::move(recorder));
    return live;
}

std::optional<std::vector<UnfinishedNode>> list_recorded() {
    const std::vector<std::shared_ptr<Recorder>> live = live_recorders();
    if (live.empty()) return std::nullopt;
    std::vector<UnfinishedNode> found;
    for (const auto& recorder : live)
        recorder->list(found);
    return found;
}

constexpr std::uint32_t no_outer = ~std::uint32_t{0}; ///< the number of no node

} // namespace

std::shared_ptr<Recorder> Recorder::make(const GraphState& graph) {
    auto recorder = std::make_shared<Recorder>(graph);
    {
        const std::lock_guard lock(recorders().mutex);
        std::erase_if(recorders().all, [](const std::weak_ptr<Recorder>& each) { return each.expired(); });
        recorders().all.push_back(recorder);
    }
    set_unfinished_list(list_recorded);
    return recorder;
}

Recorder::Recorder(const GraphState& graph)
    : memory_(std::max<std::size_t>(2 * std::size_t{tree_of(graph).node_total()}, 1)), words_(memory_.data()),
      nodes_(tree_of(graph).node_total()) {
    std::fill(words_, words_ + memory_.size(), 0U);
    add(graph, no_outer);
}

Recorder::~Recorder() = default;

void Recorder::add(const GraphState& graph, std::uint32_t outer) {
    const std::uint32_t first = tree_of(graph).first_number();
    const MarkLayout layout = mark_layout(graph);
    for (std::uint32_t i = 0; i < records_of(graph).nodes().size(); ++i) {
        const NodeRecord& record = records_of(graph).nodes()[i];
        Node& node = nodes_[first + i];
        node = {.name = {.label = std::string(without_nul(record.label)),
                         .description = describe_node(graph, i),
                         .kind = record.kind,
                         .location = record.location},
                .outer = outer,
                .after = layout.after[i]};
        for (std::uint32_t& next : node.after)
            next += first;
        for (std::uint32_t around = outer; around != no_outer; around = nodes_[around].outer)
            node.name.outer.insert(node.name.outer.begin(), nodes_[around].name.description);
        for (const std::shared_ptr<GraphState>& inner : nested_in(graph, i))
            add(*inner, first + i);
    }
}

void Recorder::set_exec(cudaGraphExec_t exec) noexcept {
    const std::lock_guard lock(recorders().mutex);
    exec_ = exec;
}

std::shared_ptr<Recorder> Recorder::find(cudaGraphExec_t exec) {
    const std::lock_guard lock(recorders().mutex);
    std::shared_ptr<Recorder> found; // the last one: CUDA reuses handles
    for (const std::weak_ptr<Recorder>& each : recorders().all)
        if (auto recorder = each.lock(); recorder && recorder->exec_ == exec) found = std::move(recorder);
    return found;
}

bool Recorder::is_unfinished(std::size_t number) const noexcept {
    const auto is_set = [](std::uint32_t* word) {
        return std::atomic_ref(*word).load(std::memory_order_acquire) != 0; // the device writes it
    };
    return is_set(begin_word(number)) && !is_set(end_word(number)) &&
           std::ranges::none_of(nodes_[number].after, [&](std::uint32_t next) { return is_set(begin_word(next)); });
}

void Recorder::list(std::vector<UnfinishedNode>& found) const {
    std::vector<bool> unfinished(nodes_.size()), has_inner(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) { // a node has a lower number than those inside it
        const std::uint32_t outer = nodes_[i].outer;
        unfinished[i] = (outer == no_outer || unfinished[outer]) && is_unfinished(i);
        if (unfinished[i] && outer != no_outer) has_inner[outer] = true;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (unfinished[i] && !has_inner[i]) found.push_back(nodes_[i].name);
}

} // namespace detail

std::vector<UnfinishedNode> unfinished_nodes() {
    return detail::list_unfinished().value_or(std::vector<UnfinishedNode>());
}

} // namespace cudag
