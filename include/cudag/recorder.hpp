// The fault recorder: the nodes that have begun and not ended, after a fault, at a deadline, or at any time.
#pragma once

#include <cudag/any_node.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/error.hpp>
#include <cudag/source_location.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudag {

/// A node that has begun and not ended.
struct UnfinishedNode {
    std::string label{};       ///< "" without one
    std::string description{}; ///< the node as in errors: "kernel \"scale\" inside child \"layer\" at a.cpp:12"
    NodeKind kind = NodeKind::empty;
    SourceLocation location{};        ///< of the node's creation
    std::vector<std::string> outer{}; ///< descriptions of the child and conditional nodes around it, outermost first
};

/// Returns the nodes that have begun and not ended, of all Execs of this process with `InstantiateOptions::recorder`.
///
///     cudag::Exec exec = graph.instantiate({.recorder = true});
///     exec.launch(stream);
///     for (const cudag::UnfinishedNode& node : cudag::unfinished_nodes())
///         std::puts(node.description.c_str());
///
/// Reads host memory and calls nothing of CUDA, so it also works in another thread during a hang, and after a fault
/// that has ended CUDA's context. A child or conditional node is listed only if no node inside it is. An Exec counts
/// until its last launch has ended, even if it is destroyed before. Does not block. Thread-safe.
[[nodiscard]] CUDAG_EXPORT std::vector<UnfinishedNode> unfinished_nodes();

/// Reports that the work of a stream had not finished at the deadline given to `Stream::synchronize`.
///
///     exec.launch(stream);
///     try {
///         stream.synchronize(std::chrono::seconds(10));
///     } catch (const cudag::DeadlineError& late) {
///         for (const cudag::UnfinishedNode& node : late.nodes())
///             std::puts(node.description.c_str());
///     }
///
/// Nothing is cancelled: the work goes on, and everything stays usable. A later synchronisation waits for the rest.
/// `code()` is cudaErrorNotReady; `what()` and `labels()` name the first ten nodes.
class CUDAG_EXPORT DeadlineError : public Error {
  public:
    /// Makes the error; `nodes` are those of the list below.
    DeadlineError(detail::Passkey, const std::string& text, ErrorDetails details,
                  std::shared_ptr<const std::vector<UnfinishedNode>> nodes)
        : Error(cudaErrorNotReady, text, std::move(details)), nodes_(std::move(nodes)) {}

    /// Returns `unfinished_nodes()` at the deadline. Empty if no Exec in flight has a recorder.
    [[nodiscard]] const std::vector<UnfinishedNode>& nodes() const noexcept { return *nodes_; }

  private:
    std::shared_ptr<const std::vector<UnfinishedNode>> nodes_;
};

} // namespace cudag
