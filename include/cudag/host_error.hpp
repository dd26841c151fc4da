// HostError: the exceptions of host nodes, reported at the next synchronisation with their launch.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/error.hpp>
#include <cudag/source_location.hpp>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace cudag {

/// A host failure: one exception of a host node, with the node.
struct HostFailure {
    std::string node;             ///< the node's name in errors: `host "check" at a.cpp:12`
    std::string label;            ///< the node's label; empty if it has none
    SourceLocation location;      ///< source location of the node
    std::exception_ptr exception; ///< the exception, of any type
};

/// Reports exceptions thrown by host nodes (host failures).
///
///     try {
///         exec.launch(stream);
///         stream.synchronize();
///     } catch (const cudag::HostError& error) {
///         std::puts(error.failures().front().node.c_str());
///         error.rethrow_nested(); // the oldest exception, with its own type
///     }
///
/// The next wait for the launch through cudag throws it (`Stream::synchronize`, `Event::synchronize`,
/// `DeviceScalar::get`), or `Exec::rethrow` does. Each exception is reported once. The oldest one is nested:
/// `rethrow_nested()` throws it with its own type.
/// `what()` names the first ten nodes with the texts of their exceptions; `location()` is that of the oldest
/// one's node. `code()` is the code of the oldest exception if it is an Error, else cudaErrorUnknown.
class CUDAG_EXPORT HostError : public Error, public std::nested_exception {
  public:
    /// Makes the error from `failures`, at least one. The caller handles the first one's exception: that is nested.
    HostError(detail::Passkey, std::shared_ptr<const std::vector<HostFailure>> failures);

    /// Returns all host failures, in the order of their exceptions.
    [[nodiscard]] const std::vector<HostFailure>& failures() const noexcept { return *failures_; }

  private:
    std::shared_ptr<const std::vector<HostFailure>> failures_;
};

} // namespace cudag
