// CapturePool: device memory shared by captured graphs, and available during a stream capture.
#pragma once

#include <cudag/buffer.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/owner_argument.hpp>
#include <cudag/footprint.hpp>
#include <cudag/released_memory.hpp>
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

/// The alignment of each block in bytes, as of cudaMalloc.
inline constexpr std::size_t pool_alignment = 256;

} // namespace detail

/// The number of a CapturePool, for code without access to its handle: parts of a program that share no objects. Never
/// reused.
struct PoolId {
    std::uint64_t value = 0; ///< 0: no pool
    friend bool operator==(const PoolId&, const PoolId&) = default;
};

/// The options of a CapturePool.
struct CapturePoolOptions {
    /// Lets `release` give the memory back to the device for a while. Such a pool takes memory in pieces of 2 MiB or
    /// more, by CUDA's virtual memory management: copies in it count as of another origin than those in other pools
    /// (see `Exec::update`).
    bool releasable = false;
};

/// Device memory for captured work. Allocation works also during a stream capture, in every mode, and adds no node
/// (unlike graph memory nodes): the graph uses the address, and the memory exists before the graph runs.
///
///     cudag::CapturePool pool("activations");
///     cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& capture) {
///         const auto scratch = pool.allocate<float>(1024);
///         capture.retain(pool); // later captures may use the memory again
///         library_call(capture.stream(), scratch.data(), 1024);
///     });
///
/// The memory of a buffer goes back to the pool, for later allocations, when the buffer's last owner lets go. It goes
/// back to CUDA only with the whole pool, or for a while by `release`. Buffers, and graphs that retain the pool, keep
/// it alive after this object:
/// - A graph that keeps a *buffer* (retained, or given as an owner to a node or to a captured launch) has the buffer's
///   memory for itself.
/// - A graph that retains the *pool*, and borrows from buffers (by span or pointer), keeps their memory valid. After
///   the buffers are gone, it shares the memory with later captures.
/// cudag does not order the users of shared memory. Graphs sharing memory must not run concurrently, and work using a
/// reused block must run after the work of the previous user, between streams and within a graph.
/// Move-only; a moved-from pool may only be assigned to or destroyed: other calls throw Error. Threads: all calls on
/// one pool may run concurrently, except moves and assignment; any thread may destroy its buffers.
class CUDAG_EXPORT CapturePool {
  public:
    /// Makes an empty pool on the current device; `label` and `location` name it in errors. Throws Error if there is no
    /// device, or it has no memory pools.
    explicit CapturePool(std::string_view label = {}, SourceLocation location = SourceLocation::current());
    CapturePool(std::string_view label, CapturePoolOptions options,
                SourceLocation location = SourceLocation::current());
    CapturePool(CapturePool&&) noexcept = default;
    CapturePool& operator=(CapturePool&&) noexcept = default;
    CapturePool(const CapturePool&) = delete;            // cudag: a CapturePool has one owner: std::move(pool)
    CapturePool& operator=(const CapturePool&) = delete; // cudag: a CapturePool has one owner: std::move(pool)

    /// Allocates `count` uninitialised elements on the pool's device, whichever is current: returned memory, if one
    /// piece is large enough, else new memory from CUDA. Any stream may use it at once. Nodes keep it as they keep any
    /// DeviceBuffer. `count` may be 0; then `data()` is null. Throws CaptureError if the pool is sealed, Error if CUDA
    /// lacks the memory or the size overflows.
    template <class Element = detail::NoElement>
    [[nodiscard]] DeviceBuffer<Element> allocate(std::size_t count,
                                                 SourceLocation location = SourceLocation::current()) {
        static_assert(!std::is_same_v<Element, detail::NoElement>,
                      "cudag: allocate needs the type of the elements: allocate<float>(count)");
        static_assert(alignof(Element) <= detail::pool_alignment,
                      "cudag: a CapturePool's memory is aligned to 256 bytes, the element type asks for more");
        return DeviceBuffer<Element>(allocate(count, sizeof(Element), location), count);
    }

    /// Returns the pool's number, for `find` and CaptureOptions::pool.
    [[nodiscard]] PoolId id() const;
    /// Returns another handle of the pool with number `id`. The pool lives as long as a handle, a buffer or a graph
    /// keeps it. Throws Error if the pool is gone or never existed. Thread-safe.
    [[nodiscard]] static CapturePool find(PoolId id);

    /// Keeps `owners` (DeviceBuffer, PinnedBuffer, shared_ptr), such as foreign memory borrowed by graphs, with the
    /// pool, and so with all graphs retaining it, until `clear`. Do not give the pool itself or its buffers: the pool
    /// would never end.
    template <detail::OwnerArgument... Owner>
    void record(const Owner&... owners) { // cudag: record(owner) keeps buffers and shared_ptrs
        static_assert(sizeof...(Owner) > 0, "cudag: record() needs at least one owner");
        static_assert((!std::is_same_v<Owner, CapturePool> && ...), "cudag: a pool that keeps a pool may never end");
        (keep(detail::owner_of(owners)), ...);
    }
    /// Returns the number of owners kept by `record` since the last `clear`.
    [[nodiscard]] std::size_t recorded_count() const;
    /// Drops all owners kept by `record`. Graphs retaining the pool must no longer use their memory.
    void clear();

    /// Makes `allocate` throw from now on: later captures must use the memory already allocated.
    void seal();
    /// Allows `allocate` again.
    void unseal();
    /// Returns whether the pool is sealed.
    [[nodiscard]] bool is_sealed() const;

    /// Returns whether the pool was made with `.releasable`.
    [[nodiscard]] bool is_releasable() const;
    /// Gives the pool's memory back to the device, for example while a server sleeps, and keeps its addresses.
    ///
    ///     cudag::CapturePool pool("activations", {.releasable = true});
    ///     const cudag::DeviceBuffer<float> scratch = pool.allocate<float>(1024);
    ///     pool.release(); // the server sleeps
    ///     pool.restore(); // every address, graph and Exec as before
    ///
    /// Waits for all work of the device; no other thread may launch work that uses the memory meanwhile. From then on,
    /// until `restore`:
    /// - A launch of an Exec throws Error if its graph keeps the pool or a buffer of it, or has an address in the
    ///   memory. cudag does not see launches by `native()`, launches by kernels, or work in streams outside of Execs:
    ///   they must not use the memory.
    /// - `allocate` throws CaptureError. Buffers may end; their memory goes back to the pool.
    /// Host memory keeps `options.contents`. Does nothing if the memory is released already. Throws Error, and
    /// changes nothing, if the pool is not releasable, if the host lacks the memory for the contents, or if CUDA
    /// refuses.
    ReleasedMemory release(ReleaseOptions options = {});
    /// Takes memory for all addresses again, with the contents kept by `release`, and waits for their copies. Returns
    /// the size in bytes; 0 if the memory is not released. Throws Error if the device lacks the memory: the pool then
    /// stays released, and the call can be repeated.
    std::size_t restore();
    /// Returns whether the memory is released at present.
    [[nodiscard]] bool is_released() const;

    /// Returns the number of live buffers of the pool, including buffers kept by graphs only; buffers without elements
    /// do not count.
    [[nodiscard]] std::size_t count() const;
    /// Returns the size of the live buffers in bytes.
    [[nodiscard]] std::size_t bytes() const;
    /// Returns the size of the pool's memory in bytes, in buffers or for later ones. It shrinks only when the pool
    /// ends, and is 0 while the memory is released.
    [[nodiscard]] std::size_t reserved_bytes() const;

    /// Returns the pool's name and memory, with the high-water mark of its buffers.
    [[nodiscard]] PoolFootprint memory() const;

    /// Returns the owner of the pool's memory, including later buffers, for StreamCapture::retain. Null if moved-from.
    [[nodiscard]] std::shared_ptr<const void> owner() const noexcept { return state_; }

  private:
    explicit CapturePool(std::shared_ptr<detail::PoolState> state) noexcept : state_(std::move(state)) {}
    void keep(std::shared_ptr<const void> owner);
    [[nodiscard]] std::shared_ptr<void> allocate(std::size_t count, std::size_t size, const SourceLocation& location);
    [[nodiscard]] detail::PoolState& state() const;

    std::shared_ptr<detail::PoolState> state_;
};

} // namespace cudag
