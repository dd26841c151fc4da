// Nodes of green contexts: which context they belong to, and which updates move them.
#include "driver.hpp"
#include "kernels.hpp"

#if CUDA_VERSION >= 12050

namespace {

/// Green contexts of one split, with a current context.
class GreenParts {
  public:
    explicit GreenParts(unsigned count) {
        REQUIRE_CUDA(cudaFree(nullptr));
        CUdevResource all{};
        REQUIRE(resource_of_(0, &all, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS);
        std::vector<CUdevResource> parts(count);
        unsigned groups = count;
        REQUIRE(split_(parts.data(), &groups, &all, nullptr, 0, 8) == CUDA_SUCCESS);
        REQUIRE(groups == count);
        for (CUdevResource& part : parts) {
            CUdevResourceDesc descriptor = nullptr;
            REQUIRE(describe_(&descriptor, &part, 1) == CUDA_SUCCESS);
            CUgreenCtx green = nullptr;
            REQUIRE(create_(&green, descriptor, 0, CU_GREEN_CTX_DEFAULT_STREAM) == CUDA_SUCCESS);
            greens_.push_back(green);
            CUcontext context = nullptr;
            REQUIRE(context_from_(&context, green) == CUDA_SUCCESS);
            contexts_.push_back(context);
        }
    }
    ~GreenParts() {
        for (const CUgreenCtx green : greens_)
            CHECK(destroy_(green) == CUDA_SUCCESS);
    }
    GreenParts(const GreenParts&) = delete;
    GreenParts& operator=(const GreenParts&) = delete;

    CUcontext operator[](std::size_t index) const { return contexts_[index]; }
    CUgreenCtx green(std::size_t index) const { return greens_[index]; }

  private:
    PFN_cuDeviceGetDevResource_v12040 resource_of_ =
        entry_point<PFN_cuDeviceGetDevResource_v12040>("cuDeviceGetDevResource", 12050);
    PFN_cuDevSmResourceSplitByCount_v12040 split_ =
        entry_point<PFN_cuDevSmResourceSplitByCount_v12040>("cuDevSmResourceSplitByCount", 12050);
    PFN_cuDevResourceGenerateDesc_v12040 describe_ =
        entry_point<PFN_cuDevResourceGenerateDesc_v12040>("cuDevResourceGenerateDesc", 12050);
    PFN_cuGreenCtxCreate_v12040 create_ = entry_point<PFN_cuGreenCtxCreate_v12040>("cuGreenCtxCreate", 12050);
    PFN_cuGreenCtxDestroy_v12040 destroy_ = entry_point<PFN_cuGreenCtxDestroy_v12040>("cuGreenCtxDestroy", 12050);
    PFN_cuCtxFromGreenCtx_v12040 context_from_ = entry_point<PFN_cuCtxFromGreenCtx_v12040>("cuCtxFromGreenCtx", 12050);
    std::vector<CUgreenCtx> greens_;
    std::vector<CUcontext> contexts_;
};

/// Kernel nodes in a context.
struct PlacedKernels {
    PFN_cuGraphAddKernelNode_v12000 add_node =
        entry_point<PFN_cuGraphAddKernelNode_v12000>("cuGraphAddKernelNode", 12000);
    PFN_cuGraphKernelNodeGetParams_v12000 get =
        entry_point<PFN_cuGraphKernelNodeGetParams_v12000>("cuGraphKernelNodeGetParams", 12000);
    PFN_cuGraphKernelNodeSetParams_v12000 set =
        entry_point<PFN_cuGraphKernelNodeSetParams_v12000>("cuGraphKernelNodeSetParams", 12000);
    PFN_cuGraphExecKernelNodeSetParams_v12000 exec_set =
        entry_point<PFN_cuGraphExecKernelNodeSetParams_v12000>("cuGraphExecKernelNodeSetParams", 12000);
    PFN_cuCtxPushCurrent_v4000 push = entry_point<PFN_cuCtxPushCurrent_v4000>("cuCtxPushCurrent", 12000);
    PFN_cuCtxPopCurrent_v4000 pop = entry_point<PFN_cuCtxPopCurrent_v4000>("cuCtxPopCurrent", 12000);

    enum class By { kernel, function };

    static CUDA_KERNEL_NODE_PARAMS params(CUcontext context, By by) {
        CUDA_KERNEL_NODE_PARAMS params{};
        if (by == By::function) {
            cudaFunction_t function = nullptr;
            REQUIRE_CUDA(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(nothing)));
            params.func = function;
        } else {
            cudaKernel_t kernel = nullptr;
            REQUIRE_CUDA(cudaGetKernel(&kernel, reinterpret_cast<const void*>(nothing)));
            params.kern = reinterpret_cast<CUkernel>(kernel);
        }
        params.gridDimX = params.gridDimY = params.gridDimZ = 1;
        params.blockDimX = params.blockDimY = params.blockDimZ = 1;
        params.ctx = context;
        return params;
    }
    CUgraphNode add(cudaGraph_t graph, CUcontext context, By by = By::kernel) const {
        const CUDA_KERNEL_NODE_PARAMS given = params(context, by);
        CUgraphNode node = nullptr;
        REQUIRE(add_node(&node, graph, nullptr, 0, &given) == CUDA_SUCCESS);
        return node;
    }
    CUcontext context_of(CUgraphNode node) const {
        CUDA_KERNEL_NODE_PARAMS found{};
        REQUIRE(get(node, &found) == CUDA_SUCCESS);
        return found.ctx;
    }
    /// Runs `body` with `context` as the current one.
    template <class Body>
    void within(CUcontext context, Body&& body) const {
        REQUIRE(push(context) == CUDA_SUCCESS);
        body();
        CUcontext popped = nullptr;
        REQUIRE(pop(&popped) == CUDA_SUCCESS);
        REQUIRE(popped == context);
    }
};

using By = PlacedKernels::By;

cudaGraphExec_t instantiated(cudaGraph_t graph) {
    cudaGraphExec_t exec = nullptr;
    REQUIRE_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

} // namespace

TEST_CASE("a kernel node is of the context named, or the current one", "[driver][contexts][green]") {
    const GreenParts parts(2);
    const PlacedKernels kernels;
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    CHECK(kernels.context_of(kernels.add(graph, parts[0])) == parts[0]);
    CHECK(kernels.context_of(kernels.add(graph, parts[1])) == parts[1]);
    const CUcontext primary = kernels.context_of(kernels.add(graph, nullptr));
    CHECK(primary != parts[0]);
    CHECK(kernels.context_of(kernels.add(graph, parts[0], By::function)) == primary); // the current one
    kernels.within(parts[0], [&] {
        int device = -1;
        REQUIRE_CUDA(cudaGetDevice(&device));
        CHECK(device == 0);
        CHECK(kernels.context_of(kernels.add(graph, nullptr)) == parts[0]);
        CHECK(kernels.context_of(kernels.add(graph, nullptr, By::function)) == parts[0]);
        CHECK(kernels.context_of(kernels.add(graph, parts[1])) == parts[1]);
    });
    const cudaGraphExec_t exec = instantiated(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, cudaStreamPerThread));
    REQUIRE_CUDA(cudaStreamSynchronize(cudaStreamPerThread));
    REQUIRE_CUDA(cudaGraphExecDestroy(exec));
    REQUIRE_CUDA(cudaGraphDestroy(graph));
}

TEST_CASE("a graph's kernel moves to another context, an executable graph's does not", "[driver][contexts][green]") {
    const GreenParts parts(2);
    const PlacedKernels kernels;
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaGraphCreate(&graph, 0));
    const CUgraphNode node = kernels.add(graph, parts[0]);
    const cudaGraphExec_t exec = instantiated(graph);
    const CUDA_KERNEL_NODE_PARAMS same = kernels.params(parts[0], By::kernel);
    const CUDA_KERNEL_NODE_PARAMS other = kernels.params(parts[1], By::kernel);
    CHECK(kernels.exec_set(exec, node, &same) == CUDA_SUCCESS);
    CHECK(kernels.exec_set(exec, node, &other) == CUDA_ERROR_INVALID_VALUE);
    CHECK(kernels.set(node, &other) == CUDA_SUCCESS);
    CHECK(kernels.context_of(node) == parts[1]);
    cudaGraphExecUpdateResultInfo info{};
    CHECK(cudaGraphExecUpdate(exec, graph, &info) == cudaErrorGraphExecUpdateFailure);
    CHECK(info.result == cudaGraphExecUpdateErrorUnsupportedFunctionChange);
    CHECK(kernels.set(node, &same) == CUDA_SUCCESS);
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, graph, &info));
    const CUDA_KERNEL_NODE_PARAMS plain = kernels.params(nullptr, By::function);
    CHECK(kernels.set(node, &plain) == CUDA_SUCCESS);
    CHECK(kernels.context_of(node) != parts[0]);
    REQUIRE_CUDA(cudaGraphExecDestroy(exec));
    REQUIRE_CUDA(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());
}

TEST_CASE("captured kernels are of their stream's green context", "[driver][contexts][green]") {
    const GreenParts parts(1);
    const PlacedKernels kernels;
    CUstream stream = nullptr;
    REQUIRE(entry_point<PFN_cuGreenCtxStreamCreate_v12050>("cuGreenCtxStreamCreate", 12050)(
                &stream, parts.green(0), CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS);
    REQUIRE_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    REQUIRE_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(nothing), dim3(1), dim3(1), nullptr, 0, stream));
    cudaGraph_t graph = nullptr;
    REQUIRE_CUDA(cudaStreamEndCapture(stream, &graph));
    cudaGraphNode_t node = nullptr;
    std::size_t count = 1;
    REQUIRE_CUDA(cudaGraphGetNodes(graph, &node, &count));
    REQUIRE(count == 1);
    CHECK(kernels.context_of(node) == parts[0]);
    REQUIRE_CUDA(cudaGraphDestroy(graph));
    REQUIRE_CUDA(cudaStreamDestroy(stream));
}

TEST_CASE("multiprocessors are split in groups", "[driver][contexts][green]") {
    const auto resource_of = entry_point<PFN_cuDeviceGetDevResource_v12040>("cuDeviceGetDevResource", 12050);
    const auto split = entry_point<PFN_cuDevSmResourceSplitByCount_v12040>("cuDevSmResourceSplitByCount", 12050);
    REQUIRE_CUDA(cudaFree(nullptr));
    CUdevResource all{};
    REQUIRE(resource_of(0, &all, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS);
    const auto size = [&](unsigned flags, unsigned least) {
        CUdevResource part{};
        unsigned parts = 1;
        CUdevResource rest{};
        const CUresult result = split(&part, &parts, &all, &rest, flags, least);
        if (result != CUDA_SUCCESS) return -static_cast<int>(result);
        CHECK(part.sm.smCount + (rest.type == CU_DEV_RESOURCE_TYPE_SM ? rest.sm.smCount : 0) == all.sm.smCount);
        return static_cast<int>(part.sm.smCount);
    };
    const auto number = static_cast<int>(all.sm.smCount);
    CHECK(size(0, 0) == size(0, 1));
    CHECK(size(0, 1) == size(0, 8));
    CHECK(size(0, 9) > size(0, 8));
    CHECK(size(0, all.sm.smCount) == number);
    CHECK(size(0, all.sm.smCount - 1) == number);
    CHECK(size(0, all.sm.smCount + 1) == -CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    CHECK(size(CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 1) < size(0, 1));
    CHECK(size(CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING, 3) == 4);
    unsigned parts = 0;
    REQUIRE(split(nullptr, &parts, &all, nullptr, 0, 8) == CUDA_SUCCESS);
    CHECK(parts * 8 <= all.sm.smCount);
}

#endif
