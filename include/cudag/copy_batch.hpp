// Batches of copies: several copies, unordered among each other, added and ordered by one call.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/node.hpp>

#include <cstddef>
#include <cstdint>
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

class CopyInBatch;

namespace detail {

/// Returns the memory of a copy of a batch. Throws GraphError if the handle is empty or dead.
[[nodiscard]] CUDAG_EXPORT NodeMemory memory_of(const CopyInBatch& copy);
/// Returns the number of copies of a node. Throws GraphError if the handle is empty or dead.
[[nodiscard]] CUDAG_EXPORT std::size_t copies_of(const Node& batch);

} // namespace detail

/// The handle of one copy of a batch: of a memcpy node, or of a part of the batch's only node (CUDA 13.5).
///
///     cudag::CopyBatch up = b.memcpy({{x, host}, {y, x}});
///     graph = std::move(b).build();
///     exec = graph.instantiate();
///     exec.update(up[0], x.span().subspan(0, 16), host.span().subspan(0, 16));
///     exec.disable(up[1]);
///
/// It owns nothing. The getters return the values in the Graph: those of the last `Graph::update`, or of its creation.
class CopyInBatch {
  public:
    CopyInBatch() noexcept = default;
    /// The copy of a node of its own.
    CopyInBatch(detail::Passkey, const Node& copy) noexcept : node_(copy), is_node_(true) {}
    /// Copy number `number` of a batch in one node.
    CopyInBatch(detail::Passkey, const Node& batch, std::uint32_t number) noexcept : node_(batch), number_(number) {}

    /// Returns the node that performs the copy: a memcpy node, or that of the whole batch.
    [[nodiscard]] const Node& node() const noexcept { return node_; }
    /// Whether the node performs this copy only.
    [[nodiscard]] bool is_node() const noexcept { return is_node_; }
    /// Returns its number among the copies of its node.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

    /// Returns the address of the first byte written.
    [[nodiscard]] void* destination() const { return detail::memory_of(*this).destination; }
    /// Returns the address of the first byte read.
    [[nodiscard]] const void* source() const { return detail::memory_of(*this).source; }
    /// Returns the number of bytes copied.
    [[nodiscard]] std::size_t bytes() const { return detail::memory_of(*this).bytes; }

    /// Compares identity.
    friend bool operator==(const CopyInBatch&, const CopyInBatch&) = default;

  private:
    Node node_;
    std::uint32_t number_ = 0;
    bool is_node_ = false;
};

/// A node with a batch of copies, which CUDA has since 13.5: `graph.find_one("upload").as<cudag::MemcpyBatchNode>()`.
class MemcpyBatchNode : public detail::TypedNode<MemcpyBatchNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::memcpy_batch;
    using TypedNode::TypedNode;

    /// Returns the copies in the order of the call.
    [[nodiscard]] std::vector<CopyInBatch> copies() const {
        std::vector<CopyInBatch> copies;
        for (std::size_t i = 0; i < detail::copies_of(*this); ++i)
            copies.emplace_back(detail::Passkey(), *this, static_cast<std::uint32_t>(i));
        return copies;
    }
};

/// The handle of a batch: its copies, and the node after which all of them are done, which the handle is itself. This
/// is a MemcpyBatchNode since CUDA 13.5, outside of conditionals; else a JoinNode after a memcpy node for each copy.
///
///     cudag::CopyBatch up = b.memcpy({{x, host}, {y, x}}).label("upload").after(b.clear(x));
///     b.kernel(config, step, x, n).after(up);
///
/// `batch.after(a)` orders all copies after `a`; `b.after(batch)` orders b after all copies. The memory and the size of
/// each copy are updated, and each is disabled, by its handle: see CopyInBatch.
class CopyBatch : public Node {
  public:
    CopyBatch() noexcept = default;
    CopyBatch(detail::Passkey, const Node& last, std::vector<CopyInBatch>&& copies) noexcept
        : Node(last), copies_(std::move(copies)) {}

    /// Returns the copies in the order of the call.
    [[nodiscard]] const std::vector<CopyInBatch>& copies() const noexcept { return copies_; }
    [[nodiscard]] std::size_t size() const noexcept { return copies_.size(); }
    /// Requires `number < size()`.
    [[nodiscard]] const CopyInBatch& operator[](std::size_t number) const noexcept { return copies_[number]; }
    /// Whether the batch is one node.
    [[nodiscard]] bool is_node() const noexcept { return !copies_.empty() && !copies_.front().is_node(); }

    using Node::label;
    /// Labels the batch by `text`, and the node of copy number i, if it has one of its own, by `text/i`.
    CopyBatch label(std::string_view text) const { // cudag: label(text) takes a string
        Node::label(text);
        for (std::size_t i = 0; i < copies_.size() && !is_node(); ++i)
            copies_[i].node().label(std::string(text) + "/" + std::to_string(i));
        return *this;
    }

    /// Orders all copies after `nodes`, as `MemcpyNode::after` does each. Throws GraphError as it does.
    template <class... Handle>
    CopyBatch
    after(const Handle&... nodes) const { // cudag: after(a, b, ...) takes the nodes one by one, or a range of them
        if (is_node())
            MemcpyBatchNode(detail::Passkey(), *this).after(nodes...);
        else
            for (const CopyInBatch& copy : copies_)
                MemcpyNode(detail::Passkey(), copy.node()).after(nodes...);
        return *this;
    }

    friend bool operator==(const CopyBatch& a, const CopyBatch& b) noexcept {
        return static_cast<const Node&>(a) == static_cast<const Node&>(b);
    }

  private:
    std::vector<CopyInBatch> copies_;
};

} // namespace cudag
