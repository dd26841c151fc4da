// The deleters of memory in buffers: a footprint recognises them behind an owner.
#pragma once

#include "cuda/memory_holders.hpp"
#include "cuda/no_waiting.hpp"

#include <cudag/source_location.hpp>

#include <memory>
#include <string>

namespace cudag::detail {

class PoolState;

/// Memory of a DeviceBuffer or a PinnedBuffer, outside of pools.
struct BufferRelease {
    /// Allocates: construct it before the memory.
    BufferRelease(const char* kind, bool on_host, const SourceLocation& where, void (*free)(void*))
        : release(free), holder(std::make_shared<MemoryHolder>(kind, std::string(), where)), is_host(on_host) {}
    void operator()(void* memory) const noexcept {
        release(memory);
        holder->set(0);
    }

    WaitingRelease release;
    std::shared_ptr<MemoryHolder> holder;
    bool is_host;
};

/// A buffer in a CapturePool.
struct PoolBlockRelease {
    void operator()(void* memory) noexcept;

    std::shared_ptr<PoolState> pool;
};

} // namespace cudag::detail
