// Records of an exec's nodes: which have begun, and which have ended.
#pragma once

#include "cuda/unfinished.hpp"
#include "mark_layout.hpp"

#include <cudag/buffer.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cudag::detail {

class GraphState;

/// The marks of one exec in page-locked memory, and the names of its nodes. It must stay until the exec's last launch
/// has ended. All live recorders together answer `unfinished_nodes()`.
class Recorder {
  public:
    /// Makes the recorder for an exec of `graph`, a root with numbered nodes and complete native edges, without marks.
    [[nodiscard]] static std::shared_ptr<Recorder> make(const GraphState& graph);
    explicit Recorder(const GraphState& graph);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    /// Names the exec, once it exists.
    void set_exec(cudaGraphExec_t exec) noexcept;
    /// Returns the recorder of a live exec; null if it has none.
    [[nodiscard]] static std::shared_ptr<Recorder> find(cudaGraphExec_t exec);

    /// The words that marks set to 1: when node `number` of the root begins, and when it ends. The words of the nodes
    /// of a graph are adjacent: `begin_word(first)` and the following `2 * count` words.
    [[nodiscard]] std::uint32_t* begin_word(std::size_t number) const noexcept { return words_ + 2 * number; }
    [[nodiscard]] std::uint32_t* end_word(std::size_t number) const noexcept { return words_ + 2 * number + 1; }

    /// Adds the nodes that have begun and not ended to `found`.
    void list(std::vector<UnfinishedNode>& found) const;

  private:
    struct Node {
        UnfinishedNode name{};
        std::uint32_t outer = 0;            ///< number of the node around it
        std::vector<std::uint32_t> after{}; ///< numbers of the nodes that begin after its end
    };

    void add(const GraphState& graph, std::uint32_t outer);
    [[nodiscard]] bool is_unfinished(std::size_t number) const noexcept;

    PinnedBuffer<std::uint32_t> memory_;
    std::uint32_t* words_;
    std::vector<Node> nodes_; ///< by number
    cudaGraphExec_t exec_ = nullptr;
};

} // namespace cudag::detail
