// Destruction of objects of finished launches, on the caller's thread.
#pragma once

#include <cudag/detail/owners.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace cudag::detail {

/// Keeps `objects` with `graph`, its clones, its execs and their launches in flight, as one CUDA user object: for uses
/// of the graph outside cudag. Each launch of such an exec costs about twice as much. Throws GraphError and keeps
/// nothing if CUDA rejects it.
cudaUserObject_t keep_with_graph(cudaGraph_t graph, std::vector<std::shared_ptr<const void>>&& objects);

/// The user objects given by cudag to a graph; they can be removed for a while.
class GivenObjects {
  public:
    /// Makes room for one more: adding it then cannot fail.
    void reserve() { objects_.reserve(objects_.size() + 1); }
    void add(cudaUserObject_t object) noexcept { objects_.push_back({object, false}); }
    /// Removes from `graph` the objects that CUDA releases.
    void take_from(cudaGraph_t graph) noexcept;
    /// Returns them to `graph`. If CUDA rejects one, for lack of memory, later uses of the graph outside cudag lack it.
    void return_to(cudaGraph_t graph) noexcept;

  private:
    struct Given {
        cudaUserObject_t object;
        bool is_taken;
    };
    std::vector<Given> objects_;
};

/// `owners` as a user object of `graph` during this object's life: execs instantiated from it meanwhile, or updated by
/// it, keep it, with their launches in flight.
class KeptForExecs {
  public:
    enum class Call : std::uint8_t { instantiate, update };

    /// No effect without owners. Throws InstantiateError or UpdateError if CUDA rejects it.
    KeptForExecs(cudaGraph_t graph, const Owners& owners, Call call);
    ~KeptForExecs();
    KeptForExecs(const KeptForExecs&) = delete;
    KeptForExecs& operator=(const KeptForExecs&) = delete;

  private:
    cudaGraph_t graph_;
    cudaUserObject_t object_ = nullptr;
};

/// Destroys all objects that no launch can use any longer, and frees memory left over by calls that must not wait. May
/// wait for the device, as freeing memory does. Called by allocation, synchronisation and the destructors of Graph and
/// Exec; no effect under NoWaiting. Costs three loads if there is nothing to do.
void reclaim() noexcept;

} // namespace cudag::detail
