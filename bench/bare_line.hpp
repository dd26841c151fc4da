// A line of kernel nodes by the calls that cudag makes, without its own work: what cudag cannot cost less than.
#pragma once

#include "kernels.hpp"
#include "raw_graph.hpp"

#include <cudag/cudag.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

/// The driver's calls. They cost less than the runtime's: these look up a kernel's function for each node.
class BareCalls {
  public:
    BareCalls() {
        fetch(add_kernel, "cuGraphAddKernelNode");
        fetch(instantiate, "cuGraphInstantiateWithParams");
        cudaFunction_t found = nullptr;
        cudag::check(cudaGetFuncBySymbol(&found, reinterpret_cast<const void*>(touch)));
        function = found;
    }

    decltype(&::cuGraphAddKernelNode) add_kernel = nullptr;
    decltype(&::cuGraphInstantiateWithParams) instantiate = nullptr;
    CUfunction function = nullptr; ///< of the kernel `touch`

  private:
    template <class Function>
    static void fetch(Function& function, const char* name) {
        constexpr unsigned version = 12040;
        void* address = nullptr;
        cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
        cudag::check(cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &result));
#else
        static_cast<void>(version);
        cudag::check(cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &result));
#endif
        if (address == nullptr) throw std::runtime_error("the driver has no " + std::string(name));
        function = reinterpret_cast<Function>(address);
    }
};

/// The line, with edges given to CUDA by one call.
struct BareLine : RawGraph {
    void build(const BareCalls& calls, int count, float* values, int lines = 1) {
        std::vector<cudaGraphNode_t> nodes(static_cast<std::size_t>(count));
        cudag::check(cudaGraphCreate(&graph, 0));
        for (int i = 0; i < count; ++i) {
            int index = i;
            float amount = 1.0f;
            unsigned once = 1;
            void* arguments[4] = {&values, &index, &amount, &once};
            CUDA_KERNEL_NODE_PARAMS params{};
            params.func = calls.function;
            params.gridDimX = params.gridDimY = params.gridDimZ = 1;
            params.blockDimX = 32;
            params.blockDimY = params.blockDimZ = 1;
            params.kernelParams = arguments;
            check(calls.add_kernel(&nodes[static_cast<std::size_t>(i)], graph, nullptr, 0, &params));
        }
        const std::size_t edges = nodes.size() - static_cast<std::size_t>(lines);
        if (edges == 0) return;
        const cudaGraphNode_t* const to = nodes.data() + lines;
#if CUDART_VERSION >= 13000
        cudag::check(cudaGraphAddDependencies(graph, nodes.data(), to, nullptr, edges));
#else
        cudag::check(cudaGraphAddDependencies(graph, nodes.data(), to, edges));
#endif
    }

    void instantiate(const BareCalls& calls) {
        CUDA_GRAPH_INSTANTIATE_PARAMS params{};
        check(calls.instantiate(&exec, graph, &params));
    }

  private:
    static void check(CUresult result) { cudag::check(static_cast<cudaError_t>(result)); }
};

} // namespace bench
