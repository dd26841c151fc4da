// Declarations of nodes for a CPU runtime that checks them: their writes, and waits for previous kernels.
#include "watched_writes.hpp"

#include "watched_region.hpp"

#include "exec_declarations.hpp"
#include "exec_in_force.hpp"
#include "exec_state.hpp"
#include "graph/for_each_graph.hpp"
#include "graph/in_force.hpp"
#include "order/declarations.hpp"
#include "order/node_accesses.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

using Watches = bool (*)();
using Forget = void (*)(cudaGraphExec_t);
using DeclareWait = void (*)(cudaGraphExec_t, cudaGraphNode_t, const char*);
using Declare = void (*)(cudaGraphExec_t, cudaGraphNode_t, const char*, const WatchedRegion*, std::size_t);

/// Returns null in NVIDIA's runtime.
template <class Function>
Function find(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

/// Whether the node declares all memory that it uses: by `.reads` or `.writes`, or by each argument that may be an
/// address.
bool says_all(const ExecState& exec, const NodePlace& node) {
    const auto* const* kernel = std::get_if<const KernelParams*>(&exec.effective().of(node));
    if (kernel == nullptr) return true;
    const KernelSignature& signature = known_signature(*node.graph, node.index, **kernel);
    std::vector<bool> is_open(signature.count);
    for (std::uint32_t i = 0; i < signature.count; ++i)
        is_open[i] = may_be_address(signature.parameters[i]);
    bool is_whole = false;
    for_each_declared(exec, node, [&](const ArgumentAccess& access) {
        is_whole = is_whole || access.argument == whole_node;
        if (access.argument < is_open.size()) is_open[access.argument] = false;
    });
    return is_whole || std::ranges::none_of(is_open, [](bool open) { return open; });
}

} // namespace

namespace {

Watches watches_writes() noexcept {
    static const auto watches = find<Watches>("cudart_cpu_watches_writes");
    return watches;
}

} // namespace

bool can_writes_be_watched() noexcept {
    return watches_writes() != nullptr;
}

bool are_writes_watched() noexcept {
    const Watches watches = watches_writes();
    return watches != nullptr && watches();
}

void declare_writes(const ExecState& exec) {
    static const auto forget = find<Forget>("cudart_cpu_forget_declarations");
    static const auto declare = find<Declare>("cudart_cpu_declare_node");
    const ExecInForce in_force(exec);
    ArrayAddresses arrays;
    std::map<std::pair<const GraphState*, std::uint32_t>, std::vector<WatchedRegion>> regions;
    for (const NodeAccess& access : accesses_of(exec.source(), in_force, arrays))
        if (says_all(exec, access.place))
            regions[{access.place.graph, access.place.index}].push_back(
                {access.block, access.mode != AccessMode::read});
    forget(exec.native()); // nodes may have declared other accesses before
    for (const auto& [place, list] : regions) {
        const NodePlace node{place.first, place.second};
        declare(exec.native(), node.native(), node.describe().c_str(), list.data(), list.size());
    }
}

void declare_waits(const ExecState& exec) {
    static const auto declare = find<DeclareWait>("cudart_cpu_declare_wait");
    if (declare == nullptr) return;
    for_each_graph(exec.source(), [&](const GraphState& graph) {
        if (!graph.records().special().waits) return;
        for (std::uint32_t i = 0; i < graph.records().nodes().size(); ++i) {
            const auto* const* kernel = std::get_if<const KernelParams*>(&graph.records().nodes()[i].params);
            const bool waits =
                kernel != nullptr && (*kernel)->attributes != nullptr && (*kernel)->attributes->waits_for_previous;
            if (!waits) continue;
            const NodePlace node{&graph, i};
            declare(exec.native(), node.native(), node.describe().c_str());
        }
    });
}

} // namespace cudag::detail
