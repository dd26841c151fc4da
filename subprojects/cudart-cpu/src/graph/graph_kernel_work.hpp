// Kernel nodes: a kernel's launch with its attributes.
#pragma once

#include "graph_work.hpp"
#include "kernel/kernel_attributes.hpp"
#include "kernel/node_arguments.hpp"

#include <vector_types.h>

namespace cudart_cpu::detail {

class DeviceParams;

/// The common form of the runtime's and the driver's parameter structures.
struct KernelParams {
    const KernelEntry& kernel;
    dim3 grid;
    dim3 block;
    unsigned shared_bytes;
    void* const* params;
    void* const* extra;
    std::optional<CUcontext> context = std::nullopt; ///< null: the device's primary one; none: that of other new nodes
    std::optional<int> device = std::nullopt;        ///< of its function or context; none: the current one
};

class KernelWork final : public Work {
  public:
    static constexpr cudaGraphNodeType node_type = cudaGraphNodeTypeKernel;

    /// Validates like the driver when a node is added or changed; copies the arguments.
    explicit KernelWork(const KernelParams& params, const KernelAttributes& attributes = {});

    /// Copies the launch of `other`, with other attributes.
    KernelWork(const KernelWork& other, const KernelAttributes& attributes);

    const KernelEntry& kernel() const noexcept { return kernel_; }
    dim3 grid() const noexcept { return grid_; }
    dim3 block() const noexcept { return block_; }
    unsigned shared_bytes() const noexcept { return shared_bytes_; }
    const NodeArguments& arguments() const noexcept { return arguments_; }
    const KernelAttributes& attributes() const noexcept { return attributes_; }

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override;
    std::string details() const override;
    void run() const override;
    bool can_be_disabled() const noexcept override { return true; }
    std::string refuse_device_launch() const override { return {}; }
    std::string refuse_clone() const override;
    std::string refuse_second_exec() const override;
    void attach(const void* exec, bool enabled) const override;
    void detach(const void* exec) const noexcept override;
    bool decides_whether_it_runs() const noexcept override { return device_params_ != nullptr; }
    std::optional<Refusal> refuse_node_update(const Work& next) const override;
    std::optional<Refusal> refuse_graph_update(const Work& next, bool fixed_priority) const override;

  private:
    std::shared_ptr<DeviceParams> make_device_params() const;

    const KernelEntry& kernel_;
    dim3 grid_;
    dim3 block_;
    unsigned shared_bytes_;
    NodeArguments arguments_;
    KernelAttributes attributes_;
    std::shared_ptr<DeviceParams> device_params_; // null unless kernels can update the node
};

} // namespace cudart_cpu::detail
