// ProbeState: the shared memory of a probe: its check, and the failures of that.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/probe_failure.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag::detail {

/// The memory shared by a probe's handles and its host node. `run` is called on a thread of CUDA.
class CUDAG_EXPORT ProbeState {
  public:
    ProbeState(const ProbeOptions& options, const SourceLocation& location);
    virtual ~ProbeState();
    ProbeState(const ProbeState&) = delete;
    ProbeState& operator=(const ProbeState&) = delete;

    /// Calls the check, and keeps its failure. Throws ProbeError, or the exception of the check, unless the options say
    /// to keep failures only.
    void run();

    void set_label(std::string_view text);
    [[nodiscard]] std::uint64_t runs() const;
    [[nodiscard]] std::vector<ProbeFailure> failures() const;
    void clear();

  protected:
    /// Calls the user's check with the values of this run.
    virtual std::optional<ProbeFinding> check(const ProbeRun& run) = 0;

  private:
    void keep(ProbeFailure&& failure);

    mutable std::mutex mutex_;
    std::string label_;
    SourceLocation location_;
    bool keeps_only_;
    std::uint64_t runs_ = 0;
    std::vector<ProbeFailure> failures_; ///< the first ones
};

/// Allocates page-locked memory, also during a capture. Throws GraphError for 0 elements and null memory.
[[nodiscard]] CUDAG_EXPORT std::shared_ptr<void> probe_memory(const void* probed, std::size_t count, std::size_t size,
                                                              Side side, const SourceLocation& location);
/// Returns the finding of a check that returned false.
[[nodiscard]] CUDAG_EXPORT std::optional<ProbeFinding> probe_refused();

/// A check: a function of the values, and of the run if it wants. It returns nothing, a bool or a finding.
template <class Check, class Element>
concept ProbeCheck = std::is_invocable_v<Check&, std::span<const Element>> ||
                     std::is_invocable_v<Check&, std::span<const Element>, const ProbeRun&>;

template <class Check, class Element>
decltype(auto) call_check(Check& check, std::span<const Element> values, const ProbeRun& run) {
    if constexpr (std::is_invocable_v<Check&, std::span<const Element>, const ProbeRun&>)
        return check(values, run);
    else
        return check(values);
}

template <class Result>
inline constexpr bool is_check_result = std::is_void_v<Result> || std::is_same_v<Result, bool> ||
                                        std::is_convertible_v<Result, std::optional<ProbeFinding>>;

/// The state of a probe with its check and its values.
template <class Element, class Check>
class ProbeOf final : public ProbeState {
  public:
    template <class Given>
    ProbeOf(Given&& check, std::shared_ptr<void> memory, std::span<const Element> values, Owners&& owners,
            const ProbeOptions& options, const SourceLocation& location)
        : ProbeState(options, location), check_(std::forward<Given>(check)), memory_(std::move(memory)),
          values_(values), owners_(std::move(owners)) {}

  private:
    std::optional<ProbeFinding> check(const ProbeRun& run) override {
        using Result = decltype(call_check(check_, values_, run));
        if constexpr (std::is_void_v<Result>) {
            call_check(check_, values_, run);
            return {};
        } else if constexpr (std::is_same_v<Result, bool>) {
            if (call_check(check_, values_, run)) return {};
            return probe_refused();
        } else {
            return call_check(check_, values_, run);
        }
    }

    Check check_;
    std::shared_ptr<void> memory_; ///< the copy's destination; null for memory of the host
    std::span<const Element> values_;
    Owners owners_;
};

} // namespace cudag::detail
