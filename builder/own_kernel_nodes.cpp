// Kernel nodes of cudag's own.
#include "own_kernel_nodes.hpp"

#include "cuda/failure.hpp"
#include "cuda/node_calls.hpp"
#include "cuda/own_kernels.hpp"
#include "cuda/version.hpp"
#include "graph/graph_state.hpp"
#include "new_node.hpp"

#include <cstring>
#include <new>

namespace cudag::detail {

namespace {

/// The kernel `__global__ void cudag_set_condition(cudaGraphConditionalHandle handle, unsigned value)`.
constexpr const char* set_condition_ptx = R"(.version 8.0
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

cudaKernel_t set_condition_kernel() {
    static const cudaKernel_t kernel = load_kernel(set_condition_ptx, "cudag_set_condition");
    return kernel;
}

using SetCondition = SignatureOf<ConditionHandle, unsigned>;
const KernelSignature set_condition_signature = SetCondition::value; // a copy: users' kernels may share the original
const KernelSignature nothing_signature{nullptr, 0, 0};

/// Returns the function of a kernel node; null if CUDA does not report it.
CUfunction function_of(cudaGraphNode_t node) {
    CUgraphNodeParams params = native_params(CU_GRAPH_NODE_TYPE_KERNEL);
    bind_context();
    return driver().graph_node_get_params(node, &params) == CUDA_SUCCESS ? params.kernel.func : nullptr;
}

/// Allocates parameters; their values are still to be written.
KernelParams* make_params(GraphState& graph, const KernelSignature& signature) {
    auto* memory = graph.records().memory().allocate_bytes(sizeof(KernelParams) + signature.bytes);
    return new (memory) KernelParams{nullptr, nullptr, &signature, {}, memory + sizeof(KernelParams)};
}

/// Adds a node that runs `kernel`, named `name`, in one thread.
Node add_own_kernel(GraphState& graph, cudaKernel_t kernel, const char* name, KernelParams* params, void** arguments,
                    std::string_view label, const SourceLocation& where) {
    Label stored_label(label);
    graph.reserve_node();
    CUgraphNodeParams native = own_kernel_params(kernel, arguments);
    cudaGraphNode_t node = nullptr;
    if (const CUresult result = add_native_node(node, graph.native(), native); result != CUDA_SUCCESS)
        raise_call<GraphError>(to_runtime(result), add_node_call, new_node_subject(NodeKind::kernel, where, name),
                               Api::driver);
    params->function = function_of(node);
    return graph.append(node, {NodeKind::kernel, params, std::move(stored_label), where});
}

} // namespace

Node add_set_condition(GraphState& graph, cudaGraphConditionalHandle condition, unsigned value, std::string_view label,
                       const SourceLocation& where) {
    constexpr const char* name = "cudag_set_condition";
    require_version(since::kernels_from_images, "a condition with an initial value in a body that is repeated",
                    [&] { return new_node_subject(NodeKind::kernel, where, name); });
    const cudaKernel_t kernel = set_condition_kernel();
    KernelParams* const params = make_params(graph, set_condition_signature);
    std::byte* const values = params->values;
    void* arguments[] = {values + SetCondition::layout.parameters[0].offset,
                         values + SetCondition::layout.parameters[1].offset};
    std::memcpy(arguments[0], &condition, sizeof condition);
    std::memcpy(arguments[1], &value, sizeof value);
    return add_own_kernel(graph, kernel, name, params, arguments, label, where);
}

Node add_nothing(GraphState& graph, std::string_view label, const SourceLocation& where) {
    const cudaKernel_t kernel = nothing_kernel();
    return add_own_kernel(graph, kernel, "cudag_nothing", make_params(graph, nothing_signature), nullptr, label, where);
}

bool is_own_kernel(const KernelParams& kernel) noexcept {
    return kernel.signature == &set_condition_signature || kernel.signature == &nothing_signature;
}

} // namespace cudag::detail
