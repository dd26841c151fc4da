// Nodes for batches of memory operations, which only the driver knows: waits for values, and writes of values.
#pragma once

#include "graph_work.hpp"

#include <cuda.h>

#include <vector>

namespace cudart_cpu::detail {

/// A checked list of operations, performed in order.
class MemOps {
  public:
    /// Copies the array. Throws Failure for unknown operations and flags, and for addresses that are not aligned.
    MemOps(const CUstreamBatchMemOpParams* operations, unsigned count, unsigned flags);

    const std::vector<CUstreamBatchMemOpParams>& list() const noexcept { return list_; }
    /// Throws Failure for memory without memory operations. The driver looks at it in streams' calls and in launches.
    void require_memory() const;
    /// Blocks while a value is awaited.
    void run() const;

  private:
    std::vector<CUstreamBatchMemOpParams> list_;
};

class MemOpWork final : public Work {
  public:
    static constexpr auto node_type = static_cast<cudaGraphNodeType>(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);

    explicit MemOpWork(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& params);

    /// The pointer points into this object.
    CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 params() const noexcept;

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override { return text(operations_.list().size(), " memory operations"); }
    std::string details() const override;
    void run() const override { operations_.run(); }
    std::shared_ptr<const Work> staged() const override;
    bool is_staged() const noexcept override { return true; }
    std::optional<Refusal> refuse_node_update(const Work& next) const override {
        return refuse_graph_update(next, false);
    }
    std::optional<Refusal> refuse_graph_update(const Work& next, bool) const override;

  private:
    MemOps operations_;
    CUcontext context_;
};

} // namespace cudart_cpu::detail
