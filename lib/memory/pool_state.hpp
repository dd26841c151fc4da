// The state behind CapturePool: blocks of CUDA memory, in use or free.
#pragma once

#include "virtual_memory.hpp"

#include "cuda/failure.hpp"
#include "cuda/memory_holders.hpp"

#include <cudag/footprint.hpp>
#include <cudag/released_memory.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag::detail {

/// The blocks of a pool. They stay allocated until the state dies, because a graph may use them again at any launch.
/// Freeing them in stream order would not work: CUDA takes unused memory back from a pool when memory is short
/// elsewhere, whatever the pool's release threshold (seen on driver 580).
class PoolState : public std::enable_shared_from_this<PoolState> {
  public:
    PoolState(std::string_view label, bool is_releasable, const SourceLocation& location);
    /// Waits for the device, since work in flight may use the memory.
    ~PoolState();
    PoolState(const PoolState&) = delete;
    PoolState& operator=(const PoolState&) = delete;

    /// Allocates a block of `count * size` bytes. It returns to the pool with its last owner.
    [[nodiscard]] std::shared_ptr<void> allocate(std::size_t count, std::size_t size, const SourceLocation& location);

    /// The pool's id; makes the pool visible to `find`.
    [[nodiscard]] std::uint64_t id();
    /// The pool with `id`; null if there is none.
    [[nodiscard]] static std::shared_ptr<PoolState> find(std::uint64_t id);
    /// Keeps `owner` until `clear`.
    void keep(std::shared_ptr<const void> owner);
    void clear();
    /// The number of owners kept.
    [[nodiscard]] std::size_t recorded_count() const;

    void set_sealed(bool sealed);
    [[nodiscard]] bool is_sealed() const;
    [[nodiscard]] std::size_t count() const;
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] std::size_t reserved_bytes() const;
    [[nodiscard]] PoolFootprint footprint() const;

    [[nodiscard]] bool is_releasable() const noexcept { return virtual_.has_value(); }
    [[nodiscard]] bool is_released() const;
    /// Gives the memory back to the device. Returns nothing but zeros if it is released already.
    [[nodiscard]] ReleasedMemory release(const ReleaseOptions& options);
    /// Takes the memory again. Returns its size; 0 if it is not released.
    std::size_t restore();

    /// A pool, and the number of the block in use there. Blocks of all pools have different numbers.
    struct Place {
        const PoolState* pool = nullptr; ///< null: the address is in no pool
        std::uint64_t block = 0;         ///< 0: the memory is free
    };
    /// Finds the place of an address in the live pools.
    [[nodiscard]] static Place place_of(const void* address) noexcept;

  private:
    friend struct PoolBlockRelease;
    /// Sizes and addresses: the smallest sufficient block is found in logarithmic time.
    using FreeBlocks = std::set<std::pair<std::size_t, std::byte*>>;
    struct Block {
        std::size_t bytes = 0;
        std::size_t used = 0;       ///< requested bytes; 0: free
        bool is_first = false;      ///< the first block of an allocation of CUDA
        FreeBlocks::node_type free; ///< its element for the free blocks, while in use: give_back() must not allocate
        std::uint64_t number = 0;   ///< of its present use
    };
    using Blocks = std::map<std::byte*, Block>;

    /// Delegated to by the other constructor, so that the destructor cleans up if that throws.
    PoolState() noexcept = default;

    /// Makes an element for the free blocks, without inserting it.
    [[nodiscard]] static FreeBlocks::node_type make_free();
    /// Move a block into `free_`, and out of it.
    void set_free(Blocks::iterator block) noexcept;
    void set_taken(Blocks::iterator block) noexcept;

    [[nodiscard]] Blocks::iterator smallest_free(std::size_t bytes);
    /// Obtains a free block of new memory. Throws Error.
    [[nodiscard]] Blocks::iterator obtain(std::size_t bytes, Subject&& subject);
    /// Takes a free block, or its first `bytes`.
    void take(Blocks::iterator block, std::size_t bytes);
    [[nodiscard]] const Block* find_block(const void* address) const noexcept;
    void give_back(std::byte* address) noexcept;
    void absorb_next(Blocks::iterator block) noexcept;

    /// Memory to keep during a release, and its place in the host's copy.
    struct Kept {
        std::byte* address;
        std::size_t bytes;
        std::size_t at;
    };
    /// The contents of a released pool, in host memory.
    struct HostCopy {
        std::vector<Kept> parts;
        std::size_t bytes = 0;
        std::unique_ptr<std::byte[]> data = nullptr;
    };

    [[nodiscard]] Subject subject_of(const char* call) const;
    [[nodiscard]] std::byte* obtain_from_cuda(std::size_t bytes, Subject&& subject);
    [[nodiscard]] HostCopy parts_to_keep(KeptContents contents) const;
    void copy_to_host(HostCopy& copy) const;
    void copy_from_host(const HostCopy& copy) const;
    void begin_release();
    void end_release() noexcept;
    /// Waits for all work of the device, without breaking captures.
    void wait_for_device();

    std::string name_;
    std::string label_;
    cudaMemPool_t pool_ = nullptr;         ///< null if releasable
    std::optional<VirtualMemory> virtual_; ///< the memory of a releasable pool
    cudaStream_t stream_ = nullptr;        ///< only for the allocator: never captured, always idle
    void* waits_ = nullptr;                ///< a byte of cudaMalloc, since freeing it waits for the device

    std::uint64_t id_ = 0;

    std::mutex release_mutex_; ///< of releases and restorations; taken before the other one
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<const void>> owners_; ///< of other objects
    Blocks blocks_;
    FreeBlocks free_;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
    std::size_t bytes_high_ = 0;
    std::size_t reserved_ = 0;
    std::optional<MemoryHolder> holder_; ///< of the reserved memory
    bool sealed_ = false;
    bool is_released_ = false;
    HostCopy kept_; ///< while released
};

} // namespace cudag::detail
