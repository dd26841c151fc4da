// Graph::find_one: the wanted node, or a list of the existing ones.
#include <cudag/graph.hpp>

#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/node_record.hpp"
#include "kernel_match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cudag {

using detail::GraphState;

namespace {

constexpr std::size_t most_listed = 10; ///< largest number of nodes or names in an error

/// Calls `visit` for the records of `graph` and of graphs inside it.
template <class Visit>
void for_each_record(const GraphState& graph, const Visit& visit) {
    for (const detail::NodeRecord& node : records_of(graph).nodes())
        visit(node);
    for (const auto& inner : nested_of(graph))
        for_each_record(*inner, visit);
}

/// Returns the edit distance: letters changed, added or left out between two texts, or their beginnings if they are
/// long.
std::size_t distance(std::string_view a, std::string_view b) {
    constexpr std::size_t looked_at = 64;
    a = a.substr(0, looked_at);
    b = b.substr(0, looked_at);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, replaced}));
        }
    }
    return row.back();
}

/// Distinct names, in order.
class Names {
  public:
    void add(std::string name) {
        if (!name.empty() && known_.insert(name).second) names_.push_back(std::move(name));
    }

    /// Lists names, nearest to `wanted` first: `"a", "b" and 3 more`.
    [[nodiscard]] std::string list(std::string_view wanted, const char* quote) {
        constexpr std::size_t compared = 1000;
        std::vector<std::pair<std::size_t, std::string_view>> near;
        for (const std::string& name : names_)
            near.emplace_back(near.size() < compared ? distance(wanted, name) : std::string_view::npos, name);
        std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::string text;
        for (std::size_t i = 0; i < std::min(most_listed, near.size()); ++i)
            text += fmt::format("{}{}{}{}", i == 0 ? "" : ", ", quote, near[i].second, quote);
        if (near.size() > most_listed) text += fmt::format(" and {} more", near.size() - most_listed);
        return text;
    }
    [[nodiscard]] bool empty() const noexcept { return names_.empty(); }

  private:
    std::vector<std::string> names_;
    std::unordered_set<std::string> known_;
};

[[noreturn]] void refuse_many(const std::vector<Node>& found, const std::string& what) {
    std::string text = fmt::format("find_one: {} nodes {}:", found.size(), what);
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < std::min(most_listed, found.size()); ++i) {
        text += fmt::format("{} {}", i == 0 ? "" : ",", to_string(found[i]));
        labels.emplace_back(found[i].label());
    }
    if (found.size() > most_listed) text += fmt::format(" and {} more", found.size() - most_listed);
    detail::refuse(text + "; find() gives all of them", {{}, std::move(labels), found.front().location()});
}

} // namespace

Node Graph::find_one(std::string_view label) const {
    const std::vector<Node> found = find(label);
    if (found.size() == 1) return found.front();
    if (found.size() > 1) refuse_many(found, fmt::format("have the label \"{}\"", label));
    Names names;
    for_each_record(state(), [&](const detail::NodeRecord& node) { names.add(std::string(node.label)); });
    if (names.empty())
        detail::refuse(fmt::format("find_one: no node has the label \"{}\", nor any other label", label));
    detail::refuse(
        fmt::format("find_one: no node has the label \"{}\"; the labels are {}", label, names.list(label, "\"")));
}

Node Graph::find_one_kernel(const void* symbol) const {
    return the_one(find_kernel(symbol), detail::kernel_name(symbol));
}
Node Graph::find_one_function(const Function& function) const {
    return the_one(find_function(function), std::string(function.name()));
}

Node Graph::the_one(const std::vector<Node>& found, const std::string& wanted) const {
    if (found.size() == 1) return found.front();
    if (found.size() > 1) refuse_many(found, "launch " + wanted);
    Names names;
    for_each_record(state(), [&](const detail::NodeRecord& node) {
        if (const auto* kernel = std::get_if<const detail::KernelParams*>(&node.params))
            names.add(detail::kernel_name((*kernel)->function));
    });
    if (names.empty()) detail::refuse(fmt::format("find_one: no node launches {}, nor any other kernel", wanted));
    detail::refuse(fmt::format("find_one: no node launches {}; the kernels are {}", wanted, names.list(wanted, "")));
}

} // namespace cudag
