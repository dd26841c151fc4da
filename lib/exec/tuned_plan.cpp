// The text of a tuned plan: written, read, and compared with a graph.
#include <cudag/tuned_plan.hpp>

#include "cuda/failure.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "lists/assertion.hpp"
#include "lists/hash.hpp"
#include "plan/plan_parts.hpp"
#include "tuned_structure.hpp"

#include <cudag/graph.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace cudag {

namespace detail {

namespace {

constexpr std::string_view first_line_of_tuned = "cudag plan 1";

constexpr std::array tune_goals{TuneGoal::interval, TuneGoal::gpu_time, TuneGoal::launch_call};

void add_structure(const GraphState& graph, TunedStructure& structure, Hash& hash) {
    const std::size_t nodes = records_of(graph).nodes().size();
    structure.nodes += nodes;
    structure.edges += edges_of(graph).size();
    hash.add(nodes);
    for (std::uint32_t i = 0; i < nodes; ++i)
        hash.add(static_cast<std::uint64_t>(records_of(graph).nodes()[i].kind));
    std::uint64_t edges = 0; // a sum: two captures may list the same edges in different orders
    for (const EdgeRecord& edge : edges_of(graph)) {
        Hash one;
        one.add(edge.from);
        one.add(edge.to);
        one.add(static_cast<std::uint64_t>(edge.kind));
        edges += one.value();
    }
    hash.add(edges);
    for (const auto& inner : nested_of(graph))
        add_structure(*inner, structure, hash);
}

/// Reads a text line by line.
class TunedText {
  public:
    explicit TunedText(std::string_view text) : rest_(text) {}

    [[noreturn]] void refuse_line(std::string_view expected) const {
        constexpr std::size_t most = 60;
        const std::string found = without_nul(line_.substr(0, most)) + (line_.size() > most ? "..." : "");
        refuse<Error>(fmt::format("TunedPlan::parse: line {} is \"{}\"; expected {}; tune the graph anew", number_,
                                  found, expected));
    }

    /// Goes on to the next line.
    void next(std::string_view expected) {
        ++number_;
        if (rest_.empty())
            refuse<Error>(fmt::format(
                "TunedPlan::parse: the text ends before line {}; expected {}; tune the graph anew", number_, expected));
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        line_ = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }

    /// Returns the value of the next line, "`key`: value".
    [[nodiscard]] std::string_view value_of(std::string_view key, std::string_view expected) {
        next(expected);
        if (!line_.starts_with(key) || !line_.substr(key.size()).starts_with(": ")) refuse_line(expected);
        return line_.substr(key.size() + 2);
    }

    [[nodiscard]] bool is_next(std::string_view key) const noexcept { return rest_.starts_with(key); }
    [[nodiscard]] std::string_view line() const noexcept { return line_; }

    void require_end() {
        if (rest_.empty()) return;
        next("the end");
        refuse_line("the end of the text");
    }

  private:
    std::string_view rest_;
    std::string_view line_ = {};
    std::size_t number_ = 0;
};

/// Takes a number from the beginning of `text`; returns whether there is one.
template <class Number, class... Base>
bool take_number(std::string_view& text, Number& number, Base... base) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base...);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

/// Takes `prefix` from the beginning of `text`; returns whether it is there.
bool take_text(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

/// Reads "reduce, joins, ends, early", some of these in this order, or "none".
bool read_parts(std::string_view text, Plan& plan) {
    plan.reduce = plan.joins = plan.ends = plan.early = false;
    if (text == "none") return true;
    bool is_first = true;
    for (const auto& [part, name] : plan_parts) {
        std::string_view rest = text;
        if (!is_first && !take_text(rest, ", ")) continue;
        if (!take_text(rest, name)) continue;
        plan.*part = true;
        is_first = false;
        text = rest;
    }
    return !is_first && text.empty();
}

bool read_durations(std::string_view text, std::vector<double>& durations) {
    do {
        double duration = 0;
        if (!take_number(text, duration) || !(duration >= 0) || std::isinf(duration)) return false;
        durations.push_back(duration);
    } while (take_text(text, ", "));
    return text.empty();
}

bool read_structure(std::string_view text, TunedStructure& structure) {
    return take_number(text, structure.nodes) && take_text(text, " nodes, ") && take_number(text, structure.edges) &&
           take_text(text, " edges, structure ") && take_number(text, structure.hash, 16) && text.empty();
}

} // namespace

TunedStructure tuned_structure_of(const GraphState& graph) {
    CUDAG_ASSERT(is_locked(graph));
    TunedStructure structure;
    Hash hash;
    add_structure(graph, structure, hash);
    structure.hash = hash.value();
    return structure;
}

} // namespace detail

TunedPlan TunedPlan::parse(std::string_view text) {
    detail::TunedText lines(text);
    lines.next("\"cudag plan 1\"");
    if (lines.line() != detail::first_line_of_tuned) lines.refuse_line("\"cudag plan 1\", the only known version");

    constexpr std::string_view goals = "\"goal: \" and \"interval\", \"GPU time\" or \"launch call\"";
    const std::string_view goal_name = lines.value_of("goal", goals);
    const auto goal =
        std::ranges::find_if(detail::tune_goals, [&](TuneGoal each) { return cudag::to_string(each) == goal_name; });
    if (goal == detail::tune_goals.end()) lines.refuse_line(goals);

    Plan plan;
    constexpr std::string_view parts = "\"parts: \" and some of \"reduce, joins, ends, early\", or \"none\"";
    if (!detail::read_parts(lines.value_of("parts", parts), plan)) lines.refuse_line(parts);

    constexpr std::string_view lanes = "\"lanes: \" and a number";
    std::string_view count = lines.value_of("lanes", lanes);
    if (!detail::take_number(count, plan.lanes) || !count.empty()) lines.refuse_line(lanes);

    constexpr std::string_view durations = "\"durations: \" and a number, not negative, for each node";
    if (lines.is_next("durations") && !detail::read_durations(lines.value_of("durations", durations), plan.durations))
        lines.refuse_line(durations);

    constexpr std::string_view launches = "\"launches: \" and a number";
    if (lines.is_next("launches")) {
        std::string_view number = lines.value_of("launches", launches);
        if (!detail::take_number(number, plan.launches) || !number.empty()) lines.refuse_line(launches);
    }

    detail::TunedStructure structure;
    constexpr std::string_view graph = "\"graph: N nodes, M edges, structure \" and a hexadecimal number";
    if (!detail::read_structure(lines.value_of("graph", graph), structure)) lines.refuse_line(graph);
    lines.require_end();
    return {detail::Passkey(), std::move(plan), *goal, structure};
}

Plan TunedPlan::plan_for(const Graph& graph) const {
    detail::GraphState& state = detail::Access::state(graph);
    require_root(state, "TunedPlan::plan_for");
    const auto lock = lock_of(state);
    read_all(state);
    const detail::TunedStructure found = detail::tuned_structure_of(state);
    if (found == structure_) return plan_;
    const bool has_same_counts = found.nodes == structure_.nodes && found.edges == structure_.edges;
    detail::refuse(fmt::format("TunedPlan::plan_for: the graph has {} nodes and {} edges, and the plan was measured on "
                               "a graph of {} nodes and "
                               "{} edges{}; tune this graph anew",
                               found.nodes, found.edges, structure_.nodes, structure_.edges,
                               has_same_counts ? ", other kinds of nodes or other edges" : ""));
}

std::string TunedPlan::to_string() const {
    const auto& [reduce, joins, ends, early, lanes, durations, launches] =
        plan_; // a new member needs a line in the text, or a place in plan_parts
    std::string text = fmt::format("{}\ngoal: {}\nparts: {}\nlanes: {}\n", detail::first_line_of_tuned,
                                   cudag::to_string(goal_), detail::parts_text(plan_), lanes);
    if (!durations.empty()) text += fmt::format("durations: {}\n", fmt::join(durations, ", "));
    if (launches != Plan().launches) text += fmt::format("launches: {}\n", launches);
    return text + fmt::format("graph: {} nodes, {} edges, structure {:016x}\n", structure_.nodes, structure_.edges,
                              structure_.hash);
}

} // namespace cudag
