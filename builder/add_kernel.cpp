// Additions of kernel nodes: the path that must be short.
#include "cuda/driver.hpp"
#include "cuda/kernel_function.hpp"
#include "cuda/kernel_name.hpp"
#include "cuda/numbered_contexts.hpp"
#include "graph/graph_state.hpp"
#include "node/function.hpp"
#include "node/kernel_attributes.hpp"
#include "node/launch_check.hpp"
#include "require_allowed.hpp"

#include <cudag/detail/record.hpp>

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// Copies the arguments of `call` into the graph's arena; `attributes` must be there already.
KernelParams* copy_call(GraphState& graph, const KernelCall& call, CUfunction function,
                        const LaunchConfig* attributes) {
    auto* memory = graph.records().memory().allocate_bytes(sizeof(KernelParams) + call.signature->bytes);
    std::byte* values = memory + sizeof(KernelParams);
    copy_values(call, values);
    auto* const kernel = call.function != nullptr ? reinterpret_cast<CUkernel>(call.function->kernel) : nullptr;
    return new (memory)
        KernelParams{function, symbol_of(call), call.signature, call.config->shape, values, kernel, attributes};
}

/// Returns the driver's function of the kernel. This thread then has a context.
template <class MakeSubject>
CUfunction function_of(GraphState& graph, const KernelCall& call, const MakeSubject& subject) {
    if (call.function != nullptr) [[unlikely]]
        return function_here<GraphError>(*call.function, subject);
    const auto context = reinterpret_cast<std::uintptr_t>(current_context());
    return graph.construction().functions.find(call.symbol, context,
                                               [&] { return kernel_function<GraphError>(call.symbol, subject); });
}

/// Moves a kernel into the green context of the builder's view.
template <class MakeSubject>
[[gnu::noinline, gnu::cold]] void place_in_context(KernelParams& params, int number, const MakeSubject& subject) {
    if (params.kernel == nullptr) {
        if (params.symbol == nullptr)
            refuse("the Function is of a CUfunction, which CUDA keeps in one context; make it of a cudaKernel_t to run "
                   "it in a green context",
                   subject());
        cudaKernel_t kernel = nullptr;
        if (const cudaError_t status = cudaGetKernel(&kernel, params.symbol); status != cudaSuccess)
            raise_call<GraphError>(status, "cudaGetKernel", subject());
        params.kernel = reinterpret_cast<CUkernel>(kernel);
    }
    params.context = context_numbered(number).context;
}

/// Returns the graph's own copy, shared by all its nodes with these parameters: the Function may die before them.
const KernelSignature* own_signature(GraphState& graph, const KernelSignature& signature) {
    std::vector<const KernelSignature*>& known = graph.construction().signatures;
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const KernelSignature* own) { return same_layout(*own, signature); });
    if (found != known.end()) return *found;
    auto* parameters = graph.records().memory().allocate<Parameter>(signature.count);
    std::copy_n(signature.parameters, signature.count, parameters);
    known.push_back(graph.records().memory().store(KernelSignature{parameters, signature.count, signature.bytes}));
    return known.back();
}

} // namespace

Node add_kernel(GraphState& graph, const KernelCall& call, CallEffects&& effects, const SourceLocation& where) {
    require_allowed(graph, NodeKind::kernel, where);
    const auto subject = [&] { return new_node_subject(NodeKind::kernel, where, kernel_name(call)); };
    const CUfunction function = function_of(graph, call, subject);
    const void* const symbol = symbol_of(call);
    keep_function(effects.owners, call);
    const LaunchConfig* attributes = given_attributes(*call.config);
    if (attributes != nullptr) [[unlikely]] {
        require_attributes(*attributes, symbol, LaunchUse::node, subject);
        require_wait<GraphError>(call, *attributes, subject);
        attributes = graph.records().memory().store(*attributes);
    }
    KernelParams* const params = copy_call(graph, call, function, attributes);
    if (const int device = graph.construction().device; is_context_number(device)) [[unlikely]]
        place_in_context(*params, device, subject);
    graph.reserve_node(effects);
    const CUDA_KERNEL_NODE_PARAMS native = driver_params(*params, params->shape, call.values);
    CUDA_KERNEL_NODE_PARAMS bare;
    std::optional<Subject> named; // in case CUDA refuses an attribute of the new node
    if (attributes != nullptr) [[unlikely]] {
        named.emplace(subject());
        if (graph.records().special().memory) try_attributes(native, *attributes, symbol, Subject(*named));
        bare = without_attributes(native, *attributes);
    }
    cudaGraphNode_t node = nullptr;
    const CUresult result =
        driver().kernels.add(&node, graph.native(), nullptr, 0, attributes != nullptr ? &bare : &native);
    if (result != CUDA_SUCCESS) [[unlikely]]
        raise_launch<GraphError>(to_runtime(result), driver().kernels.add_name, subject(), Api::driver,
                                 config_of(*call.config), symbol);
    if (attributes != nullptr) [[unlikely]] {
        set_attributes(node, native, *attributes, symbol, *std::move(named));
        if (attributes->device_updatable) graph.records().special().device_updatable = true;
        graph.records().special().waits = graph.records().special().waits || attributes->waits_for_previous;
    }
    return graph.append(node, {NodeKind::kernel, params, {}, where}, std::move(effects));
}

Node add_function(GraphState& graph, const Function& function, const PassedConfig& config,
                  const GivenArguments& arguments, CallEffects&& effects, const SourceLocation& where) {
    const FunctionState& state = Access::state(function);
    const KernelSignature signature = state.signature();
    ValuePointers values(signature.count);
    if (const std::string problem = point_at(arguments, signature, values.get()); !problem.empty())
        refuse(problem, new_node_subject(NodeKind::kernel, where, state.name));
    const KernelCall call{nullptr, own_signature(graph, signature), &config, values.get(), nullptr, &state};
    return add_kernel(graph, call, std::move(effects), where);
}

} // namespace cudag::detail
