// Fingerprints of graphs: the lines that all ranks share.
#include <cudag/fingerprint.hpp>

#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "lists/hash.hpp"
#include "text/name_book.hpp"
#include "text/write_graph.hpp"

#include <cudag/graph.hpp>
#include <cudag/graph_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace cudag {

namespace detail {

namespace {

/// The parameters whose values are the same on all ranks: no addresses, nor values.
constexpr std::array<std::string_view, 4> shared_fields{"kernel", "conditional", "direction", "bodies"};
constexpr std::array<std::string_view, 8> size_fields{"grid",   "block", "shared_bytes", "bytes",
                                                      "extent", "pitch", "rows",         "elements"};

class Lines {
  public:
    explicit Lines(bool with_sizes) : with_sizes_(with_sizes) {}

    void add(const std::vector<TextNode>& nodes, const std::string& place) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const TextNode& node = nodes[i];
            std::string line = fmt::format("node {}{}: {}", place, i, to_string(node.kind));
            if (!node.label.empty()) line += " " + in_quotes(node.label);
            if (const std::string fields = text_of(node.fields); !fields.empty()) line += fmt::format(" ({})", fields);
            if (!node.after.empty()) line += ", after " + edges_text(node.after);
            lines_.push_back(std::move(line));
            for (const TextInner& inner : node.inner)
                add(inner.nodes, fmt::format("{}{}/{}/", place, i, inner.role));
        }
    }
    void add(const Plan& plan) { lines_.push_back(one_line(plan_text(plan))); }

    [[nodiscard]] std::vector<std::string> take() noexcept { return std::move(lines_); }

  private:
    [[nodiscard]] std::string text_of(const std::vector<TextField>& fields) const {
        std::string text;
        for (const TextField& field : fields) {
            const bool is_shared = std::ranges::find(shared_fields, field.name) != shared_fields.end();
            const bool is_size = std::ranges::find(size_fields, field.name) != size_fields.end();
            if (!is_shared && !(is_size && with_sizes_)) continue;
            if (!text.empty()) text += ", ";
            const bool says_itself = is_shared && field.name != shared_fields.back();
            text += says_itself ? field.value : fmt::format("{} {}", field.name, field.value);
        }
        return text;
    }
    /// The lines of `text` in one.
    [[nodiscard]] static std::string one_line(std::string text) {
        if (text.ends_with('\n')) text.pop_back();
        for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at))
            text.replace(at, 1, "; ");
        return text;
    }

    bool with_sizes_;
    std::vector<std::string> lines_;
};

} // namespace

} // namespace detail

std::uint64_t Fingerprint::hash(std::size_t lines) const noexcept {
    detail::Hash hash;
    for (std::size_t i = 0; i < std::min(lines, lines_.size()); ++i) {
        hash.add(lines_[i].size());
        hash.add_bytes(std::as_bytes(std::span(lines_[i])).data(), lines_[i].size());
    }
    return hash.value();
}

std::string to_string(const Fingerprint& fingerprint) {
    std::string text;
    for (const std::string& line : fingerprint.lines())
        text += line + "\n";
    return text;
}

Fingerprint fingerprint(const Graph& graph, const FingerprintOptions& options) {
    const detail::GraphState& state = detail::Access::state(graph);
    require_root(state, "fingerprint");
    const auto lock = lock_of(state);
    read_all(state);
    detail::NameBook book(state, detail::NameLists());
    detail::Lines lines(options.sizes);
    lines.add(document_of(state, book).nodes, "");
    if (options.plan) lines.add(*options.plan);
    return {detail::Passkey(), lines.take()};
}

} // namespace cudag
