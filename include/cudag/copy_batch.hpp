// Batches of copies: several copies, unordered among each other, added and ordered by one call.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/node.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

/// Destination and source of one copy in a batch: the operands of `GraphBuilder::memcpy`, of any element type.
///
///     std::vector<cudag::CopyOperands> copies;
///     copies.emplace_back(x, host);
///     cudag::CopyBatch up = b.memcpy(copies);
class CopyOperands {
  public:
    template <class Destination, class Source>
    CopyOperands( // cudag: {destination, source} are two ranges of one length
        Destination&& destination, Source&& source) {
        if constexpr (detail::require_operand<Destination>() && detail::require_operand<Source>())
            params_ = detail::copy_params(destination, source, owners_);
    }

    [[nodiscard]] const detail::CopyParams& params(detail::Passkey) const noexcept { return params_; }
    [[nodiscard]] const detail::Owners& owners(detail::Passkey) const noexcept { return owners_; }

  private:
    detail::CopyParams params_{};
    detail::Owners owners_;
};

/// The handle of a batch: its copies, and the JoinNode after all of them, which the handle is itself.
///
///     cudag::CopyBatch up = b.memcpy({{x, host}, {y, x}}).label("upload").after(b.clear(x));
///     b.kernel(config, step, x, n).after(up);
///     graph = std::move(b).build();
///     exec = graph.instantiate();
///     exec.update(up[0], x.span().subspan(0, 16), host.span().subspan(0, 16));
///     exec.disable(up[1]);
///
/// `batch.after(a)` orders all copies after `a`; `b.after(batch)` orders b after all copies. Each copy is a MemcpyNode:
/// its memory and size are updated, it is disabled, bound and compared like any other.
class CopyBatch : public JoinNode {
  public:
    CopyBatch() noexcept = default;
    CopyBatch(detail::Passkey key, const Node& join, std::vector<MemcpyNode>&& copies) noexcept
        : JoinNode(key, join), copies_(std::move(copies)) {}

    /// Returns the copies in the order of the call.
    [[nodiscard]] const std::vector<MemcpyNode>& copies() const noexcept { return copies_; }
    [[nodiscard]] std::size_t size() const noexcept { return copies_.size(); }
    /// Requires `number < size()`.
    [[nodiscard]] const MemcpyNode& operator[](std::size_t number) const noexcept { return copies_[number]; }

    using JoinNode::label;
    /// Labels the join by `text`, and copy number i by `text/i`.
    CopyBatch label(std::string_view text) const { // cudag: label(text) takes a string
        Node::label(text);
        for (std::size_t i = 0; i < copies_.size(); ++i)
            copies_[i].label(std::string(text) + "/" + std::to_string(i));
        return *this;
    }

    /// Orders all copies after `nodes`, as `MemcpyNode::after` does each. Throws GraphError as it does.
    template <class... Handle>
    CopyBatch
    after(const Handle&... nodes) const { // cudag: after(a, b, ...) takes the nodes one by one, or a range of them
        for (const MemcpyNode& copy : copies_)
            copy.after(nodes...);
        return *this;
    }

  private:
    std::vector<MemcpyNode> copies_;
};

} // namespace cudag
