// Launches of kernels.
#pragma once

#include "access.hpp"
#include "cuda/driver.hpp"
#include "native_result.hpp"

#include <cudag/condition.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/launch_shape.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace cudag::detail {

class Fields;

/// `values` holds the arguments as `signature` lays them out.
struct alignas(std::max_align_t) KernelParams {
    CUfunction function; ///< of one device
    const void* symbol;  ///< null for a node that cudag did not make
    const KernelSignature* signature;
    LaunchShape shape;
    std::byte* values;
    CUkernel kernel = nullptr;                ///< of all devices; null for a node that cudag made
    const LaunchConfig* attributes = nullptr; ///< of its shape nothing counts; null if no attribute is given
    cudaGraphNode_t unread = nullptr;         ///< has attributes that are not known yet: see full_config
    CUcontext context = nullptr;              ///< a green one, or the program's own; null: the device's primary one
};
/// The configuration, as far as it is read.
[[nodiscard]] LaunchConfig config_of(const KernelParams& kernel) noexcept;
/// Gives `copy`, an OwnedParams made when it was unread, the attributes of `config`.
void store_attributes(KernelParams& copy, const LaunchConfig& config) noexcept;

/// Whether a type says what the parameters are: such a signature lives for ever, others in their graph.
[[nodiscard]] inline bool is_typed(const KernelSignature& signature) noexcept {
    return signature.count != 0 && signature.parameters[0].cpp_type != nullptr;
}
/// Whether a block of one holds the arguments of the other.
[[nodiscard]] bool same_layout(const KernelSignature& a, const KernelSignature& b) noexcept;
/// Whether all types are known, and equal.
[[nodiscard]] bool same_types(const KernelSignature& a, const KernelSignature& b) noexcept;
/// Whether both launch one kernel, or such whose names tell the same types of parameters: for nodes that cudag did not
/// make, of which CUDA knows the sizes only.
[[nodiscard]] bool same_kernel_types(const KernelParams& a, const KernelParams& b);

/// The signature of a kernel after a call that gives the parameters of which `values` are not null, as `given` has
/// them; the others stay as `former` has them. Both must have the same types. Lives for ever.
[[nodiscard]] const KernelSignature& merged_signature(const KernelSignature& given, const KernelSignature& former,
                                                      void* const* values);

/// Whether kernels have a Condition there, or its handle, with which a Condition begins.
[[nodiscard]] inline bool is_condition(const Parameter& parameter) noexcept {
    return parameter.type == ParameterType::condition;
}

/// Copies the values that `call` gives to where its signature has them in `block`.
void copy_values(const KernelCall& call, std::byte* block) noexcept;

/// Each needs a context: see bind_context.
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const KernelParams& kernel);
[[nodiscard]] inline NativeResult set_native(const NodeTarget& target, const CUDA_KERNEL_NODE_PARAMS& params) {
    if (target.exec != nullptr)
        return {to_runtime(call_in_context(params,
                                           [target](const CUDA_KERNEL_NODE_PARAMS& given) {
                                               return driver().graph_exec_kernel_node_set_params(target.exec,
                                                                                                 target.node, &given);
                                           })),
                "cuGraphExecKernelNodeSetParams", Api::driver};
    return {to_runtime(call_in_context(params,
                                       [target](const CUDA_KERNEL_NODE_PARAMS& given) {
                                           return driver().graph_kernel_node_set_params(target.node, &given);
                                       })),
            "cuGraphKernelNodeSetParams", Api::driver};
}

/// In a copy, attributes and values stand behind the block.
[[nodiscard]] std::size_t trailing_bytes(const KernelParams& kernel) noexcept;
void copy_trailing(const KernelParams& from, KernelParams& copy, std::byte* place) noexcept;
/// Of the same node: updates keep the attributes.
void assign(KernelParams& copy, const KernelParams& from) noexcept;

void compare(const KernelParams& before, const KernelParams& after, Fields& fields);
/// Why an exec's node cannot have another kernel, or empty.
[[nodiscard]] std::string problem_in_exec(const KernelParams& current, const KernelParams& next);
/// "scale <<<(1, 1, 1), (256, 1, 1)>>>", and its attributes.
[[nodiscard]] std::string title(const KernelParams& kernel);

/// Of a recorded kernel CUDA tells the sizes only. What stands inside larger objects may be left over from before.
[[nodiscard]] inline bool may_be_address(const Parameter& parameter) noexcept {
    if (parameter.cpp_type == nullptr) return parameter.size == sizeof(std::uintptr_t);
    return parameter.type == ParameterType::pointer || parameter.type == ParameterType::span;
}

/// The pointers and spans among its arguments; of a recorded kernel, what has a pointer's size.
template <class Use>
void for_each_access(const KernelParams& kernel, const Use& use) {
    for (std::uint32_t i = 0; i < kernel.signature->count; ++i) {
        const Parameter& parameter = kernel.signature->parameters[i];
        if (!may_be_address(parameter)) continue;
        std::uintptr_t address = 0;
        std::memcpy(&address, kernel.values + parameter.offset, sizeof address);
        use(Access{address, 0});
    }
}

/// As the driver takes them: more bytes than it can be told of are as many as it can, which it refuses.
[[nodiscard]] inline unsigned native_shared_bytes(std::size_t bytes) noexcept {
    return static_cast<unsigned>(std::min<std::size_t>(bytes, std::numeric_limits<unsigned>::max()));
}

/// In CUDA_KERNEL_NODE_PARAMS or CUlaunchConfig.
template <class Native>
void put_shape(const LaunchShape& shape, Native& native) noexcept {
    native.gridDimX = shape.grid.x;
    native.gridDimY = shape.grid.y;
    native.gridDimZ = shape.grid.z;
    native.blockDimX = shape.block.x;
    native.blockDimY = shape.block.y;
    native.blockDimZ = shape.block.z;
    native.sharedMemBytes = native_shared_bytes(shape.shared_bytes);
}

[[nodiscard]] inline CUDA_KERNEL_NODE_PARAMS driver_params(CUfunction function, const LaunchShape& shape,
                                                           void* const* values) noexcept {
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = function;
    put_shape(shape, params);
    params.kernelParams = const_cast<void**>(values); // read only, but the driver's type says otherwise
    return params;
}
/// The parameters for an update of an existing node, which must keep its context. A function would move the node to the
/// function's context, so the driver gets CUDA's kernel instead. Without a known kernel the driver refuses the update.
[[nodiscard]] inline CUDA_KERNEL_NODE_PARAMS driver_params(const KernelParams& kernel, const LaunchShape& shape,
                                                           void* const* values) noexcept {
    CUDA_KERNEL_NODE_PARAMS params = driver_params(kernel.function, shape, values);
    if (kernel.context != nullptr) [[unlikely]] {
        params.func = nullptr;
        params.kern = kernel.kernel;
        params.ctx = kernel.context;
    }
    return params;
}

/// Pointers to all arguments of a kernel.
class ArgumentPointers {
  public:
    explicit ArgumentPointers(const KernelParams& kernel) { merge(nullptr, kernel); }
    /// Those that `call` gives, and for the rest those of `kernel`. Refers to both.
    ArgumentPointers(const KernelCall& call, const KernelParams& kernel) : pointers_(call.values) {
        if (call.block == nullptr) merge(call.values, kernel);
    }
    ArgumentPointers(const ArgumentPointers&) = delete;
    ArgumentPointers& operator=(const ArgumentPointers&) = delete;

    [[nodiscard]] void* const* get() const noexcept { return pointers_; }

  private:
    void merge(void* const* given, const KernelParams& kernel) {
        const std::uint32_t count = kernel.signature->count;
        if (count > few_.size()) many_.resize(count);
        void** merged = count > few_.size() ? many_.data() : few_.data();
        for (std::uint32_t i = 0; i < count; ++i)
            merged[i] = given != nullptr && given[i] != nullptr
                            ? given[i]
                            : kernel.values + kernel.signature->parameters[i].offset;
        pointers_ = merged;
    }

    std::array<void*, 64> few_;
    std::vector<void*> many_;
    void* const* pointers_;
};

} // namespace cudag::detail
