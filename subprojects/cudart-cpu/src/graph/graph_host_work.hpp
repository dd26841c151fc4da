// Host and empty nodes.
#pragma once

#include "graph_work.hpp"

#include <driver_types.h>

namespace cudart_cpu::detail {

class HostWork final : public Work {
  public:
    static constexpr cudaGraphNodeType node_type = cudaGraphNodeTypeHost;

    explicit HostWork(const cudaHostNodeParams& params, unsigned sync_mode = 0);

    const cudaHostNodeParams& params() const noexcept { return params_; }
    /// A cudaHostTaskSyncMode, of CUDA 13.1: kept, without effect.
    unsigned sync_mode() const noexcept { return sync_mode_; }

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override { return "host"; }
    std::string details() const override;
    void run() const override;

  private:
    cudaHostNodeParams params_;
    unsigned sync_mode_;
};

class EmptyWork final : public Work {
  public:
    cudaGraphNodeType type() const noexcept override { return cudaGraphNodeTypeEmpty; }
    std::string title() const override { return "empty"; }
    std::optional<BodyRefusal> refuse_in_body() const override { return std::nullopt; }
    std::string refuse_device_launch() const override { return "Empty nodes are not supported within device graphs"; }
    void run() const override {}
};

} // namespace cudart_cpu::detail
