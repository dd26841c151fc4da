// Fingerprint: what is equal in the graphs of all ranks of a program.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudag {

class Graph;

/// The content of a graph that is equal on all ranks of a program: kinds of nodes, labels, names of kernels, directions
/// of copies, kinds of conditionals, and edges, in the order of the nodes, also inside nodes. Addresses, values and
/// devices are not part of it.
///
///     cudag::Fingerprint mine = cudag::fingerprint(graph);
///     std::printf("%zu nodes, %016llx\n", mine.size(), static_cast<unsigned long long>(mine.hash()));
///
/// Equal graphs have equal fingerprints in every process. Threads: const calls may run concurrently.
class CUDAG_EXPORT Fingerprint {
  public:
    Fingerprint(detail::Passkey, std::vector<std::string> lines) : lines_(std::move(lines)) {}

    /// Returns a line for each node, such as `node 3: kernel "halo" (pack), after 0 to 2`, and one for the plan, if
    /// it is part of the fingerprint. A node inside node 2 begins with `node 2/then/0: `.
    [[nodiscard]] const std::vector<std::string>& lines() const noexcept { return lines_; }
    /// Returns the number of lines.
    [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
    /// Returns a hash of the first `lines` lines, or of all if there are no more.
    [[nodiscard]] std::uint64_t hash(std::size_t lines) const noexcept;
    /// Returns a hash of all lines.
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash(size()); }

    friend bool operator==(const Fingerprint&, const Fingerprint&) = default;

  private:
    std::vector<std::string> lines_;
};

/// Returns the lines, each with its end.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Fingerprint& fingerprint);

/// Options of `fingerprint`.
struct FingerprintOptions {
    /// Adds sizes: grids, blocks, dynamic shared memory, and extents of copies, fills and allocations. Ranks with parts
    /// of unequal size differ in these.
    bool sizes = false;
    /// Adds this plan: `exec.plan().plan()`, if ranks may choose different ones.
    std::optional<Plan> plan = std::nullopt;
};

/// Returns the fingerprint of `graph`. Reads a captured graph. Throws GraphError for a moved-from or an inner graph.
[[nodiscard]] CUDAG_EXPORT Fingerprint fingerprint(const Graph& graph, const FingerprintOptions& options = {});

} // namespace cudag
