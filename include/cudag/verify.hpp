// verify(): compares a function with its captured graph, or a graph with its nodes one after another.
#pragma once

#include <cudag/any_node.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/graph.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>
#include <cudag/verification.hpp>

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag {

/// Memory to be compared by `verify`, borrowed, with a tolerance if its elements are float or double.
///
///     cudag::VerifyOptions options{.memory = {{x, 1e-5}, y}};
class VerifiedRange {
  public:
    /// Takes a range of device or host memory: a buffer, a span, a contiguous host range.
    template <class Memory>
    requires(!std::same_as<Memory, VerifiedRange>)
    VerifiedRange(const Memory& memory) // implicitly, for lists
        : access_(detail::declared_access(memory, detail::AccessMode::write)) {}
    /// Accepts elements that differ from the expected value v by at most `tolerance` times the greater of 1 and |v|.
    /// Throws GraphError if `tolerance` is negative or NaN.
    template <class Memory>
    VerifiedRange( // cudag: a verified range takes memory and a tolerance
        const Memory& memory, double tolerance)
        : VerifiedRange(memory) {
        using Element = std::remove_cv_t<typename decltype(detail::to_operand(
            memory, 0, std::declval<detail::Owners&>()))::element_type>;
        constexpr bool is_float = std::is_same_v<Element, float> || std::is_same_v<Element, double>;
        static_assert(is_float, "cudag: a tolerance is for memory of float or double");
        set_tolerance(tolerance);
    }

    [[nodiscard]] std::uintptr_t begin() const noexcept { return access_.block.begin; }
    [[nodiscard]] std::size_t bytes() const noexcept { return access_.block.row_bytes; }
    [[nodiscard]] std::size_t element_bytes() const noexcept { return access_.element_bytes; }
    [[nodiscard]] double tolerance() const noexcept { return tolerance_; }

  private:
    CUDAG_EXPORT void set_tolerance(double tolerance);

    detail::ArgumentAccess access_;
    double tolerance_ = 0;
};

/// The options of `verify`.
struct VerifyOptions {
    /// Memory compared in addition to the known writes, and tolerances. A raw pointer into it, an argument of a kernel,
    /// counts as a write of that whole range.
    std::vector<VerifiedRange> memory{};
    /// The number of launches of the graph to compare, at least 1. A missing edge may show in some launches only.
    unsigned launches = 3;
    /// Searches the first node with a difference: launches parts of the graph, about log2(nodes) * launches times, and
    /// its nodes one by one, twice.
    bool locate = true;
};

namespace detail {

[[nodiscard]] CUDAG_EXPORT Verification verify_function(StreamRef stream,
                                                        const std::function<void(cudaStream_t)>& function,
                                                        const VerifyOptions& options, const SourceLocation& location);

} // namespace detail

/// Runs the nodes of `graph` one after another, in the order of their insertion, and the graph itself, both in `stream`
/// and from equal memory, and compares what they have written. Finds missing edges that `races()` cannot see, because
/// the accesses are unknown or declared too small.
///
///     graph = std::move(b).build();
///     const cudag::Verification result = cudag::verify(graph, stream);
///     if (!result.ok()) std::puts(result.to_string().c_str());
///
/// - Compared are the known writes of all nodes, and `options.memory`. Other nodes are listed as unverified.
/// - Afterwards, the memory has the contents that the nodes left, run one by one; after an exception, its contents
/// before
///   the call.
/// - Every function of a host node is called several times.
/// - The compared memory is copied to the host: up to five copies of it exist there.
///
/// Synchronises `stream`. Throws GraphError if a node cannot run on its own: graph memory, conditional nodes, external
/// semaphores, device-updatable kernels. Throws the errors of launches and host nodes.
[[nodiscard]] CUDAG_EXPORT Verification verify(const Graph& graph, StreamRef stream, const VerifyOptions& options = {},
                                               SourceLocation location = SourceLocation::current());

/// Captures `function(stream)`, runs it eagerly, and launches the captured graph, from equal memory, and compares what
/// both have written.
///
///     const auto step = [&](cudaStream_t s) { library_call(s, x.data(), n); };
///     const cudag::Verification result = cudag::verify(stream, step, {.memory = {x}});
///     if (!result.ok()) std::puts(result.to_string().c_str());
///
/// - The function is called twice, three times after a difference. Work outside of `stream` runs each time.
/// - `options.memory` is saved before the capture, so that work outside of `stream` shows in it.
/// - Memory allocated in the stream by the function is not compared.
/// - The rest is as for a Graph. Afterwards, the memory has the contents that the eager run left.
/// - After a difference, the cause is `order` if the captured nodes, one by one, give the result of the eager run; the
///   first node is found exactly then. Otherwise it is `recorded`: an eager run cannot be stopped between two nodes, so
///   the differences are attributed to the last writers, and `changes` names the nodes with other arguments in another
///   capture.
///
/// Throws CaptureError as `capture` does. Exceptions of `function` pass through.
template <class Function>
requires std::invocable<Function&, cudaStream_t>
[[nodiscard]] Verification verify( // cudag: verify(stream, function) calls function(cudaStream_t)
    StreamRef stream, Function&& function, const VerifyOptions& options = {},
    SourceLocation location = SourceLocation::current()) {
    return detail::verify_function(
        stream, [&](cudaStream_t s) { static_cast<void>(std::invoke(function, s)); }, options, location);
}

} // namespace cudag
