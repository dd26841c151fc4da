// All memory pools: one for each device, and those of the user.
#pragma once

#include "memory_pool.hpp"

namespace cudart_cpu::detail {

cudaMemPool_t register_pool(std::shared_ptr<MemoryPool> pool);
/// These throw Failure for dead handles.
std::shared_ptr<MemoryPool> pool_of(cudaMemPool_t handle);
void destroy_pool(cudaMemPool_t handle);

cudaMemPool_t default_pool(int device);
/// Returns the pool used by cudaMallocAsync.
cudaMemPool_t current_pool(int device);
void set_current_pool(int device, cudaMemPool_t pool);

} // namespace cudart_cpu::detail
