// Kernel nodes updated by kernels.
#pragma once

#include "node_arguments.hpp"

#include <cuda_runtime_api.h>

#include <mutex>

namespace cudart_cpu::detail {

/// The parameters of a device-updatable node: first as set by the host, then as changed by kernels.
class DeviceParams {
  public:
    DeviceParams(const KernelEntry& kernel, dim3 grid, dim3 block, const NodeArguments& arguments)
        : kernel_(kernel), grid_(grid), block_(block), arguments_(arguments) {}

    void run() const;

    /// set_param and set_grid return false, and change nothing, if the value is impossible.
    bool set_param(std::size_t offset, const void* value, std::size_t bytes);
    bool set_grid(dim3 grid);
    void set_enabled(bool enabled);

  private:
    const KernelEntry& kernel_;
    mutable std::mutex mutex_;
    dim3 grid_;
    dim3 block_;
    bool enabled_ = true;
    NodeArguments arguments_;
};

/// The node behind a kernel's handle.
class DeviceNode {
  public:
    DeviceNode();
    DeviceNode(const DeviceNode&) = delete;
    DeviceNode& operator=(const DeviceNode&) = delete;
    ~DeviceNode();

    cudaGraphDeviceNode_t handle() const noexcept { return handle_; }

    /// Notes that `exec` runs the node, with `params` from now on.
    void attach(const void* exec, std::shared_ptr<DeviceParams> params);
    void detach(const void* exec) noexcept;
    /// Returns null if no exec runs the node.
    std::shared_ptr<DeviceParams> params() const;
    const void* exec() const;

  private:
    cudaGraphDeviceNode_t handle_ = nullptr;
    mutable std::mutex mutex_;
    const void* exec_ = nullptr;
    std::shared_ptr<DeviceParams> params_;
};

std::shared_ptr<DeviceNode> make_device_node();

} // namespace cudart_cpu::detail
