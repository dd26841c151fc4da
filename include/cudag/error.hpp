// Error and its subclasses: the exceptions of cudag, based on std::system_error; `check` for the user's own CUDA calls.
#pragma once

#include <cudag/config.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace cudag {

/// Returns the category of `cudaError_t` values: `name()` is "cuda", `message(code)` is CUDA's own text.
[[nodiscard]] CUDAG_EXPORT const std::error_category& cuda_category() noexcept;

/// The details of an Error, in addition to its code and text.
struct ErrorDetails {
    std::string operation;           ///< name of the failed CUDA function; empty if cudag refused before calling CUDA
    std::string log;                 ///< lines of CUDA's own log about it; empty if none
    std::vector<std::string> labels; ///< labels of the nodes concerned
    SourceLocation location;         ///< source location of the node or the call
};

/// The base class of all exceptions thrown by cudag itself.
///
///     try {
///         exec.launch(stream);
///     } catch (const cudag::Error& error) {
///         if (error.code() == std::error_code(cudaErrorLaunchFailure, cudag::cuda_category())) throw;
///         std::puts(error.what()); // also error.operation(), log(), labels(), location()
///     }
///
/// `code()` holds a `cudaError_t` in `cuda_category()`; `what()` states the attempted operation, the problem and the
/// remedy. Copying does not throw. After an Error, the called object is as it was before the call.
class CUDAG_EXPORT Error : public std::system_error {
  public:
    /// Makes an error with `text` as its `what()`.
    Error(cudaError_t code, const std::string& text, ErrorDetails details = {});
    Error(const Error&) noexcept = default; // and no move: an Error always has its content
    Error& operator=(const Error&) noexcept = default;

    /// Returns the whole text of the error.
    [[nodiscard]] const char* what() const noexcept override;
    /// Returns the name of the failed CUDA function; empty if cudag refused before calling CUDA.
    [[nodiscard]] const std::string& operation() const noexcept;
    /// Returns the lines of CUDA's log about the error; empty if none.
    [[nodiscard]] const std::string& log() const noexcept;
    /// Returns the labels of the nodes concerned.
    [[nodiscard]] const std::vector<std::string>& labels() const noexcept;
    /// Returns the source location of the node or the call.
    [[nodiscard]] const SourceLocation& location() const noexcept;

  private:
    struct Content;
    std::shared_ptr<const Content> content_;
};

/// Reports wrong use of a graph, node or handle, a node or edge refused by CUDA, or a feature of a newer CUDA.
class CUDAG_EXPORT GraphError : public Error {
  public:
    using Error::Error;
};

/// Reports a race: two unordered nodes, one of which writes memory used by the other, in a graph to be built, or in the
/// result of a rejected update.
///
///     b.memset(x, 1.0f);
///     b.kernel(config, scale, x, 2.0f, n); // without .after
///     try {
///         cudag::Graph raced = std::move(b).build();
///     } catch (const cudag::RaceError& race) {
///         std::puts(race.what()); // names both nodes, the memory, and the missing edge
///     }
class CUDAG_EXPORT RaceError : public Error {
  public:
    using Error::Error;
};

/// Reports a graph's failed instantiation.
class CUDAG_EXPORT InstantiateError : public Error {
  public:
    using Error::Error;
};

/// Reports an update rejected by an Exec or a Graph; both stay as they were.
///
///     const auto node = graph.find_one(scale);
///     try {
///         exec.update(node, cudag::arg<1>(3.0f));
///     } catch (const cudag::UpdateError& refused) {
///         std::puts(refused.what());
///     }
class CUDAG_EXPORT UpdateError : public Error {
  public:
    using Error::Error;
};

/// Reports a failed or broken stream capture, or a call not allowed during one.
///
///     try {
///         cudag::Graph broken = cudag::capture(stream, [](cudaStream_t) { cudaDeviceSynchronize(); });
///     } catch (const cudag::CaptureError& error) {
///         std::puts(error.what());
///     }
class CUDAG_EXPORT CaptureError : public Error {
  public:
    using Error::Error;
};

/// Throws Error if `status`, the result of a CUDA call, is not cudaSuccess. The error has the text of CUDA's log;
/// CUDA's last error is cleared. Throws CaptureError if the code is about a capture.
///
///     cudag::check(cudaMemsetAsync(x.data(), 0, sizeof(float), stream.get()));
CUDAG_EXPORT void check(cudaError_t status, SourceLocation location = SourceLocation::current());

} // namespace cudag
