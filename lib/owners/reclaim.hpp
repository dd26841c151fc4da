// Destroys what launches have finished with, on the caller's thread.
#pragma once

#include <cudag/detail/owners.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

namespace cudag::detail {

/// Keeps `objects` with `graph`, its clones, its execs and their launches in flight, as one CUDA user object.
/// Throws GraphError and keeps nothing if CUDA refuses.
void keep_with_graph(cudaGraph_t graph, std::vector<std::shared_ptr<const void>>&& objects);

/// `objects` as a user object of `graph` while this lives: those that are instantiated meanwhile keep it, with their
/// launches in flight.
class KeptForExecs {
  public:
    /// Nothing for no objects. Throws GraphError if CUDA refuses.
    KeptForExecs(cudaGraph_t graph, std::vector<std::shared_ptr<const void>>&& objects);
    ~KeptForExecs();
    KeptForExecs(const KeptForExecs&) = delete;
    KeptForExecs& operator=(const KeptForExecs&) = delete;

  private:
    cudaGraph_t graph_;
    cudaUserObject_t object_ = nullptr;
};

/// The same for `owners` and the graph that `stream` is being captured into, by cudag or anybody else; nothing if the
/// stream is not captured.
void keep_with_capture(cudaStream_t stream, const Owners& owners);

/// Destroys every object that no launch can use any more. CUDA reports that from a callback, where no CUDA call is
/// allowed; owners free CUDA memory, so it happens here instead. Called by allocation, instantiation, synchronisation
/// and the destructors of Graph and Exec. Costs two loads if there is nothing to do.
void reclaim() noexcept;

} // namespace cudag::detail
