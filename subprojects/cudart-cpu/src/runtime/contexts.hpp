// The driver's contexts: which there are, and those of each thread.
#pragma once

#include <cuda.h>

#include <bitset>

namespace cudart_cpu::detail {

/// The numbers of multiprocessors that a context has. Those beyond the set are not told apart.
using MultiprocessorSet = std::bitset<640>;

/// The properties of a context. A green context has a part of its device's multiprocessors.
struct DriverContext {
    int device;
    unsigned flags;
    unsigned multiprocessors;
    bool is_green = false;
    unsigned concurrency = 0; ///< as configured for its queues; 0: it has those of its device
    int scope = 0;            ///< a CUdevWorkqueueConfigScope
    MultiprocessorSet set{};  ///< of a green context
};

/// A device's primary context is always alive: the runtime's calls make it current.
CUcontext primary_context(int device) noexcept;

CUcontext make_context(const DriverContext& context);
/// Ends a context other than a primary one, and makes it no thread's current one. Throws cudaErrorDeviceUninitialized,
/// the driver's CUDA_ERROR_INVALID_CONTEXT, if there is none.
void end_context(CUcontext handle);

/// Throws cudaErrorDeviceUninitialized for a dead handle.
DriverContext context_of(CUcontext handle);
[[nodiscard]] bool is_primary(CUcontext handle) noexcept;

/// Returns this thread's context; null if it has none.
CUcontext current_context() noexcept;
/// Throws cudaErrorDeviceUninitialized if this thread has no context, cudaErrorContextIsDestroyed if it is dead.
void require_current_context();

/// The context of the nodes that this thread makes: null for a primary one, as nodes without a context of their own
/// have that of the thread that asks.
[[nodiscard]] CUcontext context_for_nodes() noexcept;
/// Returns null for a primary context. Throws cudaErrorDeviceUninitialized for a dead handle.
[[nodiscard]] CUcontext separate_context(CUcontext handle);
/// Gives nodes made in its lifetime this context, or that of the device if it is null.
class NodesInContext {
  public:
    explicit NodesInContext(CUcontext handle) noexcept;
    NodesInContext(const NodesInContext&) = delete;
    NodesInContext& operator=(const NodesInContext&) = delete;
    ~NodesInContext();

  private:
    const CUcontext* previous_;
    CUcontext context_;
};

// Each thread has a stack of contexts, with the current one on top.

/// Replaces the current context, or adds one to an empty stack. Null removes the current context.
void set_current_context(CUcontext handle);
void push_context(CUcontext handle);
/// Returns the removed context.
CUcontext pop_context();
/// Makes the primary context of the thread's device the current one: the program has chosen the device.
void choose_primary_context() noexcept;

/// References to a primary context by the driver's calls. The runtime's own use counts as one more.
void retain_primary(int device) noexcept;
/// Returns false if nothing was retained.
bool release_primary(int device) noexcept;
void note_primary_use(int device) noexcept;
void forget_primary_use(int device) noexcept;
[[nodiscard]] bool is_primary_active(int device) noexcept;

} // namespace cudart_cpu::detail
