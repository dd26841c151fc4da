// Colour refinement: distinguishes nodes that look alike by their neighbours.
#include "refinement.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace cudag::detail {

namespace {

/// Weights whose sums almost always identify the number of edges of each kind. Whoever pairs nodes compares the edges.
std::uint64_t weight_of(std::uint32_t kind, bool is_backward) noexcept {
    std::uint64_t value = (std::uint64_t{kind} << 1U | (is_backward ? 1U : 0U)) + 1;
    value *= 0x9e3779b97f4a7c15U;
    value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9U;
    value = (value ^ value >> 27U) * 0x94d049bb133111ebU;
    return (value ^ value >> 31U) | 1U;
}

} // namespace

Refinement::Refinement(const MatchGraph& before, const MatchGraph& after, std::vector<std::uint32_t> colours,
                       std::uint32_t colour_count, std::uint64_t most_steps)
    : cells_(static_cast<std::uint32_t>(before.nodes.size()), std::move(colours), colour_count),
      links_(2 * (before.edges.size() + after.edges.size())), sum_(before.nodes.size() + after.nodes.size()),
      steps_left_(most_steps) {
    const auto first_count = static_cast<std::uint32_t>(before.nodes.size());
    first_link_.resize(sum_.size() + 1);
    const auto count = [this](const MatchGraph& graph, std::uint32_t first_element) {
        for (const MatchEdge& edge : graph.edges) {
            ++first_link_[first_element + edge.from + 1];
            ++first_link_[first_element + edge.to + 1];
        }
    };
    count(before, 0);
    count(after, first_count);
    std::partial_sum(first_link_.begin(), first_link_.end(), first_link_.begin());
    std::vector<std::uint32_t> place(first_link_.begin(), first_link_.end() - 1);
    link(before, 0, place);
    link(after, first_count, place);
    for (std::uint32_t cell = 0; cell < colour_count; ++cell)
        add_waiting(cell);
}

void Refinement::link(const MatchGraph& graph, std::uint32_t first_element, std::vector<std::uint32_t>& place) {
    for (const MatchEdge& edge : graph.edges) {
        const std::uint32_t from = first_element + edge.from;
        const std::uint32_t to = first_element + edge.to;
        links_[place[from]++] = {to, weight_of(edge.kind, false)};
        links_[place[to]++] = {from, weight_of(edge.kind, true)};
    }
}

bool Refinement::refine() {
    while (next_waiting_ < waiting_.size()) {
        const std::uint32_t cell = waiting_[next_waiting_++];
        is_waiting_[cell] = false;
        look_from(cell);
        bool is_balanced = true;
        for (std::size_t begin = 0; begin < touched_.size() && is_balanced;) {
            std::size_t end = begin + 1;
            while (end < touched_.size() && cells_.of(touched_[end]) == cells_.of(touched_[begin]))
                ++end;
            is_balanced = split(begin, end);
            begin = end;
        }
        for (const std::uint32_t element : touched_)
            sum_[element] = 0;
        if (is_balanced && !is_exhausted()) continue;
        stop();
        return false;
    }
    waiting_.clear();
    next_waiting_ = 0;
    return true;
}

void Refinement::look_from(std::uint32_t cell) {
    touched_.clear();
    for (const std::uint32_t element : cells_.elements(cell)) {
        count_steps(1 + first_link_[element + 1] - first_link_[element]);
        for (std::uint32_t i = first_link_[element]; i < first_link_[element + 1]; ++i) {
            const Link& link = links_[i];
            if (sum_[link.to] == 0) touched_.push_back(link.to);
            sum_[link.to] += link.weight;
        }
    }
    // an element stands here twice if its sum was 0 in between
    std::ranges::sort(touched_, {},
                      [this](std::uint32_t element) { return std::tuple(cells_.of(element), sum_[element], element); });
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
}

bool Refinement::split(std::size_t begin, std::size_t end) {
    const std::uint32_t cell = cells_.of(touched_[begin]);
    struct Part {
        std::size_t begin;
        std::size_t end;
    };
    std::vector<Part> parts;
    for (std::size_t i = begin; i < end; ++i)
        if (i == begin || sum_[touched_[i]] != sum_[touched_[i - 1]])
            parts.push_back({i, i + 1});
        else
            parts.back().end = i + 1;
    if (end - begin == cells_[cell].size()) // one part stays; the largest costs least
        parts.erase(std::ranges::max_element(parts, {}, [](const Part& part) { return part.end - part.begin; }));

    const std::uint32_t first_new = cells_.count();
    for (const Part& part : parts)
        cells_.split(std::span(touched_).subspan(part.begin, part.end - part.begin));
    is_waiting_.resize(cells_.count());
    std::uint32_t largest = cell;
    for (std::uint32_t made = first_new; made < cells_.count(); ++made)
        if (cells_[made].size() > cells_[largest].size()) largest = made;
    const bool is_waiting = is_waiting_[cell]; // otherwise the largest part is redundant: the other parts imply its
                                               // result
    if (!is_waiting && largest != cell) add_waiting(cell);
    for (std::uint32_t made = first_new; made < cells_.count(); ++made)
        if (is_waiting || made != largest) add_waiting(made);

    for (std::uint32_t made = first_new; made < cells_.count(); ++made)
        if (!check(made)) return false;
    return check(cell);
}

void Refinement::add_waiting(std::uint32_t cell) {
    if (is_waiting_.size() <= cell) is_waiting_.resize(cell + 1);
    is_waiting_[cell] = true;
    waiting_.push_back(cell);
}

bool Refinement::check(std::uint32_t cell) noexcept {
    if (cells_[cell].is_balanced()) return true;
    unbalanced_ = cell;
    return false;
}

void Refinement::stop() noexcept {
    for (; next_waiting_ < waiting_.size(); ++next_waiting_)
        is_waiting_[waiting_[next_waiting_]] = false;
    waiting_.clear();
    next_waiting_ = 0;
}

bool Refinement::pair(std::uint32_t first, std::uint32_t second) {
    const std::uint32_t both[] = {first, second};
    cells_.split(both);
    add_waiting(cells_.count() - 1);
    return refine();
}

void Refinement::undo(std::uint32_t count) noexcept {
    cells_.merge_back(count);
    is_waiting_.resize(count);
}

} // namespace cudag::detail
