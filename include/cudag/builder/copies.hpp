// Copies and fills: the calls of GraphBuilder that add memcpy and memset nodes.
#pragma once

#include <cudag/config.hpp>
#include <cudag/copy_batch.hpp>
#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/copy_3d.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace cudag::detail {

/// The calls that add copies and fills.
///
///     auto upload = b.memcpy(x, host);
///     b.memset(y, 1.0f).after(upload);
///     b.clear(x.span().subspan(0, 16)).after(b.memcpy(y, x).after(upload));
template <class Self>
class CopyCalls {
  public:
    /// Adds a copy of all of `source` to `destination`, device or host ranges of the same element type and size. The
    /// types determine the direction. Throws GraphError if the sizes differ or are 0.
    /// Use a PinnedBuffer for host memory: it is faster, and avoids these effects of pageable memory (seen on driver
    /// 580):
    /// - A pageable source is read during the launch call, not when the node runs. The copy may miss writes of earlier
    ///   kernels and host nodes of the launch.
    /// - A pageable destination, or a large pageable source (16 MiB), blocks the launch call until the copy has run.
    template <class Destination, class Source>
    MemcpyNode
    memcpy( // cudag: memcpy(destination, source) copies all of two ranges of one length: x.span().subspan(0, n)
        Destination&& destination, Source&& source, SourceLocation location = SourceLocation::current()) {
        if constexpr (require_operand<Destination>() && require_operand<Source>()) {
            Owners owners;
            const CopyParams copy = copy_params(destination, source, owners);
            return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                        return add_memcpy(graph, copy, std::move(owners), location);
                    })};
        }
        return {};
    }

    /// Adds several copies, unordered among each other: `memcpy({{x, host}, {y, x}})`. Since CUDA 13.5 they are one
    /// node; before, and in bodies of conditionals, a node for each and a join after all, of which the plan decides
    /// whether CUDA sees it. Throws GraphError for a batch without copies, for copies that write each other's memory,
    /// and as the call for one copy does; then nothing is added, except that CUDA removes no copies of a graph with
    /// graph memory nodes.
    CopyBatch memcpy(std::initializer_list<CopyOperands> copies, SourceLocation location = SourceLocation::current()) {
        return this->memcpy(std::span(copies.begin(), copies.size()), location);
    }
    CopyBatch memcpy(std::span<const CopyOperands> copies, SourceLocation location = SourceLocation::current()) {
        std::vector<BatchedCopy> batch;
        batch.reserve(copies.size());
        for (const CopyOperands& each : copies)
            batch.push_back({each.params(Passkey()), each.owners(Passkey())});
        std::vector<Node> nodes;
        const Node last = Access::place(self(), location, [&](GraphState& graph) {
            nodes = add_copies(graph, std::move(batch), location);
            return nodes.back();
        });
        std::vector<CopyInBatch> handles;
        for (std::size_t i = 0; i < copies.size(); ++i)
            if (nodes.size() == 1)
                handles.emplace_back(Passkey(), last, static_cast<std::uint32_t>(i));
            else
                handles.emplace_back(Passkey(), nodes[i]);
        return {Passkey(), last, std::move(handles)};
    }

    /// Adds a copy of all of `source` to `destination`: each is a DeviceSpan2D, HostSpan2D or ArraySpan, with the same
    /// element type and extents. Throws GraphError if the extents differ or are 0, or a pitch is smaller than its row.
    /// An Exec never changes the copy, because CUDA updates 1D copies only. Graph::update changes it for future Execs.
    template <class Destination, class Source>
    MemcpyNode memcpy2d( // cudag: memcpy2d(destination, source) copies all of a DeviceSpan2D, HostSpan2D or ArraySpan
        const Destination& destination, const Source& source, SourceLocation location = SourceLocation::current()) {
        if constexpr (require_dimensions<2, Destination, Source>())
            return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                        return add_copy_3d(graph, copy_3d(destination, source), location);
                    })};
        return {};
    }

    /// Adds a copy of all of `source` to `destination` in three dimensions: DeviceSpan3D, HostSpan3D or ArraySpan.
    /// Errors and updates are those of `memcpy2d`.
    template <class Destination, class Source>
    MemcpyNode memcpy3d( // cudag: memcpy3d(destination, source) copies all of a DeviceSpan3D, HostSpan3D or ArraySpan
        const Destination& destination, const Source& source, SourceLocation location = SourceLocation::current()) {
        if constexpr (require_dimensions<3, Destination, Source>())
            return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                        return add_copy_3d(graph, copy_3d(destination, source), location);
                    })};
        return {};
    }

    /// Adds a node that sets all elements (not bytes) of `destination` to `value`; elements are of any trivially
    /// copyable type.
    /// CUDA repeats a pattern of 1, 2 or 4 bytes. The bytes of larger elements, padding included, must repeat in this
    /// way: those of 0.0 and -1L do, those of -0.0 do not. Throws GraphError if they do not, or if `destination` is
    /// empty.
    template <class Destination, class Value>
    MemsetNode memset( // cudag: memset(range, value) sets all elements of a range: x.span().subspan(0, n)
        Destination&& destination, const Value& value, SourceLocation location = SourceLocation::current()) {
        if constexpr (require_operand<Destination>()) {
            CallEffects effects;
            const SetParams set = set_params(destination, value, effects, {nullptr, nullptr, location});
            return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                        return add_memset(graph, set, std::move(effects), location);
                    })};
        }
        return {};
    }

    /// Adds a node that sets all bytes of `destination` to 0: a range or a DeviceSpan2D of any trivially copyable
    /// elements. Throws GraphError if it is empty. An update takes a value: `update(node, range, Element())`.
    template <class Destination>
    MemsetNode clear( // cudag: clear(range) sets all bytes of a range to 0
        Destination&& destination, SourceLocation location = SourceLocation::current()) {
        if constexpr (MultiDimensional<Destination>) {
            if constexpr (require_2d<Destination>())
                return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                            return add_memset(graph, clear_2d(destination), {}, location);
                        })};
        } else if constexpr (require_operand<Destination>()) {
            CallEffects effects;
            const SetParams set = clear_params(destination, effects);
            return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                        return add_memset(graph, set, std::move(effects), location);
                    })};
        }
        return {};
    }

    /// Adds a node that sets all elements of a DeviceSpan2D to `value`; values and errors are those of `memset`.
    /// Updates of an Exec must keep the height and, if it is more than 1, the width and the pitch.
    template <class Destination, class Value>
    MemsetNode memset2d( // cudag: memset2d(region, value) sets all elements of a DeviceSpan2D
        const Destination& destination, const Value& value, SourceLocation location = SourceLocation::current()) {
        if constexpr (require_2d<Destination>()) {
            CallEffects effects;
            const SetParams set = set_2d(destination, value, effects, {nullptr, nullptr, location});
            return {Passkey(), Access::place(self(), location, [&](GraphState& graph) {
                        return add_memset(graph, set, std::move(effects), location);
                    })};
        }
        return {};
    }

  private:
    [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }
};

} // namespace cudag::detail
