// probe(): a node that looks at values inside a launch, for checks, checksums and prints.
#pragma once

#include <cudag/builder.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/probe_state.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/nested_node.hpp>
#include <cudag/node.hpp>
#include <cudag/probe_checks.hpp>
#include <cudag/probe_failure.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream_capture.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag {

/// A handle to a probe: a copy of the probed memory, if that is on a device, and a host node with the check.
///
///     auto norm = b.kernel(config, scale, x, 2.0f, n);
///     cudag::Probe probe = cudag::probe(b, x, cudag::in_range(-1.0f, 1.0f)).label("after norm").after(norm);
///     b.kernel(config, step, x, n).after(probe.reader());
///
/// The handle may be dropped: the graph keeps the check and the failures. Copies refer to the same probe. A
/// default-constructed handle throws GraphError. Threads: `failures`, `check`, `clear` and `runs` may run concurrently
/// with launches; the others as the calls of Node and Exec.
class CUDAG_EXPORT Probe {
  public:
    Probe() noexcept = default;
    /// Makes the handle of `state`'s probe.
    Probe(detail::Passkey, const MemcpyNode& copy, const HostNode& node, std::shared_ptr<detail::ProbeState> state)
        : copy_(copy), node_(node), state_(std::move(state)) {}

    /// Returns the host node with the check.
    [[nodiscard]] const HostNode& node() const noexcept { return node_; }
    /// Returns the copy of the probed memory to the host; none if the memory is on the host.
    [[nodiscard]] std::optional<MemcpyNode> copy() const;
    /// Returns the node that reads the probed memory: the copy, otherwise the host node. A later writer of the memory
    /// comes after it.
    [[nodiscard]] Node reader() const;

    /// Names the probe in its failures, and its nodes: the host node `text`, the copy "`text` (copy)".
    Probe label(std::string_view text) const; // cudag: label(text) takes a string

    /// Adds edges: the probe reads the memory when all of `nodes` have finished. Errors are those of Node::after.
    template <class... Handle>
    Probe after(const Handle&... nodes) const { // cudag: after(a, b, ...) takes the nodes one by one, or a range
        if (has_copy())
            copy_.after(nodes...);
        else
            node_.after(nodes...);
        return *this;
    }

    /// Disables or enables the probe in later launches of `exec`: a disabled one neither copies nor calls the check.
    /// (CUDA cannot disable a host node: it calls an empty function.) Whole updates of `exec` enable the check again,
    /// but not the copy: disable the probe again after them. Throws UpdateError, and changes nothing, if the probe is
    /// not of the graph of `exec`.
    void disable(Exec& exec) const; // cudag: disable(exec) takes an Exec of the probe's graph
    void enable(Exec& exec) const;  // cudag: enable(exec) takes an Exec of the probe's graph

    /// Returns the handle of this probe inside `child`, or in `clone`, a clone of its graph. It shares failures and
    /// runs with this one. Throws GraphError if the probe is not of the original graph.
    [[nodiscard]] Probe inside(const ChildNode& child) const;
    [[nodiscard]] Probe in(const Graph& clone) const;

    /// Returns the failures of the first 16 failed runs since the last `clear`.
    [[nodiscard]] std::vector<ProbeFailure> failures() const;
    /// Throws ProbeError if there are failures. Does not wait: synchronise first.
    void check() const;
    /// Forgets the failures.
    void clear() const;
    /// Returns the number of runs of the probe.
    [[nodiscard]] std::uint64_t runs() const;

  private:
    [[nodiscard]] bool has_copy() const;
    [[nodiscard]] detail::ProbeState& state() const;

    MemcpyNode copy_; ///< empty for memory of the host
    HostNode node_;
    std::shared_ptr<detail::ProbeState> state_;
};

namespace detail {

/// Fails to compile unless `Check` is a check of elements of the range `Memory`.
template <class Memory, class Check>
constexpr bool require_check() {
    if constexpr (require_operand<Memory>()) {
        using Operand =
            decltype(to_operand(std::declval<std::remove_reference_t<Memory>&>(), 0, std::declval<Owners&>()));
        using Element = std::remove_cv_t<typename Operand::element_type>;
        static_assert(std::is_trivially_copyable_v<Element>, "cudag: a probe needs trivially copyable elements");
        constexpr bool callable = ProbeCheck<Check, Element>;
        static_assert(callable, "cudag: a probe calls check(std::span<const Element>), or "
                                "check(std::span<const Element>, const cudag::ProbeRun&)");
        if constexpr (callable) {
            constexpr bool result = is_check_result<decltype(call_check(
                std::declval<Check&>(), std::declval<std::span<const Element>>(), std::declval<const ProbeRun&>()))>;
            static_assert(result, "cudag: a probe's check returns nothing, bool or std::optional<cudag::ProbeFinding>");
            return result && std::is_trivially_copyable_v<Element>;
        }
    }
    return false;
}

} // namespace detail

/// Adds a probe: `check(values)` or `check(values, run)` is called in each launch, with the elements that `memory` has
/// then: after the nodes given to `.after`, or, with inferred dependencies, after the writers before it.
///
///     cudag::Probe norm = cudag::probe(b, x, cudag::no_nan).label("norm").after(b.memset(x, 1.0f));
///     cudag::probe(b, host, [](std::span<const float> values) { return values[0] > 0; }).after(b.memcpy(host, x));
///
/// - `memory`: a device range (DeviceBuffer, DeviceSpan) is copied to page-locked memory of the graph. A host range
///   (PinnedBuffer, std::span of pinned or managed memory) is read in place. Owners are kept as by `memcpy`.
/// - `check`: `no_nan`, `in_range` and the like of probe_checks.hpp, or any function. It returns nothing, false for a
///   failure, or an optional ProbeFinding. An exception is a failure, too. It must make no CUDA calls.
/// - A failure is recorded and reported to the observer (ObservedProbe). By default the next synchronisation through
///   cudag throws it, too: see OnProbeFailure. Later nodes run all the same.
/// - The probe reads `memory`: race checks and inferred edges know that. Later writers come after `Probe::reader()`.
/// - Execs of one graph that run at the same time share the page-locked memory: launch them one after the other.
///
/// Throws GraphError, and adds nothing, if `memory` is null or empty, or in the body of a conditional, where CUDA
/// allows no host nodes.
template <class Memory, class Check>
Probe probe( // cudag: probe(builder, memory, check, options)
    GraphBuilder& b, Memory&& memory, Check&& check, ProbeOptions options,
    SourceLocation location = SourceLocation::current()) {
    if constexpr (detail::require_check<Memory, std::decay_t<Check>>()) {
        detail::Owners owners;
        const auto probed = detail::to_operand(memory, 0, owners);
        using Element = std::remove_cv_t<typename decltype(probed)::element_type>;
        constexpr bool on_device = decltype(probed)::side == Side::device;
        const auto place =
            detail::probe_memory(probed.data, probed.size, sizeof(Element), decltype(probed)::side, location);
        const Element* values = probed.data;
        if constexpr (on_device) values = static_cast<const Element*>(place.get());
        const std::span<const Element> seen(values, probed.size);
        const auto state = std::make_shared<detail::ProbeOf<Element, std::decay_t<Check>>>(
            std::forward<Check>(check), place, seen, std::move(owners), options, location);
        MemcpyNode copy;
        if constexpr (on_device)
            copy = b.memcpy(std::span<Element>(static_cast<Element*>(place.get()), probed.size), memory, location);
        try {
            const HostNode node = b.host([state] { state->run(); }, {}, location).reads(seen);
            if constexpr (on_device) node.after(copy.retain(std::shared_ptr<detail::ProbeState>(state)));
            return {detail::Passkey(), copy, node, state};
        } catch (...) {
            if constexpr (on_device) b.remove(copy);
            throw;
        }
    }
    return {};
}
template <class Memory, class Check>
Probe probe( // cudag: probe(builder, memory, check)
    GraphBuilder& b, Memory&& memory, Check&& check, SourceLocation location = SourceLocation::current()) {
    return probe(b, std::forward<Memory>(memory), std::forward<Check>(check), ProbeOptions(), location);
}

/// Adds a probe to a capture, after all work recorded in the stream so far, and before its next work.
///
///     cudag::StreamCapture capture(stream);
///     cudag::launch(stream, config, scale, x, 2.0f, n);
///     cudag::probe(capture, x, cudag::no_nan).label("scaled");
///     graph = std::move(capture).finish();
///
/// Throws CaptureError in addition, as StreamCapture::add does.
template <class Memory, class Check>
Probe probe( // cudag: probe(capture, memory, check, options)
    StreamCapture& capture, Memory&& memory, Check&& check, ProbeOptions options,
    SourceLocation location = SourceLocation::current()) {
    return capture.add(
        [&](GraphBuilder& b) {
            return probe(b, std::forward<Memory>(memory), std::forward<Check>(check), options, location);
        },
        location);
}
template <class Memory, class Check>
Probe probe( // cudag: probe(capture, memory, check)
    StreamCapture& capture, Memory&& memory, Check&& check, SourceLocation location = SourceLocation::current()) {
    return probe(capture, std::forward<Memory>(memory), std::forward<Check>(check), ProbeOptions(), location);
}

} // namespace cudag
