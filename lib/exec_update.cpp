// Updates of single nodes: CUDA first, the shadow after it has agreed.
#include <cudag/exec.hpp>

#include "driver.hpp"
#include "exec_state.hpp"
#include "failure.hpp"
#include "host_call.hpp"
#include "launch_check.hpp"
#include "operands.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

Subject subject_of(const ExecNode& node) {
    return node.subject("update of ");
}

/// The arguments that `call` gives, and for the rest those that are in force.
class MergedValues {
  public:
    MergedValues(const KernelCall& call, const Shadow& shadow) {
        if (call.block != nullptr) return;
        const std::uint32_t count = call.signature->count;
        if (count > few_.size()) many_.resize(count);
        void** values = count > few_.size() ? many_.data() : few_.data();
        for (std::uint32_t i = 0; i < count; ++i)
            values[i] =
                call.values[i] != nullptr ? call.values[i] : shadow.values + call.signature->parameters[i].offset;
        pointers_ = values;
    }
    MergedValues(const MergedValues&) = delete;
    MergedValues& operator=(const MergedValues&) = delete;

    /// Null if `call` gives all of them.
    [[nodiscard]] void* const* pointers() const noexcept { return pointers_; }

  private:
    std::array<void*, 64> few_;
    std::vector<void*> many_;
    void* const* pointers_ = nullptr;
};

/// Notes what CUDA has accepted.
void store_values(const KernelCall& call, Shadow& shadow) noexcept {
    if (call.block != nullptr) {
        std::memcpy(shadow.values, call.block, call.signature->bytes);
        return;
    }
    for (std::uint32_t i = 0; i < call.signature->count; ++i)
        if (call.values[i] != nullptr)
            std::memcpy(shadow.values + call.signature->parameters[i].offset, call.values[i],
                        call.signature->parameters[i].size);
}

const char* name_of(cudaMemcpyKind kind) {
    switch (kind) {
    case cudaMemcpyHostToHost:
        return "host to host";
    case cudaMemcpyHostToDevice:
        return "host to device";
    case cudaMemcpyDeviceToHost:
        return "device to host";
    case cudaMemcpyDeviceToDevice:
        return "device to device";
    default:
        return "default";
    }
}

} // namespace

void update_kernel(ExecState& exec, const Node& node, const KernelCall& call, Owners&& owners) {
    const ExecNode target = exec.node_of(node);
    const KernelParams& original = *std::get<const KernelParams*>(target.record().params);
    Shadow& shadow = exec.shadow(target);
    const LaunchConfig& config = call.config != nullptr ? *call.config : shadow.config;
    const MergedValues merged(call, shadow);
    OwnerVersions next = next_owners(shadow, std::move(owners), call.values);

    bind_context();
    const CUDA_KERNEL_NODE_PARAMS native =
        driver_params(original.function, config, call.block != nullptr ? call.values : merged.pointers());
    const CUresult result = driver().graph_exec_kernel_node_set_params(exec.native(), target.native(), &native);
    if (result != CUDA_SUCCESS) [[unlikely]]
        raise_launch<UpdateError>(to_runtime(result), "cuGraphExecKernelNodeSetParams", subject_of(target), Api::driver,
                                  config, original.symbol);

    if (call.config != nullptr) shadow.config = config;
    store_values(call, shadow);
    exec.commit(shadow, std::move(next));
}

void update_memcpy(ExecState& exec, const Node& node, const CopyParams& copy, Owners&& owners) {
    const ExecNode target = exec.node_of(node);
    require_copy<UpdateError>(copy, [&] { return subject_of(target); });
    const auto* original = std::get_if<const CopyParams*>(&target.record().params);
    if (original != nullptr && (*original)->kind != copy.kind)
        refuse<UpdateError>(fmt::format("the direction is {}, the update is {}; CUDA fixes it when the graph is made",
                                        name_of((*original)->kind), name_of(copy.kind)),
                            subject_of(target));
    Shadow& shadow = exec.shadow(target);
    OwnerVersions next = next_owners(shadow, std::move(owners), nullptr);
    const cudaError_t status =
        cudaGraphExecMemcpyNodeSetParams1D(exec.native(), target.native(), copy.destination, copy.source,
                                           copy.source_size * copy.element_bytes, copy.kind);
    if (status != cudaSuccess)
        raise_call<UpdateError>(status, "cudaGraphExecMemcpyNodeSetParams1D", subject_of(target));
    exec.commit(shadow, std::move(next));
}

void update_memset(ExecState& exec, const Node& node, const SetParams& set, Owners&& owners) {
    const ExecNode target = exec.node_of(node);
    require_set<UpdateError>(set, [&] { return subject_of(target); });
    Shadow& shadow = exec.shadow(target);
    OwnerVersions next = next_owners(shadow, std::move(owners), nullptr);
    const cudaMemsetParams native = runtime_params(set);
    const cudaError_t status = cudaGraphExecMemsetNodeSetParams(exec.native(), target.native(), &native);
    if (status != cudaSuccess) raise_call<UpdateError>(status, "cudaGraphExecMemsetNodeSetParams", subject_of(target));
    exec.commit(shadow, std::move(next));
}

void update_host(ExecState& exec, const Node& node, HostTask&& task) {
    const ExecNode target = exec.node_of(node);
    const auto owned = std::make_shared<HostTask>(std::move(task));
    Shadow& shadow = exec.shadow(target);
    OwnerVersions next = next_owners(shadow, Owners{{0, owned}}, nullptr);
    const cudaHostNodeParams native{run_host_task, owned.get()};
    const cudaError_t status = cudaGraphExecHostNodeSetParams(exec.native(), target.native(), &native);
    if (status != cudaSuccess) raise_call<UpdateError>(status, "cudaGraphExecHostNodeSetParams", subject_of(target));
    exec.commit(shadow, std::move(next));
}

} // namespace cudag::detail
