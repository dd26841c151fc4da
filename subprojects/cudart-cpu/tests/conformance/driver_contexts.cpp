// The driver's contexts: primary ones, those that a program makes, the stack of each thread, and green contexts.
#include "driver.hpp"

#include <thread>

namespace {

struct Contexts {
    PFN_cuCtxGetCurrent_v4000 current = entry_point<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 12000);
    PFN_cuCtxSetCurrent_v4000 set = entry_point<PFN_cuCtxSetCurrent_v4000>("cuCtxSetCurrent", 12000);
    PFN_cuCtxPushCurrent_v4000 push = entry_point<PFN_cuCtxPushCurrent_v4000>("cuCtxPushCurrent", 12000);
    PFN_cuCtxPopCurrent_v4000 pop = entry_point<PFN_cuCtxPopCurrent_v4000>("cuCtxPopCurrent", 12000);
    PFN_cuCtxCreate_v3020 create = entry_point<PFN_cuCtxCreate_v3020>("cuCtxCreate", 11000);
    PFN_cuCtxDestroy_v4000 destroy = entry_point<PFN_cuCtxDestroy_v4000>("cuCtxDestroy", 12000);
    PFN_cuDevicePrimaryCtxRetain_v7000 retain =
        entry_point<PFN_cuDevicePrimaryCtxRetain_v7000>("cuDevicePrimaryCtxRetain", 12000);
    PFN_cuDevicePrimaryCtxRelease_v11000 release =
        entry_point<PFN_cuDevicePrimaryCtxRelease_v11000>("cuDevicePrimaryCtxRelease", 12000);
    PFN_cuDevicePrimaryCtxGetState_v7000 state =
        entry_point<PFN_cuDevicePrimaryCtxGetState_v7000>("cuDevicePrimaryCtxGetState", 12000);

    CUcontext current_one() const {
        CUcontext context = untouched<CUcontext>();
        CHECK(current(&context) == CUDA_SUCCESS);
        return context;
    }
};

/// Runs `body` on a new thread, which has no context.
template <class Body>
void on_new_thread(Body&& body) {
    std::thread(body).join();
}

} // namespace

TEST_CASE("the driver's primary context is the runtime's", "[driver][contexts]") {
    const Contexts contexts;
    REQUIRE_CUDA(cudaFree(nullptr));
    CUcontext primary = nullptr;
    REQUIRE(contexts.retain(&primary, 0) == CUDA_SUCCESS);
    REQUIRE(primary == contexts.current_one());
    unsigned flags = 99;
    int active = -1;
    REQUIRE(contexts.state(0, &flags, &active) == CUDA_SUCCESS);
    REQUIRE(active == 1);
    REQUIRE(contexts.release(0) == CUDA_SUCCESS);
    REQUIRE(contexts.current_one() == primary); // the runtime still uses it
    REQUIRE(contexts.retain(nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(contexts.retain(&primary, 99) == CUDA_ERROR_INVALID_DEVICE);
    REQUIRE(contexts.state(-1, &flags, &active) == CUDA_ERROR_INVALID_DEVICE);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("each thread has a stack of contexts", "[driver][contexts][threads]") {
    const Contexts contexts;
    REQUIRE_CUDA(cudaFree(nullptr));
    const CUcontext primary = contexts.current_one();
    std::vector<CUresult> codes;
    std::vector<CUcontext> seen;
    on_new_thread([&] {
        const auto note = [&](CUresult code) {
            codes.push_back(code);
            CUcontext context = nullptr;
            contexts.current(&context);
            seen.push_back(context);
        };
        CUcontext popped = nullptr;
        note(contexts.pop(&popped)); // of an empty stack
        note(contexts.push(primary));
        note(contexts.push(primary));
        note(contexts.pop(&popped));
        note(contexts.set(nullptr)); // takes the last one away
        note(contexts.set(primary));
        note(contexts.pop(nullptr));
        note(contexts.push(nullptr));
    });
    REQUIRE(codes == std::vector{CUDA_ERROR_INVALID_CONTEXT, CUDA_SUCCESS, CUDA_SUCCESS, CUDA_SUCCESS, CUDA_SUCCESS,
                                 CUDA_SUCCESS, CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE});
    REQUIRE(seen == std::vector<CUcontext>{nullptr, primary, primary, primary, nullptr, primary, nullptr, nullptr});
}

TEST_CASE("a context made by the program is current until it is destroyed", "[driver][contexts]") {
    const Contexts contexts;
    const auto context_of = entry_point<PFN_cuStreamGetCtx_v9020>("cuStreamGetCtx", 12040);
    const auto create_stream = entry_point<PFN_cuStreamCreate_v2000>("cuStreamCreate", 12000);
    const auto destroy_stream = entry_point<PFN_cuStreamDestroy_v4000>("cuStreamDestroy", 12000);
    REQUIRE_CUDA(cudaFree(nullptr));
    const CUcontext primary = contexts.current_one();
    CUcontext made = nullptr;
    REQUIRE(contexts.create(&made, CU_CTX_SCHED_BLOCKING_SYNC, 0) == CUDA_SUCCESS);
    REQUIRE(made != nullptr);
    REQUIRE(made != primary);
    REQUIRE(contexts.current_one() == made);
    CUstream stream = nullptr;
    REQUIRE(create_stream(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CUcontext context = nullptr;
    REQUIRE(context_of(stream, &context) == CUDA_SUCCESS);
    REQUIRE(context == made);
    REQUIRE(destroy_stream(stream) == CUDA_SUCCESS);
    unsigned flags = 0;
    REQUIRE(entry_point<PFN_cuCtxGetFlags_v7000>("cuCtxGetFlags", 12000)(&flags) == CUDA_SUCCESS);
    REQUIRE((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_BLOCKING_SYNC);
    REQUIRE(entry_point<PFN_cuCtxSynchronize_v2000>("cuCtxSynchronize", 12000)() == CUDA_SUCCESS);
    REQUIRE(contexts.destroy(made) == CUDA_SUCCESS);
    REQUIRE(contexts.current_one() == primary);
    REQUIRE(contexts.create(nullptr, 0, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(contexts.create(&made, 0, 99) == CUDA_ERROR_INVALID_DEVICE);
    REQUIRE(contexts.create(&made, 0xFF00, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(contexts.destroy(nullptr) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(contexts.current_one() == primary);
}

TEST_CASE("without a context the driver refuses memory, streams, events and modules", "[driver][contexts][threads]") {
    const auto allocate = entry_point<PFN_cuMemAlloc_v3020>("cuMemAlloc", 12000);
    const auto create_stream = entry_point<PFN_cuStreamCreate_v2000>("cuStreamCreate", 12000);
    const auto create_event = entry_point<PFN_cuEventCreate_v2000>("cuEventCreate", 12000);
    const auto load = entry_point<PFN_cuModuleLoadData_v2000>("cuModuleLoadData", 12000);
    const auto synchronize = entry_point<PFN_cuCtxSynchronize_v2000>("cuCtxSynchronize", 12000);
    const auto set = entry_point<PFN_cuMemsetD8_v3020>("cuMemsetD8", 12000);
    const DeviceInts data(1);
    std::vector<CUresult> codes;
    on_new_thread([&] {
        CUdeviceptr memory = 0;
        CUstream stream = nullptr;
        CUevent event = nullptr;
        CUmodule module = nullptr;
        codes = {allocate(&memory, 4),    create_stream(&stream, 0),
                 create_event(&event, 0), load(&module, ".version 8.0\n.target sm_52\n.address_size 64\n"),
                 synchronize(),           set(reinterpret_cast<CUdeviceptr>(data.data()), 0, 4)};
    });
    REQUIRE(codes == std::vector<CUresult>(6, CUDA_ERROR_INVALID_CONTEXT));
}

#if CUDA_VERSION >= 12050
TEST_CASE("a green context has a part of the multiprocessors, and streams of its own", "[driver][contexts][green]") {
    const auto resource_of = entry_point<PFN_cuDeviceGetDevResource_v12040>("cuDeviceGetDevResource", 12050);
    const auto split = entry_point<PFN_cuDevSmResourceSplitByCount_v12040>("cuDevSmResourceSplitByCount", 12050);
    const auto describe = entry_point<PFN_cuDevResourceGenerateDesc_v12040>("cuDevResourceGenerateDesc", 12050);
    const auto create = entry_point<PFN_cuGreenCtxCreate_v12040>("cuGreenCtxCreate", 12050);
    const auto destroy = entry_point<PFN_cuGreenCtxDestroy_v12040>("cuGreenCtxDestroy", 12050);
    const auto own_resource = entry_point<PFN_cuGreenCtxGetDevResource_v12040>("cuGreenCtxGetDevResource", 12050);
    const auto context_from = entry_point<PFN_cuCtxFromGreenCtx_v12040>("cuCtxFromGreenCtx", 12050);
    const auto create_stream = entry_point<PFN_cuGreenCtxStreamCreate_v12050>("cuGreenCtxStreamCreate", 12050);
    const auto green_of = entry_point<PFN_cuStreamGetGreenCtx_v12040>("cuStreamGetGreenCtx", 12050);
    REQUIRE_CUDA(cudaFree(nullptr));
    CUdevResource all{};
    REQUIRE(resource_of(0, &all, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS);
    int multiprocessors = 0;
    REQUIRE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    REQUIRE(all.sm.smCount == static_cast<unsigned>(multiprocessors));

    CUdevResource part{};
    CUdevResource rest{};
    unsigned parts = 1;
    REQUIRE(split(&part, &parts, &all, &rest, 0, 8) == CUDA_SUCCESS);
    REQUIRE(parts == 1);
    REQUIRE(part.sm.smCount >= 8);
    REQUIRE(part.sm.smCount + rest.sm.smCount <= all.sm.smCount);
    REQUIRE(split(&part, &parts, nullptr, &rest, 0, 8) == CUDA_ERROR_INVALID_VALUE);

    CUdevResourceDesc descriptor = nullptr;
    REQUIRE(describe(&descriptor, &part, 1) == CUDA_SUCCESS);
    CUgreenCtx green = nullptr;
    REQUIRE(create(&green, descriptor, 0, CU_GREEN_CTX_DEFAULT_STREAM) == CUDA_SUCCESS);
    CUdevResource own{};
    REQUIRE(own_resource(green, &own, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS);
    REQUIRE(own.sm.smCount == part.sm.smCount);

    CUstream stream = nullptr;
    REQUIRE(create_stream(&stream, green, CU_STREAM_NON_BLOCKING, 0) == CUDA_SUCCESS);
    CUgreenCtx found = nullptr;
    REQUIRE(green_of(stream, &found) == CUDA_SUCCESS);
    REQUIRE(found == green);
    CUcontext context = nullptr;
    REQUIRE(context_from(&context, green) == CUDA_SUCCESS);
    REQUIRE(context != nullptr);
    DeviceInts data(1);
    REQUIRE(entry_point<PFN_cuMemsetD32Async_v3020>("cuMemsetD32Async", 12000)(
                reinterpret_cast<CUdeviceptr>(data.data()), 5, 1, stream) == CUDA_SUCCESS);
    REQUIRE_CUDA(cudaStreamSynchronize(stream));
    REQUIRE(data.read() == std::vector{5});
    REQUIRE_CUDA(cudaStreamDestroy(stream));
    REQUIRE(destroy(green) == CUDA_SUCCESS);
    REQUIRE(create(&green, descriptor, 0, 0) == CUDA_ERROR_INVALID_VALUE); // without its flag
}
#endif
