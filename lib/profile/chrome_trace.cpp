// Profiles as JSON in Chrome's Trace Event Format.
#include "profile_texts.hpp"
#include "run_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

namespace {

/// Returns the length of the valid UTF-8 sequence at the beginning of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
    if (length == 0 || length > text.size() || byte(0) > 0xf4) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0U) != 0x80) return 0;
    const bool is_overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
    const bool is_surrogate = byte(0) == 0xed && byte(1) > 0x9f;
    const bool is_too_large = byte(0) == 0xf4 && byte(1) > 0x8f;
    return is_overlong || is_surrogate || is_too_large ? 0 : length;
}

} // namespace

std::string detail::json_string(std::string_view text) {
    std::string json = "\"";
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const char c = text.front();
        if (length == 0)
            json += "\\ufffd";
        else if (c == '"' || c == '\\')
            json.append(1, '\\').append(1, c);
        else if (static_cast<unsigned char>(c) < 0x20)
            json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            json += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return json + '"';
}

namespace {

using detail::json_string;

class TraceWriter {
  public:
    explicit TraceWriter(const Profile& profile)
        : profile_(profile), before_(dependencies_of(profile)), order_(profile.nodes(), before_, profile.timeline()) {}

    std::string write() {
        name_processes();
        std::size_t lanes = 0;
        for (const NodeRun& run : profile_.timeline())
            lanes = std::max(lanes, run.lane + 1);
        for (std::size_t lane = 0; lane < lanes; ++lane)
            for (const int process : processes_)
                name("thread_name", {process, lane}, fmt::format("lane {}", lane));
        for (const NodeRun& run : profile_.timeline())
            slice(run.node, run.begin, run.end, row_of(run));
        write_outer(lanes);
        for (std::size_t i = 0; i < profile_.timeline().size(); ++i)
            write_flows(i);
        return "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n" + events_ + "\n]}\n";
    }

  private:
    static std::vector<std::vector<std::size_t>> dependencies_of(const Profile& profile) {
        std::vector<std::vector<std::size_t>> lists;
        for (const NodeProfile& node : profile.nodes())
            lists.push_back(node.dependencies);
        return lists;
    }

    /// A row of the picture.
    struct Row {
        int process; ///< 0 is the only one, or else that of nodes without a device
        std::size_t number;
    };

    /// The process of a node: one for each of several devices.
    [[nodiscard]] int process_of(std::size_t node) const {
        const std::optional<int>& device = profile_.nodes()[node].device;
        return processes_.size() == 1 || !device ? 0 : *device + 1;
    }
    [[nodiscard]] Row row_of(const NodeRun& run) const { return {process_of(run.node), run.lane}; }

    void name_processes() {
        name("process_name", {0, 0}, "cudag");
        const std::set<int> devices = detail::devices_in(profile_);
        if (devices.size() < 2) return;
        for (const int device : devices) {
            processes_.push_back(device + 1);
            name("process_name", {device + 1, 0}, fmt::format("device {}", device));
        }
    }

    void event(const Row& row, std::string_view phase, const std::string& fields) {
        events_ += fmt::format("{}{{\"pid\": {}, \"ph\": {}, \"tid\": {}, {}}}", events_.empty() ? "" : ",\n",
                               row.process, phase, row.number, fields);
    }

    void name(std::string_view what, const Row& row, std::string_view name) {
        event(row, "\"M\"", fmt::format("\"name\": \"{}\", \"args\": {{\"name\": {}}}", what, json_string(name)));
    }

    void slice(std::size_t index, double begin, double end, const Row& row) {
        const NodeProfile& node = profile_.nodes()[index];
        event(row, "\"X\"",
              fmt::format("\"ts\": {:.3f}, \"dur\": {:.3f}, \"name\": {}, \"cat\": \"{}\", "
                          "\"args\": {{\"node\": {}, \"median us\": {:.3f}, \"on critical path\": {}}}",
                          begin, end - begin, json_string(detail::short_name(node)), to_string(node.kind),
                          json_string(node.description), node.duration.median, node.is_critical));
    }

    /// A node around others, from the begin of the first run inside to the end of the last.
    struct Outer {
        std::size_t node;
        double begin;
        double end;
    };

    /// Writes the nodes around others, in rows below the lanes.
    void write_outer(std::size_t first_row) {
        const std::vector<NodeProfile>& nodes = profile_.nodes();
        std::map<std::size_t, Outer> by_node;
        for (const NodeRun& run : profile_.timeline())
            for (std::optional<std::size_t> at = nodes[run.node].outer; at; at = nodes[*at].outer) {
                Outer& outer = by_node.try_emplace(*at, Outer{*at, run.begin, run.end}).first->second;
                outer.end = std::max(outer.end, run.end);
            }
        std::vector<Outer> all;
        for (const auto& [node, outer] : by_node)
            all.push_back(outer);
        std::ranges::stable_sort(all, {}, &Outer::begin);
        std::vector<double> free_from;
        for (const Outer& outer : all) {
            const auto free = std::ranges::find_if(free_from, [&](double time) { return time <= outer.begin; });
            const auto row = static_cast<std::size_t>(free - free_from.begin());
            if (free == free_from.end()) {
                free_from.push_back(0);
                name("thread_name", {0, first_row + row}, "nodes around others");
            }
            free_from[row] = outer.end;
            slice(outer.node, outer.begin, outer.end, {0, first_row + row});
        }
    }

    /// Writes the edges to a run.
    void write_flows(std::size_t run) {
        const NodeProfile& node = profile_.nodes()[profile_.timeline()[run].node];
        bool has_all = !node.dependencies.empty();
        for (const std::size_t before : node.dependencies) {
            if (order_.has_run(before))
                flow(order_.latest(before, run), run);
            else
                has_all = false;
        }
        if (!has_all) flow(order_.awaited(run), run); // through a node without times, or from outside of the graph
    }

    void flow(std::optional<std::size_t> from, std::size_t to) {
        if (!from) return;
        const NodeRun& before = profile_.timeline()[*from];
        const NodeRun& after = profile_.timeline()[to];
        // A flow belongs to the slice around its time: the end of a slice may be the begin of another one.
        const double at = std::min(after.begin, before.begin + 0.9 * (before.end - before.begin));
        const auto end = [&](std::string_view phase, const Row& row, double time) {
            event(row, phase,
                  fmt::format("\"ts\": {:.3f}, \"id\": {}, \"name\": \"edge\", \"cat\": \"edge\"", time, flows_));
        };
        end("\"s\"", row_of(before), at);
        end("\"f\", \"bp\": \"e\"", row_of(after), after.begin);
        ++flows_;
    }

    const Profile& profile_;
    std::vector<std::vector<std::size_t>> before_;
    detail::RunOrder order_;
    std::vector<int> processes_{0};
    std::string events_;
    std::size_t flows_ = 0;
};

} // namespace

std::string Profile::chrome_trace() const {
    return TraceWriter(*this).write();
}

} // namespace cudag
