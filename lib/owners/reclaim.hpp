// Destroys what launches have finished with, on the caller's thread.
#pragma once

#include <cudag/detail/owners.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

namespace cudag::detail {

/// Keeps `objects` with `graph`, its clones, its execs and their launches in flight, as one CUDA user object: for what
/// others make of the graph. Each launch of such an exec costs about twice as much. Throws GraphError and keeps nothing
/// if CUDA refuses.
cudaUserObject_t keep_with_graph(cudaGraph_t graph, std::vector<std::shared_ptr<const void>>&& objects);

/// The user objects of a graph that cudag has given it, which can be taken out of it for a while.
class GivenObjects {
  public:
    /// Room for one more: adding it then cannot fail.
    void reserve() { objects_.reserve(objects_.size() + 1); }
    void add(cudaUserObject_t object) noexcept { objects_.push_back({object, false}); }
    /// Takes from `graph` those that CUDA lets go.
    void take_from(cudaGraph_t graph) noexcept;
    /// Gives them back. Those that CUDA refuses are lost to what others make of the graph: it has no memory then.
    void return_to(cudaGraph_t graph) noexcept;

  private:
    struct Given {
        cudaUserObject_t object;
        bool is_taken;
    };
    std::vector<Given> objects_;
};

/// `owners` as a user object of `graph` while this lives: those that are instantiated meanwhile keep it, with their
/// launches in flight.
class KeptForExecs {
  public:
    /// Nothing for no owners. Throws GraphError if CUDA refuses.
    KeptForExecs(cudaGraph_t graph, const Owners& owners);
    ~KeptForExecs();
    KeptForExecs(const KeptForExecs&) = delete;
    KeptForExecs& operator=(const KeptForExecs&) = delete;

  private:
    cudaGraph_t graph_;
    cudaUserObject_t object_ = nullptr;
};

/// Destroys every object that no launch can use any more, and frees what calls that must not wait have left over: this
/// may wait for the device, as freeing memory does. Called by allocation, synchronisation and the destructors of Graph
/// and Exec; does nothing under NoWaiting. Costs three loads if there is nothing to do.
void reclaim() noexcept;

} // namespace cudag::detail
