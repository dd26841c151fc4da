// UpdateReport: the outcome of the update of a whole graph.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/diff.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

/// The verdict of a whole update. The values are those of `cudaGraphExecUpdateResult`.
enum class UpdateVerdict {
    updated = 0,
    refused = 1, ///< for a reason that CUDA does not classify
    topology_changed = 2,
    node_kind_changed = 3,
    function_changed = 4,
    parameters_changed = 5,
    not_supported = 6,
    unsupported_function_change = 7,
    attributes_changed = 8,
};

/// Returns the name of the enumerator: "updated", "topology_changed", ...
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(UpdateVerdict verdict) noexcept;

/// The outcome of `Exec::update(graph)`. A refused update has changed nothing.
///
///     cudag::UpdateReport report = exec.update(graph);
///     for (const cudag::Difference& difference : report.differences())
///         std::puts(to_string(difference).c_str());
///     if (report.needs_instantiate())
///         exec = graph.instantiate();
class CUDAG_EXPORT UpdateReport {
  public:
    explicit UpdateReport(detail::Passkey) noexcept {}
    UpdateReport(detail::Passkey, UpdateVerdict verdict, std::string reason, std::vector<Difference> differences,
                 bool needs_instantiate)
        : verdict_(verdict), needs_instantiate_(needs_instantiate), reason_(std::move(reason)),
          differences_(std::move(differences)) {}

    [[nodiscard]] bool updated() const noexcept { return verdict_ == UpdateVerdict::updated; }
    /// Returns whether instantiating the graph helps after a refused update.
    [[nodiscard]] bool needs_instantiate() const noexcept { return needs_instantiate_; }
    [[nodiscard]] UpdateVerdict verdict() const noexcept { return verdict_; }
    /// Returns the reason given by CUDA or cudag; "" after a successful update.
    [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
    /// Returns the differences between graph and Exec after a refused update, the refused ones first.
    [[nodiscard]] const std::vector<Difference>& differences() const noexcept { return differences_; }

    /// Returns "updated", or the verdict, the reason and the first differences, one per line.
    [[nodiscard]] std::string to_string() const;

  private:
    UpdateVerdict verdict_ = UpdateVerdict::updated;
    bool needs_instantiate_ = false;
    std::string reason_;
    std::vector<Difference> differences_;
};

[[nodiscard]] inline std::string to_string(const UpdateReport& report) {
    return report.to_string();
}

} // namespace cudag
