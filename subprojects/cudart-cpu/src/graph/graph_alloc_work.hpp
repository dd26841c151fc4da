// Alloc and free nodes.
#pragma once

#include "graph_memory.hpp"
#include "graph_model.hpp"

#include <driver_types.h>

#include <vector>

namespace cudart_cpu::detail {

/// The common part of alloc and free nodes: restrictions on them, and on the graphs with them.
class MemoryNodeWork : public Work {
  public:
    explicit MemoryNodeWork(GraphAllocationPointer allocation) : allocation_(std::move(allocation)) {}

    const GraphAllocationPointer& allocation() const noexcept { return allocation_; }
    void* address() const noexcept { return allocation_->memory->address(); }

    std::string refuse_clone() const override;
    std::string refuse_second_exec() const override;
    std::string refuse_as_child(ChildOwnership ownership) const override;
    std::optional<Refusal> refuse_node_update(const Work& next) const override;

  private:
    GraphAllocationPointer allocation_;
};

class AllocWork final : public MemoryNodeWork {
  public:
    static constexpr cudaGraphNodeType node_type = cudaGraphNodeTypeMemAlloc;

    /// Replaces the address in `params` by that of the allocation.
    AllocWork(const cudaMemAllocNodeParams& params, GraphAllocationPointer allocation);

    /// The access descriptors belong to this object.
    cudaMemAllocNodeParams params() const noexcept;

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override;
    std::string details() const override;
    void run() const override;
    void attach(const void* exec, bool enabled) const override;
    void detach(const void* exec) const noexcept override;

  private:
    cudaMemAllocNodeParams params_;
    std::vector<cudaMemAccessDesc> access_;
};

class FreeWork final : public MemoryNodeWork {
  public:
    static constexpr cudaGraphNodeType node_type = cudaGraphNodeTypeMemFree;

    using MemoryNodeWork::MemoryNodeWork;

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override { return "free"; }
    std::string details() const override;
    void run() const override;
    void added_to(const Graph& graph) const override;
};

/// Make the work of a node of `target` after the nodes `before`: edges added later do not help to reuse memory. Throw
/// Failure if CUDA forbids it.
std::shared_ptr<AllocWork> make_alloc_work(const cudaMemAllocNodeParams& params, const Graph& target,
                                           const std::vector<Node*>& before, bool by_capture = false);
std::shared_ptr<FreeWork> make_free_work(const void* address, const Graph& target, bool by_capture = false);

/// Forbids further free nodes in an instantiated graph for its own allocations.
void fix_allocations(const Graph& graph);

} // namespace cudart_cpu::detail
