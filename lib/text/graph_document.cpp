// The lines of a graph's text: written and read.
#include "graph_document.hpp"

#include "cuda/failure.hpp"
#include "plan/plan_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace cudag::detail {

namespace {

constexpr std::string_view first_line_of_graph = "cudag graph 1";
constexpr std::string_view inner_suffix = " nodes"; // of the line that opens a graph inside a node
constexpr std::string_view inner_end = "end";       // the line that closes it

constexpr NodeKind kinds_in_texts[] = {NodeKind::kernel,         NodeKind::memcpy,       NodeKind::memset,
                                       NodeKind::host,           NodeKind::child,        NodeKind::empty,
                                       NodeKind::wait_event,     NodeKind::record_event, NodeKind::alloc,
                                       NodeKind::free,           NodeKind::batch_mem_op, NodeKind::signal_semaphore,
                                       NodeKind::wait_semaphore, NodeKind::conditional,  NodeKind::memcpy_batch};

// Writing.

void write_nodes(const std::vector<TextNode>& nodes, std::size_t indent, std::string& text) {
    constexpr std::size_t deepest = 64; // the text grows with the nodes, not their depth
    const std::string space(std::min(indent, deepest), ' ');
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const TextNode& node = nodes[i];
        text += fmt::format("{}{}: {}", space, i, to_string(node.kind));
        if (!node.label.empty()) text += " " + in_quotes(node.label);
        text += "\n";
        if (!node.after.empty()) text += fmt::format("{}  after: {}\n", space, edges_text(node.after));
        for (const TextField& field : node.fields)
            text += fmt::format("{}  {}: {}\n", space, field.name, field.value);
        for (const TextInner& inner : node.inner) {
            text += fmt::format("{}  {}: {}{}\n", space, inner.role, inner.nodes.size(), inner_suffix);
            write_nodes(inner.nodes, indent + 4, text);
            text += fmt::format("{}  {}\n", space, inner_end);
        }
    }
}

// Reading.

class DocumentReader {
  public:
    explicit DocumentReader(std::string_view text) : rest_(text) { advance(); }

    GraphDocument read() {
        constexpr std::string_view version = "\"cudag graph 1\", the only version that this cudag reads";
        if (is_done_ || line_ != first_line_of_graph) refuse(version);
        advance();
        GraphDocument document;
        read_plan(document);
        for (; is_next("memory "); advance())
            document.memory.push_back(memory());
        for (; is_next("condition "); advance())
            document.conditions.push_back(condition(document.conditions.size()));
        constexpr std::string_view expected = "\"nodes: \" and their number";
        LineReader line = reader(expected);
        line.require("nodes: ", expected);
        const auto count = line.number<std::uint32_t>(expected);
        line.require_end(expected);
        advance();
        document.nodes = nodes(count);
        if (!is_done_) refuse(fmt::format("the end of the text, after {} nodes", count));
        return document;
    }

  private:
    /// Goes on to the next line that is neither empty nor a comment.
    void advance() {
        while (!rest_.empty()) {
            const std::size_t end = std::min(rest_.find('\n'), rest_.size());
            line_ = rest_.substr(0, end);
            rest_.remove_prefix(std::min(end + 1, rest_.size()));
            ++number_;
            if (line_.ends_with('\r')) line_.remove_suffix(1);
            line_.remove_prefix(std::min(line_.find_first_not_of(' '), line_.size()));
            if (!line_.empty() && line_.front() != '#') return;
        }
        is_done_ = true;
        ++number_;
    }

    [[noreturn]] void refuse(std::string_view expected) const {
        if (is_done_)
            detail::refuse(fmt::format("text of a graph: it ends before line {}; expected {}", number_, expected));
        refuse_text_line(number_, line_, expected);
    }
    [[nodiscard]] bool is_next(std::string_view beginning) const noexcept {
        return !is_done_ && line_.starts_with(beginning);
    }
    [[nodiscard]] LineReader reader(std::string_view expected) const {
        if (is_done_) refuse(expected);
        return {line_, number_};
    }

    void read_plan(GraphDocument& document) {
        if (!is_next("plan: ")) return;
        Plan& plan = document.plan.emplace(Plan::as_written());
        LineReader line(line_, number_);
        line.require("plan: ", "");
        constexpr std::string_view parts = "\"plan: \" and some of \"reduce, joins, ends, early\", or \"none\"";
        if (!line.take("none")) {
            do {
                const auto* const part =
                    std::ranges::find_if(plan_parts, [&](const auto& each) { return line.take(each.second); });
                if (part == plan_parts.end() || plan.*(part->first)) refuse(parts);
                plan.*(part->first) = true;
            } while (line.take(", "));
        }
        line.require_end(parts);
        advance();
        read_plan_number("plan lanes: ", plan.lanes);
        if (is_next("plan durations: ")) read_durations(plan.durations);
        read_plan_number("plan launches: ", plan.launches);
    }
    void read_plan_number(std::string_view name, unsigned& value) {
        if (!is_next(name)) return;
        const std::string expected = fmt::format("\"{}\" and a number", name);
        LineReader line(line_, number_);
        line.require(name, expected);
        value = line.number<unsigned>(expected);
        line.require_end(expected);
        advance();
    }
    void read_durations(std::vector<double>& durations) {
        constexpr std::string_view expected = "\"plan durations: \" and a number, not negative, for each node";
        LineReader line(line_, number_);
        line.require("plan durations: ", expected);
        do {
            const auto duration = line.number<double>(expected);
            if (!(duration >= 0) || std::isinf(duration)) refuse(expected);
            durations.push_back(duration);
        } while (line.take(", "));
        line.require_end(expected);
        advance();
    }

    [[nodiscard]] TextMemory memory() const {
        constexpr std::string_view expected = "\"memory NAME: N bytes\"";
        LineReader line(line_, number_);
        std::string_view name;
        line.require("memory ", expected);
        if (!line.take_until(": ", name)) refuse(expected);
        line.require(": ", expected);
        TextMemory memory{std::string(name), line.number<std::size_t>(expected), number_};
        line.require(" bytes", expected);
        line.require_end(expected);
        return memory;
    }

    [[nodiscard]] TextCondition condition(std::size_t index) const {
        const std::string expected = fmt::format(
            "\"condition {}: initial N\" or \"condition {}: no initial value\", and \", device N\"", index, index);
        LineReader line(line_, number_);
        line.require(fmt::format("condition {}: ", index), expected);
        TextCondition condition{std::nullopt, 0, number_};
        if (line.take("initial "))
            condition.initial = line.number<unsigned>(expected);
        else if (line.take("unknown initial value"))
            condition.is_initial_unknown = true;
        else
            line.require("no initial value", expected);
        if (line.take(", device ")) condition.device = line.number<int>(expected);
        line.require_end(expected);
        return condition;
    }

    std::vector<TextNode> nodes(std::uint32_t count) {
        constexpr std::size_t most = 1000; // a level takes some room on the stack
        if (depth_ == most) refuse(fmt::format("at most {} graphs inside each other", most));
        if (count > line_.size() + rest_.size()) refuse(fmt::format("{} nodes, a line or more for each", count));
        ++depth_;
        std::vector<TextNode> list;
        for (std::uint32_t i = 0; i < count; ++i)
            list.push_back(node(i, count));
        --depth_;
        return list;
    }

    TextNode node(std::uint32_t index, std::uint32_t count) {
        const std::string expected = fmt::format(
            "node {} of {}: \"{}: \", its kind, and its label in quotes if it has one", index, count, index);
        LineReader line = reader(expected);
        line.require(fmt::format("{}: ", index), expected);
        std::string_view kind;
        if (!line.take_until(" ", kind)) refuse(expected);
        const auto* const known =
            std::ranges::find_if(kinds_in_texts, [&](NodeKind each) { return to_string(each) == kind; });
        if (known == std::end(kinds_in_texts)) refuse(expected);
        TextNode node{*known, {}, {}, {}, {}, number_};
        if (line.take(" ") && !line.take_quoted(node.label)) refuse(expected);
        line.require_end(expected);
        advance();
        if (is_next("after: ")) read_edges(node, count);
        while (!is_done_ && line_ != inner_end && (line_.front() < '0' || line_.front() > '9'))
            if (!read_inner(node)) node.fields.push_back(field(node));
        return node;
    }

    void read_edges(TextNode& node, std::uint32_t count) {
        const std::string expected =
            fmt::format("\"after: \" and nodes from 0 to {}, as in \"0, 2 to 5, 7 (programmatic)\"", count - 1);
        LineReader line(line_, number_);
        line.require("after: ", expected);
        do {
            const auto first = line.number<std::uint32_t>(expected);
            const std::uint32_t last = line.take(" to ") ? line.number<std::uint32_t>(expected) : first;
            if (last < first || last >= count) refuse(expected);
            EdgeKind kind = EdgeKind::full;
            if (line.take(" (programmatic)"))
                kind = EdgeKind::programmatic;
            else if (line.take(" (launch_completion)"))
                kind = EdgeKind::launch_completion;
            for (std::uint32_t from = first; from <= last; ++from)
                node.after.push_back({from, kind});
        } while (line.take(", "));
        line.require_end(expected);
        advance();
    }

    /// Reads a graph inside a node, such as "then: 2 nodes"; returns whether there is one.
    bool read_inner(TextNode& node) {
        LineReader line(line_, number_);
        std::string_view role;
        if (!line_.ends_with(inner_suffix) || !line.take_until(":", role) || !line.take(": ")) return false;
        std::uint32_t count = 0;
        if (!line.take_value(count) || line.rest() != inner_suffix) return false;
        advance();
        const std::size_t place = node.inner.size();
        node.inner.push_back({std::string(role), {}});
        node.inner[place].nodes = nodes(count);
        if (is_done_ || line_ != inner_end)
            refuse(fmt::format("\"end\" after the {} nodes of \"{}\"", count, node.inner[place].role));
        advance();
        return true;
    }

    TextField field(const TextNode& node) {
        constexpr std::string_view expected = "a node, or a parameter as \"name: value\"";
        const std::size_t end = line_.find(": ");
        if (end == std::string_view::npos || end == 0) refuse(expected);
        TextField field{std::string(line_.substr(0, end)), std::string(line_.substr(end + 2)), number_};
        if (node.find(field.name) != nullptr) refuse("each parameter of a node once");
        advance();
        return field;
    }

    std::string_view rest_;
    std::string_view line_ = {};
    std::size_t number_ = 0;
    std::size_t depth_ = 0;
    bool is_done_ = false;
};

} // namespace

std::string edges_text(const std::vector<TextEdge>& edges) {
    std::string text;
    for (std::size_t at = 0; at < edges.size();) {
        const TextEdge& first = edges[at];
        std::uint32_t last = first.from;
        for (++at; at < edges.size() && edges[at].from == last + 1 && edges[at].kind == first.kind; ++at)
            ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", first.from);
        if (last != first.from) text += fmt::format(" to {}", last);
        if (first.kind != EdgeKind::full) text += fmt::format(" ({})", to_string(first.kind));
    }
    return text;
}

std::string plan_text(const Plan& plan) {
    const auto& [reduce, joins, ends, early, lanes, durations, launches] =
        plan; // a new member needs a line in the text, or a place in plan_parts
    std::string text = fmt::format("plan: {}\n", parts_text(plan));
    if (lanes != 0) text += fmt::format("plan lanes: {}\n", lanes);
    if (!durations.empty()) text += fmt::format("plan durations: {}\n", fmt::join(durations, ", "));
    if (launches != Plan().launches) text += fmt::format("plan launches: {}\n", launches);
    return text;
}

void refuse_text_line(std::size_t number, std::string_view line, std::string_view expected) {
    constexpr std::size_t most = 80;
    refuse(fmt::format("text of a graph: line {} is \"{}{}\"; expected {}", number, without_nul(line.substr(0, most)),
                       line.size() > most ? "..." : "", expected));
}

std::string in_quotes(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result.append({'\\', c});
        else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
            result += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
        else
            result += c;
    }
    return result + "\"";
}

bool LineReader::take_quoted(std::string& text) {
    if (!rest_.starts_with('"')) return false;
    std::string result;
    for (std::size_t at = 1; at < rest_.size(); ++at) {
        if (rest_[at] == '"') {
            rest_.remove_prefix(at + 1);
            text = std::move(result);
            return true;
        }
        if (rest_[at] != '\\') {
            result += rest_[at];
            continue;
        }
        if (++at == rest_.size()) return false;
        if (rest_[at] != 'x') {
            result += rest_[at];
            continue;
        }
        unsigned code = 0;
        const std::string_view digits = rest_.substr(at + 1, 2);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) return false;
        result += static_cast<char>(code);
        at += 2;
    }
    return false;
}

bool LineReader::take_until(std::string_view ends, std::string_view& text) noexcept {
    const std::size_t size = std::min(rest_.find_first_of(ends), rest_.size());
    if (size == 0) return false;
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
}

const TextField* TextNode::find(std::string_view name) const noexcept {
    const auto found = std::ranges::find_if(fields, [&](const TextField& each) { return each.name == name; });
    return found == fields.end() ? nullptr : &*found;
}

std::string to_string(const GraphDocument& document) {
    std::string text = fmt::format("{}\n", first_line_of_graph);
    if (document.plan) text += plan_text(*document.plan);
    for (const TextMemory& memory : document.memory)
        text += fmt::format("memory {}: {} bytes\n", memory.name, memory.bytes);
    for (std::size_t i = 0; i < document.conditions.size(); ++i) {
        const TextCondition& condition = document.conditions[i];
        text += condition.initial              ? fmt::format("condition {}: initial {}", i, *condition.initial)
                : condition.is_initial_unknown ? fmt::format("condition {}: unknown initial value", i)
                                               : fmt::format("condition {}: no initial value", i);
        text += condition.device == 0 ? "\n" : fmt::format(", device {}\n", condition.device);
    }
    text += fmt::format("nodes: {}\n", document.nodes.size());
    write_nodes(document.nodes, 0, text);
    return text;
}

GraphDocument parse_document(std::string_view text) {
    return DocumentReader(text).read();
}

} // namespace cudag::detail
