// CapturePool: memory that captured graphs share, allocated also while a stream is captured.
#pragma once

#include <cudag/buffer.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/owner_argument.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace cudag {

namespace detail {

class PoolState;

/// What a block's address is a multiple of, as cudaMalloc's are.
inline constexpr std::size_t pool_alignment = 256;

} // namespace detail

/// Stands for a pool where a handle cannot go: between parts of a program that share no objects. Never reused.
struct PoolId {
    std::uint64_t value = 0; ///< 0: none
    friend bool operator==(const PoolId&, const PoolId&) = default;
};

/// Device memory for captured work. Unlike a DeviceBuffer's, it may be allocated while a stream is captured, in every
/// mode, and no node arises: the graph uses the address, and the memory is there before the graph runs.
///
/// Memory goes back to the pool when the last owner of its buffer lets go, for later allocations to use again, and to
/// CUDA only with the pool itself. The pool lives on, when this object is gone, in buffers and in what retains it:
///   - a graph that keeps a *buffer* (retained, or given as an owner to a node or to a captured launch) has that memory
///     for itself;
///   - a graph that retains the *pool* and borrows from buffers (by span or pointer) keeps their memory valid, and
///     shares it, once they are let go, with what is captured later.
/// cudag does not order those who share: such graphs must not run at the same time, and what gets memory again must run
/// after what had it before, in streams as within a graph.
///
/// Move-only; a moved-from pool may only be assigned to or destroyed. Threads: all calls on one pool may run at once,
/// but for moves and assignment; its buffers may go on any thread.
class CUDAG_EXPORT CapturePool {
  public:
    /// An empty pool on the current device; `label` and `location` name it in errors. Throws Error if there is no
    /// device, or it has no memory pools.
    explicit CapturePool(std::string_view label = {}, SourceLocation location = SourceLocation::current());
    CapturePool(CapturePool&&) noexcept = default;
    CapturePool& operator=(CapturePool&&) noexcept = default;
    CapturePool(const CapturePool&) = delete;            // cudag: a CapturePool has one owner: std::move(pool)
    CapturePool& operator=(const CapturePool&) = delete; // cudag: a CapturePool has one owner: std::move(pool)

    /// `count` uninitialised elements on the pool's device, whichever is current: memory that came back, where a piece
    /// of it is large enough, else new memory of CUDA. Any stream may use it at once, and it is kept by nodes as that
    /// of any DeviceBuffer is. `count` may be 0: then `data()` is null. Throws CaptureError if the pool is sealed,
    /// Error if CUDA has not the memory or the size overflows.
    template <class Element = detail::NoElement>
    [[nodiscard]] DeviceBuffer<Element> allocate(std::size_t count,
                                                 SourceLocation location = SourceLocation::current()) {
        static_assert(!std::is_same_v<Element, detail::NoElement>,
                      "cudag: allocate needs the type of the elements: allocate<float>(count)");
        static_assert(alignof(Element) <= detail::pool_alignment,
                      "cudag: a CapturePool's memory is aligned to 256 bytes, the element type asks for more");
        return DeviceBuffer<Element>(allocate(count, sizeof(Element), location), count);
    }

    /// The number that `find` knows the pool by.
    [[nodiscard]] PoolId id() const;
    /// Another handle of the pool with that number, which lives as long as a handle, a buffer or a graph keeps it.
    /// Throws Error if it is gone, or never was. Thread-safe.
    [[nodiscard]] static CapturePool find(PoolId id);

    /// Keeps `owners` (DeviceBuffer, PinnedBuffer, shared_ptr) with the pool, so with all graphs that retain it, until
    /// `clear`: memory from elsewhere that these graphs borrow. Not the pool itself, nor buffers of it, which would
    /// keep it for good.
    template <detail::OwnerArgument... Owner>
    void record(const Owner&... owners) { // cudag: record(owner) keeps buffers and shared_ptrs
        static_assert(sizeof...(Owner) > 0, "cudag: record() needs at least one owner");
        static_assert((!std::is_same_v<Owner, CapturePool> && ...), "cudag: a pool that keeps a pool may never end");
        (keep(detail::owner_of(owners)), ...);
    }
    /// Lets go what `record` keeps: no graph that retains the pool may use it any more.
    void clear();

    /// From now on `allocate` throws: what is captured must make do with the memory that it has.
    void seal();
    void unseal();
    [[nodiscard]] bool is_sealed() const;

    /// How many buffers of the pool there are, also those that only graphs keep, but for those without elements.
    [[nodiscard]] std::size_t count() const;
    /// Their bytes.
    [[nodiscard]] std::size_t bytes() const;
    /// The bytes that the pool holds, in buffers or for later ones. They become less only when it ends.
    [[nodiscard]] std::size_t reserved_bytes() const;

    /// What keeps the pool's memory, and that of its later buffers: for StreamCapture::retain. Null if moved-from.
    [[nodiscard]] std::shared_ptr<const void> owner() const noexcept { return state_; }

  private:
    explicit CapturePool(std::shared_ptr<detail::PoolState> state) noexcept : state_(std::move(state)) {}
    void keep(std::shared_ptr<const void> owner);
    [[nodiscard]] std::shared_ptr<void> allocate(std::size_t count, std::size_t size, const SourceLocation& location);
    [[nodiscard]] detail::PoolState& state() const;

    std::shared_ptr<detail::PoolState> state_;
};

} // namespace cudag
