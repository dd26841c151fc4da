// Kernel nodes updated by kernels.
#include "device_node.hpp"

#include "launch_context.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/log.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace cudart_cpu::detail {

namespace {

std::mutex& table_mutex() {
    static auto& mutex = *new std::mutex;
    return mutex;
}

std::unordered_map<cudaGraphDeviceNode_t, std::weak_ptr<DeviceNode>>& device_nodes() {
    static auto& nodes = *new std::unordered_map<cudaGraphDeviceNode_t, std::weak_ptr<DeviceNode>>;
    return nodes;
}

std::shared_ptr<DeviceNode> find_device_node(cudaGraphDeviceNode_t handle) {
    const std::lock_guard lock(table_mutex());
    const auto found = device_nodes().find(handle);
    return found == device_nodes().end() ? nullptr : found->second.lock();
}

/// Makes one update by a kernel. `change` returns whether the update was possible.
template <class Change>
cudaError_t update(cudaGraphDeviceNode_t handle, Change&& change) {
    const auto node = find_device_node(handle);
    const auto params = node ? node->params() : nullptr;
    if (!params) {
        log_error(text("device node ", handle, " is none of an executable graph"));
        return cudaErrorInvalidValue;
    }
    const LaunchContext* context = current_launch();
    if (context && context->exec == node->exec() && !context->was_uploaded) {
        log_error("a graph whose nodes its own kernels update must be uploaded before it is launched");
        return cudaErrorInvalidValue;
    }
    return change(*params) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t apply(const cudaGraphKernelNodeUpdate& one) {
    return update(one.node, [&](DeviceParams& params) {
        switch (one.field) {
        case cudaGraphKernelNodeFieldGridDim:
            return params.set_grid(one.updateData.gridDim);
        case cudaGraphKernelNodeFieldParam:
            return params.set_param(one.updateData.param.offset, one.updateData.param.pValue,
                                    one.updateData.param.size);
        case cudaGraphKernelNodeFieldEnabled:
            params.set_enabled(one.updateData.isEnabled != 0);
            return true;
        default:
            return false;
        }
    });
}

} // namespace

void DeviceParams::run() const {
    std::unique_lock lock(mutex_);
    if (!enabled_) return;
    const dim3 grid = grid_;
    const NodeArguments arguments = arguments_;
    lock.unlock();
    run_kernel(kernel_, grid, block_, arguments.pointers());
}

bool DeviceParams::set_param(std::size_t offset, const void* value, std::size_t bytes) {
    const std::vector<std::size_t> offsets = packed_offsets(kernel_);
    if (!value || offset > offsets.back() || bytes > offsets.back() - offset) return false;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < kernel_.params.size(); ++i) {
        const std::size_t begin = std::max(offset, offsets[i]);
        const std::size_t end = std::min(offset + bytes, offsets[i] + kernel_.params[i].size);
        if (begin < end)
            std::memcpy(static_cast<std::byte*>(arguments_.pointers()[i]) + (begin - offsets[i]),
                        static_cast<const std::byte*>(value) + (begin - offset), end - begin);
    }
    return true;
}

bool DeviceParams::set_grid(dim3 grid) {
    const auto fits = [](unsigned size, unsigned max) { return size > 0 && size <= max; };
    if (!fits(grid.x, max_grid[0]) || !fits(grid.y, max_grid[1]) || !fits(grid.z, max_grid[2])) return false;
    const std::lock_guard lock(mutex_);
    grid_ = grid;
    return true;
}

void DeviceParams::set_enabled(bool enabled) {
    const std::lock_guard lock(mutex_);
    enabled_ = enabled;
}

DeviceNode::DeviceNode() : handle_(reinterpret_cast<cudaGraphDeviceNode_t>(next_handle())) {}

DeviceNode::~DeviceNode() {
    const std::lock_guard lock(table_mutex());
    device_nodes().erase(handle_);
}

void DeviceNode::attach(const void* exec, std::shared_ptr<DeviceParams> params) {
    const std::lock_guard lock(mutex_);
    exec_ = exec;
    params_ = std::move(params);
}

void DeviceNode::detach(const void* exec) noexcept {
    const std::lock_guard lock(mutex_);
    if (exec_ == exec) params_ = nullptr;
}

std::shared_ptr<DeviceParams> DeviceNode::params() const {
    const std::lock_guard lock(mutex_);
    return params_;
}

const void* DeviceNode::exec() const {
    const std::lock_guard lock(mutex_);
    return exec_;
}

std::shared_ptr<DeviceNode> make_device_node() {
    auto node = std::make_shared<DeviceNode>();
    const std::lock_guard lock(table_mutex());
    device_nodes().emplace(node->handle(), node);
    return node;
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

// Called by kernels.

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t node, size_t offset,
                                                                 const void* value, size_t size) {
    return update(node, [&](DeviceParams& params) { return params.set_param(offset, value, size); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeSetEnabled(cudaGraphDeviceNode_t node, bool enable) {
    return update(node, [&](DeviceParams& params) {
        params.set_enabled(enable);
        return true;
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeSetGridDim(cudaGraphDeviceNode_t node, dim3 grid) {
    return update(node, [&](DeviceParams& params) { return params.set_grid(grid); });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaGraphKernelNodeUpdatesApply(const cudaGraphKernelNodeUpdate* updates,
                                                                     size_t updateCount) {
    if (!updates) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < updateCount; ++i)
        if (const cudaError_t code = apply(updates[i]); code != cudaSuccess) return code;
    return cudaSuccess;
}
