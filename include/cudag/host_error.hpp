// HostError: what host nodes threw, told to whoever waits for their launch.
#pragma once

#include <cudag/config.hpp>
#include <cudag/error.hpp>
#include <cudag/source_location.hpp>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace cudag {

/// One exception that a host node threw, and which node that was.
struct HostFailure {
    std::string node;             ///< as errors name it: `host "check" at a.cpp:12`
    std::string label;            ///< empty if it has none
    SourceLocation location;      ///< where the node was made
    std::exception_ptr exception; ///< what it threw, of any type
};

/// Host nodes threw. Thrown by the next synchronisation, through cudag, of the stream that their Exec was launched in,
/// or by `Exec::rethrow`; each exception is told once. The oldest one is nested: `rethrow_nested()` throws it with its
/// own type. `what()` names the nodes and says what each of them threw, `location()` is the oldest one's node.
/// `code()` is that of the oldest exception if it is an Error, else cudaErrorUnknown.
class CUDAG_EXPORT HostError : public Error, public std::nested_exception {
  public:
    /// Made while the first of `failures`, of which there is at least one, is being handled.
    explicit HostError(std::shared_ptr<const std::vector<HostFailure>> failures);

    /// All of them, in the order in which they were thrown.
    [[nodiscard]] const std::vector<HostFailure>& failures() const noexcept { return *failures_; }

  private:
    std::shared_ptr<const std::vector<HostFailure>> failures_;
};

} // namespace cudag
