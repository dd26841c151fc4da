// Launches of kernels.
#pragma once

#include "cuda/driver.hpp"
#include "fields.hpp"
#include "lists/hash.hpp"
#include "native_result.hpp"
#include "used_range.hpp"

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
#include <string_view>
#include <vector>

namespace cudag::detail {

class Differences;

/// The parameters of a kernel node. `values` holds the arguments in the layout of `signature`.
struct alignas(std::max_align_t) KernelParams {
    CUfunction function; ///< of one device
    const void* symbol;  ///< null for a node not made by cudag
    const KernelSignature* signature;
    LaunchShape shape;
    std::byte* values;
    CUkernel kernel = nullptr;                ///< of all devices; null for a node made by cudag
    const LaunchConfig* attributes = nullptr; ///< attributes only (grid, block and shared_bytes are ignored); null if
                                              ///< none
    cudaGraphNode_t unread = nullptr;         ///< the node, if its attributes are not read yet: see full_config
    CUcontext context = nullptr;              ///< a green one, or the program's own; null: the device's primary one
};
/// The configuration, as far as it is read.
[[nodiscard]] LaunchConfig config_of(const KernelParams& kernel) noexcept;
/// Stores the attributes of `config` in `copy`, an OwnedParams made while they were unread.
void store_attributes(KernelParams& copy, const LaunchConfig& config) noexcept;

/// Whether the kernel declares to wait for previous ones. False for a device-updatable kernel: the node must not start
/// while another kernel changes it.
[[nodiscard]] inline bool declares_wait(const KernelParams& kernel) noexcept {
    return kernel.attributes != nullptr && kernel.attributes->waits_for_previous &&
           !kernel.attributes->device_updatable;
}

/// Whether the parameter types are known. Such a signature lives forever, others live in their graph.
[[nodiscard]] inline bool is_typed(const KernelSignature& signature) noexcept {
    return signature.count != 0 && signature.parameters[0].cpp_type != nullptr;
}
/// Whether a block of one holds the arguments of the other.
[[nodiscard]] bool same_layout(const KernelSignature& a, const KernelSignature& b) noexcept;
/// Whether all types are known, and equal.
[[nodiscard]] bool same_types(const KernelSignature& a, const KernelSignature& b) noexcept;
/// Whether both launch the same kernel, or kernels with the same parameter types by name: for nodes not made by cudag,
/// whose parameter sizes alone are known to CUDA.
[[nodiscard]] bool same_kernel_types(const KernelParams& a, const KernelParams& b);

/// The signature of a kernel after a partial call: parameters with non-null `values` are as in `given`, the others as
/// in `former`. Both must have the same types. Lives forever.
[[nodiscard]] const KernelSignature& merged_signature(const KernelSignature& given, const KernelSignature& former,
                                                      void* const* values);

/// Whether the parameter is a Condition, or its handle: a Condition begins with its handle.
[[nodiscard]] inline bool is_condition(const Parameter& parameter) noexcept {
    return parameter.type == ParameterType::condition;
}

/// Copies the values of `call` into `block`, in the layout of its signature.
void copy_values(const KernelCall& call, std::byte* block) noexcept;

/// Both need a context: see bind_context.
[[nodiscard]] NativeResult set_native(const NodeTarget& target, const KernelParams& kernel);
[[nodiscard]] inline NativeResult set_native(const NodeTarget& target, const CUDA_KERNEL_NODE_PARAMS& params) {
    if (target.exec != nullptr)
        return {to_runtime(call_in_context(params,
                                           [target](const CUDA_KERNEL_NODE_PARAMS& given) {
                                               return driver().kernels.exec_set(target.exec, target.node, &given);
                                           })),
                driver().kernels.exec_set_name, Api::driver};
    return {to_runtime(call_in_context(
                params,
                [target](const CUDA_KERNEL_NODE_PARAMS& given) { return driver().kernels.set(target.node, &given); })),
            driver().kernels.set_name, Api::driver};
}

/// In a copy, attributes and values follow the block.
[[nodiscard]] std::size_t trailing_bytes(const KernelParams& kernel) noexcept;
void copy_trailing(const KernelParams& from, KernelParams& copy, std::byte* place) noexcept;
/// Assigns parameters of the same node: updates keep the attributes.
void assign(KernelParams& copy, const KernelParams& from) noexcept;

/// The attributes of a kernel, by the table of launch attributes.
struct AttributeFields {
    static void compare(const KernelParams& before, const KernelParams& after, Differences& found);
    /// The reason why an exec's node cannot get another kernel; empty if it can.
    [[nodiscard]] static std::string refusal(const KernelParams& current, const KernelParams& next);
    static void add_to(Hash& hash, const KernelParams& kernel, HashedFields which) {
        if (which == HashedFields::changing || (kernel.attributes == nullptr && kernel.unread == nullptr)) return;
        add_given(hash, kernel, which);
    }

  private:
    static void add_given(Hash& hash, const KernelParams& kernel, HashedFields which);
};

/// The context of a kernel. An exec's node keeps its own.
struct ContextField {
    static void compare(const KernelParams& before, const KernelParams& after, Differences& found);
    /// The reason why an exec's node cannot get another context; empty if it has it.
    [[nodiscard]] static std::string refusal(const KernelParams& current, const KernelParams& next);
    static void add_to(Hash& hash, const KernelParams& kernel, HashedFields which) noexcept {
        if (kernel.context != nullptr && which != HashedFields::changing) hash.add(kernel.context);
    }
};

/// The arguments of a kernel, by its signature.
struct ArgumentFields {
    static void compare(const KernelParams& before, const KernelParams& after, Differences& found);
    static void add_to(Hash& hash, const KernelParams& kernel, HashedFields which) noexcept {
        if (which != HashedFields::changing) return;
        for (std::uint32_t i = 0; i < kernel.signature->count; ++i) {
            const Parameter& parameter = kernel.signature->parameters[i];
            hash.add_bytes(kernel.values + parameter.offset, parameter.size); // separately: there are gaps between them
        }
    }
};

template <class Visitor>
constexpr void fields(const KernelParams&, Visitor& visit) {
    visit.field("kernel", member<&KernelParams::function>,
                FieldRule{ChangedBy::node_update, nullptr, DifferenceKind::function});
    visit.field("grid", member<&KernelParams::shape, &LaunchShape::grid>, changeable);
    visit.field("block", member<&KernelParams::shape, &LaunchShape::block>, changeable);
    visit.field("shared_bytes", member<&KernelParams::shape, &LaunchShape::shared_bytes>, changeable);
    visit.part(AttributeFields(), member<&KernelParams::attributes>, member<&KernelParams::unread>);
    visit.part(ArgumentFields(), member<&KernelParams::signature>, member<&KernelParams::values>);
    visit.ignored(member<&KernelParams::symbol>, member<&KernelParams::kernel>); // told by the function
    visit.part(ContextField(), member<&KernelParams::context>);
}
/// The parameter type with the given C++ name.
[[nodiscard]] ParameterType type_named(std::string_view name);
/// "scale <<<(1, 1, 1), (256, 1, 1)>>>", and its attributes.
[[nodiscard]] std::string title(const KernelParams& kernel);
/// The values of the arguments, in order: "0x7f00", "2.5".
[[nodiscard]] std::vector<std::string> argument_texts(const KernelParams& kernel);

/// Whether a parameter may be an address. For a recorded kernel CUDA reports sizes only. The content of larger objects
/// is ignored: it may be stale.
[[nodiscard]] inline bool may_be_address(const Parameter& parameter) noexcept {
    if (parameter.cpp_type == nullptr) return parameter.size == sizeof(std::uintptr_t);
    return parameter.type == ParameterType::pointer || parameter.type == ParameterType::span;
}

/// Calls `use` for the pointer and span arguments; for a recorded kernel, for arguments of a pointer's size.
template <class Use>
void for_each_access(const KernelParams& kernel, const Use& use) {
    for (std::uint32_t i = 0; i < kernel.signature->count; ++i) {
        const Parameter& parameter = kernel.signature->parameters[i];
        if (!may_be_address(parameter)) continue;
        std::uintptr_t address = 0;
        std::memcpy(&address, kernel.values + parameter.offset, sizeof address);
        use(UsedRange{address, 0});
    }
}

/// Converts a size for the driver: larger sizes than its type holds become its maximum, which it rejects.
[[nodiscard]] inline unsigned native_shared_bytes(std::size_t bytes) noexcept {
    return static_cast<unsigned>(std::min<std::size_t>(bytes, std::numeric_limits<unsigned>::max()));
}

/// Sets the shape in CUDA_KERNEL_NODE_PARAMS or CUlaunchConfig.
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
    params.kernelParams = const_cast<void**>(values); // read only, despite the driver's type
    return params;
}
/// The parameters for an update of an existing node, which must keep its context. A function would move the node to the
/// function's context, so the driver gets CUDA's kernel instead. Without a known kernel the driver rejects the update.
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
    /// The arguments of `call`, completed by those of `kernel`. Refers to both.
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
