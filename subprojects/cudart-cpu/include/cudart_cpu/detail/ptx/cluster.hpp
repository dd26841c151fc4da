// Shared memory of the blocks of a cluster. An address of the space shared::cluster is an offset in a block's shared
// memory and, above it, the block's rank plus 1; without a rank it is in the thread's own block, as in shared::cta.
#pragma once

#include "mbarrier.hpp"
#include "thread_info.hpp"

namespace cudart_cpu::ptx {

inline constexpr u32 rank_at = 24; ///< the lowest bit of the rank

/// Returns the host's address.
inline u64 cluster_shared(Thread& t, u64 at) {
    const u64 own = address(t.block->shared);
    const u64 rank = at >> rank_at;
    return rank == 0 ? own + at
                     : cudart_cpu_map_shared(t, own + (at & ((1u << rank_at) - 1)), static_cast<u32>(rank) - 1);
}
/// Returns the address in shared::cluster of the block's instance of a shared variable.
inline u64 mapped(u64 at, u32 rank) {
    return (at & ((1u << rank_at) - 1)) | u64{rank + 1} << rank_at;
}
inline bool is_own_shared(Thread& t, u64 at) {
    return at - address(t.block->shared) < t.block->total_shared;
}
inline bool has_others(const Block& block) {
    return block.cluster.x * block.cluster.y * block.cluster.z > 1;
}
/// Converts a generic address into an address of shared::cluster.
inline u64 shared_from_generic(Thread& t, u64 at) {
    if (is_own_shared(t, at) || !has_others(*t.block)) return at - address(t.block->shared);
    const u32 rank = cudart_cpu_shared_rank(t, at);
    return rank == ~u32{0} ? at - address(t.block->shared)
                           : mapped(at - cudart_cpu_map_shared(t, address(t.block->shared), rank), rank);
}
/// Whether a generic address is in the shared memory of any block of the cluster.
inline bool is_cluster_shared(Thread& t, u64 at) {
    return is_own_shared(t, at) || (has_others(*t.block) && cudart_cpu_shared_rank(t, at) != ~u32{0});
}
/// Returns the rank of the block with a generic address.
inline u32 rank_of(Thread& t, u64 at) {
    return has_others(*t.block) ? cudart_cpu_shared_rank(t, at) : 0;
}
inline u32 rank_of_shared(Thread& t, u64 at) {
    return at >> rank_at == 0 ? cluster_rank(*t.block) : static_cast<u32>(at >> rank_at) - 1;
}

/// Copies to the same offset in each block of `ranks`, and completes the bytes at their barriers.
inline void copy_to_blocks(Thread& t, u64 to, u64 from, u32 bytes, u64 barrier, u32 ranks) {
    for (u32 left = ranks; left != 0; left &= left - 1) {
        const auto rank = static_cast<u32>(__builtin_ctz(left));
        copy(cluster_shared(t, mapped(to, rank)), from, bytes, bytes);
        mbarrier_complete(cluster_shared(t, mapped(barrier, rank)), bytes);
    }
}

} // namespace cudart_cpu::ptx
