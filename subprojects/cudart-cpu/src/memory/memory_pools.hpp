// The pools that there are: one for each device, and those that the user makes.
#pragma once

#include "memory_pool.hpp"

namespace cudart_cpu::detail {

cudaMemPool_t register_pool(std::shared_ptr<MemoryPool> pool);
/// These throw Failure for handles of what is not alive.
std::shared_ptr<MemoryPool> pool_of(cudaMemPool_t handle);
void destroy_pool(cudaMemPool_t handle);

cudaMemPool_t default_pool(int device);
/// From which cudaMallocAsync allocates.
cudaMemPool_t current_pool(int device);
void set_current_pool(int device, cudaMemPool_t pool);

} // namespace cudart_cpu::detail
