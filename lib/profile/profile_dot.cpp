// Profiles as Graphviz text: the graph, coloured by time.
#include "pictures/dot_text.hpp"
#include "profile_texts.hpp"
#include "run_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudag {

namespace {

class ProfileDot {
  public:
    explicit ProfileDot(const Profile& profile)
        : nodes_(profile.nodes()), ends_(detail::ends_of(nodes_)),
          is_on_several_(detail::devices_in(profile).size() > 1) {
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (ends_[i] == i + 1) longest_ = std::max(longest_, nodes_[i].duration.median);
    }

    std::string write() {
        text_ = "digraph cudag {\n    node [shape=box, style=filled];\n";
        write_nodes(0, nodes_.size(), "    ");
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            for (const std::size_t before : nodes_[i].dependencies)
                text_ += fmt::format("    n{} -> n{}{};\n", before, i,
                                     nodes_[i].is_critical && nodes_[before].is_critical ? " [penwidth=2.5]" : "");
        return text_ + "}\n";
    }

  private:
    /// Writes the nodes from `first` to before `end`; a node with others inside is in a cluster with them.
    void write_nodes(std::size_t first, std::size_t end, const std::string& indent) {
        for (std::size_t i = first; i < end; i = ends_[i]) {
            if (ends_[i] == i + 1) {
                write_node(i, indent);
                continue;
            }
            text_ += fmt::format("{}subgraph cluster_n{} {{\n{}    label=\"\";\n", indent, i, indent);
            write_node(i, indent + "    ");
            write_nodes(i + 1, ends_[i], indent + "    ");
            text_ += indent + "}\n";
        }
    }

    void write_node(std::size_t i, std::string_view indent) {
        const NodeProfile& node = nodes_[i];
        const bool is_leaf = ends_[i] == i + 1;
        const double heat = is_leaf && longest_ > 0 ? node.duration.median / longest_ : 0;
        const std::string time = node.runs == 0 ? "" : fmt::format("\\n{:.1f} us", node.duration.median);
        const std::string device =
            is_on_several_ && node.device ? fmt::format("\\ndevice {}", *node.device) : std::string();
        text_ += fmt::format("{}n{} [label=\"{}{}{}\", fillcolor=\"0.05 {:.3f} 1.000\"{}];\n", indent, i,
                             detail::quoted_in_dot(detail::short_name(node)), time, device, heat,
                             node.is_critical ? ", penwidth=2.5" : "");
    }

    const std::vector<NodeProfile>& nodes_;
    std::vector<std::size_t> ends_;
    bool is_on_several_;
    double longest_ = 0; ///< of the nodes without others inside
    std::string text_{};
};

} // namespace

std::string Profile::dot() const {
    return ProfileDot(*this).write();
}

} // namespace cudag
