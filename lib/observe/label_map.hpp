// The labels of an exec's nodes, as one line of the file CUDAG_TRACE.
#pragma once

#include <string>

namespace cudag {
class Exec;
}

namespace cudag::detail {

/// Returns a JSON object without line ends: the graph's name, and number, kind, kernel, label and location of each
/// node. The numbers are those of nodes in CUDA's tools, known for nodes outside of others. `instance`: number of the
/// exec in this process. Reads a captured graph.
[[nodiscard]] std::string label_line(const Exec& exec, unsigned instance);

} // namespace cudag::detail
