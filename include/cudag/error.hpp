// What cudag throws: one hierarchy over std::system_error, and `check` for calls of one's own.
#pragma once

#include <cudag/config.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace cudag {

/// The category of `cudaError_t` values: `name()` is "cuda", `message(code)` is CUDA's own text.
[[nodiscard]] CUDAG_EXPORT const std::error_category& cuda_category() noexcept;

/// What is known about an error beside its code and its text.
struct ErrorDetails {
    std::string operation;           ///< the CUDA function that failed; empty if cudag refused before calling CUDA
    std::string log;                 ///< what CUDA's own log said about it; empty if nothing
    std::vector<std::string> labels; ///< labels of the nodes concerned
    SourceLocation location;         ///< where the node was made or the call stands
};

/// Base of everything that cudag throws on its own account.
/// `code()` holds a `cudaError_t` in `cuda_category()`; `what()` says what was tried, what is wrong and what to do.
/// Copying does not throw. After an Error, the object that was called is as it was before the call.
class CUDAG_EXPORT Error : public std::system_error {
  public:
    Error(cudaError_t code, const std::string& text, ErrorDetails details = {});
    Error(const Error&) noexcept = default; // and no move: an Error always has its content
    Error& operator=(const Error&) noexcept = default;

    [[nodiscard]] const char* what() const noexcept override;
    [[nodiscard]] const std::string& operation() const noexcept;
    [[nodiscard]] const std::string& log() const noexcept;
    [[nodiscard]] const std::vector<std::string>& labels() const noexcept;
    [[nodiscard]] const SourceLocation& location() const noexcept;

  private:
    struct Content;
    std::shared_ptr<const Content> content_;
};

/// A graph, a node or a handle was used wrongly, or CUDA refused a node or an edge.
class CUDAG_EXPORT GraphError : public Error {
  public:
    using Error::Error;
};

/// Nothing orders nodes of which one writes memory that the other uses: in a graph that was to be built, or would be
/// after an update.
class CUDAG_EXPORT RaceError : public Error {
  public:
    using Error::Error;
};

/// A graph could not become an Exec.
class CUDAG_EXPORT InstantiateError : public Error {
  public:
    using Error::Error;
};

/// An Exec refused new parameters; it launches as it did before.
class CUDAG_EXPORT UpdateError : public Error {
  public:
    using Error::Error;
};

/// A stream capture could not begin or end, something broke it, or it does not allow the call that failed.
class CUDAG_EXPORT CaptureError : public Error {
  public:
    using Error::Error;
};

/// Throws Error if `status` is not cudaSuccess, with CUDA's log text, and clears CUDA's last error.
CUDAG_EXPORT void check(cudaError_t status, SourceLocation location = SourceLocation::current());

} // namespace cudag
