// The kernel that sets a condition: PTX text, because cudag's own sources are compiled without nvcc.
#include "set_condition.hpp"

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/version.hpp"
#include "new_node.hpp"

#include <cstring>
#include <new>
#include <typeinfo>
#include <utility>

namespace cudag::detail {

namespace {

/// `__global__ void cudag_set_condition(cudaGraphConditionalHandle handle, unsigned value)`
constexpr const char* ptx = R"(.version 8.0
.target sm_52
.address_size 64
.extern .func cudaGraphSetConditional
(
    .param .b64 handle,
    .param .b32 value
)
;
.visible .entry cudag_set_condition(
    .param .u64 handle,
    .param .u32 value
)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [handle];
    ld.param.u32 %r1, [value];
    {
        .param .b64 to;
        st.param.b64 [to+0], %rd1;
        .param .b32 what;
        st.param.b32 [what+0], %r1;
        call.uni cudaGraphSetConditional, (to, what);
    }
    ret;
}
)";

void* load() {
    compat::Library library = nullptr;
    checked<GraphError>(compat::library_load_data(&library, ptx), "cudaLibraryLoadData");
    cudaKernel_t kernel = nullptr;
    const cudaError_t status = compat::library_get_kernel(&kernel, library, "cudag_set_condition");
    if (status != cudaSuccess) {
        CallFailure failure = describe_failure(status, "cudaLibraryGetKernel", {}, Api::runtime);
        ignore(compat::library_unload(library));
        throw GraphError(status, failure.text, std::move(failure.details));
    }
    return kernel;
}

/// Loaded for all devices, until the process ends.
void* set_condition_kernel() {
    static void* const kernel = load();
    return kernel;
}

using Layout = SignatureOf<cudaGraphConditionalHandle, unsigned>;
const Parameter parameters[] = {
    {Layout::layout.parameters[0].offset, Layout::layout.parameters[0].size, ParameterType::object, &typeid(Condition)},
    Layout::layout.parameters[1]};
const KernelSignature signature{parameters, Layout::count, Layout::layout.bytes};

/// Null if CUDA does not tell.
CUfunction function_of(cudaGraphNode_t node) {
    CUDA_KERNEL_NODE_PARAMS params{};
    bind_context();
    return driver().graph_kernel_node_get_params(node, &params) == CUDA_SUCCESS ? params.func : nullptr;
}

} // namespace

Node add_set_condition(GraphState& graph, cudaGraphConditionalHandle condition, unsigned value, std::string_view label,
                       const SourceLocation& where) {
    const auto subject = [&] { return new_node_subject(NodeKind::kernel, where, "cudag_set_condition"); };
    require_allowed(graph, NodeKind::kernel, where);
    require_version(12080, "a condition with an initial value in a body that is repeated", subject);
    void* const kernel = set_condition_kernel();

    auto* memory = graph.memory().allocate_bytes(sizeof(KernelParams) + signature.bytes);
    std::byte* values = memory + sizeof(KernelParams);
    void* arguments[] = {values + parameters[0].offset, values + parameters[1].offset};
    std::memcpy(arguments[0], &condition, sizeof condition);
    std::memcpy(arguments[1], &value, sizeof value);
    auto* params = new (memory) KernelParams{nullptr, nullptr, &signature, {}, values};
    Label stored_label(label);
    graph.reserve_node();

    cudaKernelNodeParams native{}; // of one thread
    native.func = kernel;
    native.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    const cudaError_t status = cudaGraphAddKernelNode(&node, graph.native(), nullptr, 0, &native);
    if (status != cudaSuccess) raise_call<GraphError>(status, "cudaGraphAddKernelNode", subject());
    params->function = function_of(node);
    return graph.append(node, {NodeKind::kernel, params, std::move(stored_label), where});
}

bool is_set_condition(const KernelParams& kernel) noexcept {
    return kernel.signature == &signature;
}

} // namespace cudag::detail
