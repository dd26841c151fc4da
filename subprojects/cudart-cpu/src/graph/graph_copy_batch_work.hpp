// Nodes for batches of copies: CUDA 13.5. No GPU here has had them: the rules are those in the comments of CUDA's
// headers.
#pragma once

#include "graph_memory_work.hpp"

#if CUDART_VERSION >= 13050

#include <memory>
#include <vector>

namespace cudart_cpu::detail {

class CopyBatchWork final : public Work {
  public:
    static constexpr cudaGraphNodeType node_type = cudaGraphNodeTypeMemcpyBatch;

    /// Copies the arrays. Throws Failure as for a batch in a stream, and for copies that no memcpy node can be.
    explicit CopyBatchWork(const cudaMemcpyBatchNodeParams& params);

    /// The pointers point into this object.
    cudaMemcpyBatchNodeParams params() const noexcept;

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override;
    std::string details() const override;
    /// Runs the copies from the last to the first: their order means nothing.
    void run() const override;
    bool can_be_disabled() const noexcept override { return true; }
    bool is_staged() const noexcept override;
    WorkPointer staged() const override;
    bool holds_launch() const noexcept override;
    std::string refuse_operands(const Work* current) const override;
    std::optional<Refusal> refuse_node_update(const Work& next) const override;
    std::optional<Refusal> refuse_graph_update(const Work& next, bool fixed_priority) const override;

  private:
    template <class Refuse>
    std::optional<Refusal> refuse_update(const CopyBatchWork& next, const Refuse& refuse_copy) const;

    std::vector<void*> destinations_;
    std::vector<void*> sources_;
    std::vector<std::size_t> sizes_;
    std::vector<cudaMemcpyAttributes> attributes_;
    std::vector<std::size_t> first_of_attributes_;
    std::vector<WorkPointer> copies_; ///< MemcpyWork; null for a size of 0, which disables the copy
};

} // namespace cudart_cpu::detail

#endif
