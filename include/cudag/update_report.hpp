// UpdateReport: what came of the update of a whole graph.
#pragma once

#include <cudag/config.hpp>
#include <cudag/diff.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

/// The values are those of `cudaGraphExecUpdateResult`.
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

/// "updated", "topology_changed", ... as in the enumerators.
[[nodiscard]] CUDAG_EXPORT std::string_view to_string(UpdateVerdict verdict) noexcept;

/// What came of `Exec::update(graph)`. A refused update has changed nothing.
class CUDAG_EXPORT UpdateReport {
  public:
    /// For `Exec` to make: of an update that was done, and of another one.
    UpdateReport() noexcept = default;
    UpdateReport(UpdateVerdict verdict, std::string reason, std::vector<Difference> differences, bool needs_instantiate)
        : verdict_(verdict), needs_instantiate_(needs_instantiate), reason_(std::move(reason)),
          differences_(std::move(differences)) {}

    [[nodiscard]] bool updated() const noexcept { return verdict_ == UpdateVerdict::updated; }
    /// Whether the graph can be had by instantiating it.
    [[nodiscard]] bool needs_instantiate() const noexcept { return needs_instantiate_; }
    [[nodiscard]] UpdateVerdict verdict() const noexcept { return verdict_; }
    /// What CUDA said, or cudag; "" after an update.
    [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
    /// Of a refused update: in what the graph differs from the exec; what was refused comes first.
    [[nodiscard]] const std::vector<Difference>& differences() const noexcept { return differences_; }

    /// "updated", or the verdict, the reason and the first differences, one a line.
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
