// What kind of node each captured call becomes, and with which parameters.
#include "attributes.hpp"
#include "capture.hpp"
#include "driver.hpp"
#include "symbols.hpp"

#include <vector>

namespace {

cudaKernelNodeParams kernel_params(cudaGraphNode_t node) {
    cudaKernelNodeParams params{};
    REQUIRE_CUDA(cudaGraphKernelNodeGetParams(node, &params));
    return params;
}

cudaMemsetParams memset_params(cudaGraphNode_t node) {
    cudaMemsetParams params{};
    REQUIRE_CUDA(cudaGraphMemsetNodeGetParams(node, &params));
    return params;
}

cudaMemcpy3DParms memcpy_params(cudaGraphNode_t node) {
    cudaMemcpy3DParms params{};
    REQUIRE_CUDA(cudaGraphMemcpyNodeGetParams(node, &params));
    return params;
}

bool is(const cudaMemsetParams& params, void* to, unsigned element, std::size_t width, std::size_t height,
        std::size_t pitch, unsigned value) {
    return params.dst == to && params.elementSize == element && params.width == width && params.height == height &&
           params.pitch == pitch && params.value == value;
}

bool is(const cudaMemcpy3DParms& params, const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return params.dstPtr.ptr == to && params.srcPtr.ptr == from && params.extent.width == bytes &&
           params.extent.height == 1 && params.extent.depth == 1 && params.kind == kind;
}

/// Of what the one call in a capture became.
Nodes captured(Capture& capture, std::size_t count = 1) {
    const Nodes nodes = nodes_of(capture.end());
    REQUIRE(nodes.size() == count);
    return nodes;
}

template <class... P>
void launch_with(Call<P...>& call, cudaStream_t stream, cudaLaunchAttributeID id, const Value& value) {
    cudaLaunchAttribute attribute{};
    attribute.id = id;
    attribute.val = value;
    cudaLaunchConfig_t config{};
    config.gridDim = call.grid;
    config.blockDim = call.block;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    REQUIRE_CUDA(cudaLaunchKernelExC(&config, call.function(), call.arguments()));
}

} // namespace

TEST_CASE("a captured launch becomes a kernel node with its configuration and arguments", "[capture][kernel]") {
    Stream stream;
    DeviceInts data(6);
    Call call(copy_plus, data.data(), data.data() + 3, 3, 7);
    call.grid = dim3(2, 3, 4);
    call.block = dim3(8, 2, 1);
    Capture capture(stream);
    REQUIRE_CUDA(cudaLaunchKernel(call.function(), call.grid, call.block, call.arguments(), 64, stream));
    const cudaKernelNodeParams params = kernel_params(captured(capture)[0]);
    REQUIRE(params.func == call.function());
    REQUIRE((params.gridDim.x == 2 && params.gridDim.y == 3 && params.gridDim.z == 4));
    REQUIRE((params.blockDim.x == 8 && params.blockDim.y == 2 && params.blockDim.z == 1));
    REQUIRE(params.sharedMemBytes == 64);
    REQUIRE(*static_cast<int**>(params.kernelParams[1]) == data.data() + 3);
    REQUIRE(*static_cast<int*>(params.kernelParams[3]) == 7);
}

TEST_CASE("a captured launch copies its arguments", "[capture][kernel]") {
    Stream stream;
    DeviceInts data(1);
    Call call(store, data.data(), 0, 1);
    Capture capture(stream);
    call.launch(stream);
    call.argument<2>() = 2;
    Exec(capture.end()).run(stream);
    REQUIRE(data.read() == std::vector{1});
}

TEST_CASE("a captured kernel node has its stream's priority", "[capture][kernel][attributes]") {
    int lowest = 0;
    int highest = 0;
    REQUIRE_CUDA(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    Stream usual;
    cudaStream_t urgent = nullptr;
    REQUIRE_CUDA(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, highest));
    Call call(nothing);
    {
        Capture capture(urgent);
        call.launch(urgent);
        follow(usual, urgent);
        call.launch(usual);
        follow(urgent, usual);
        const Nodes nodes = captured(capture, 2);
        REQUIRE(get(nodes[0], cudaLaunchAttributePriority).priority == highest);
        REQUIRE(get(nodes[1], cudaLaunchAttributePriority).priority == 0);
    }
    REQUIRE_CUDA(cudaStreamDestroy(urgent));
}

TEST_CASE("a launch's own priority goes before its stream's, within the range", "[capture][kernel][attributes]") {
    int lowest = 0;
    int highest = 0;
    REQUIRE_CUDA(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    launch_with(call, stream, cudaLaunchAttributePriority, priority_value(highest));
    launch_with(call, stream, cudaLaunchAttributePriority, priority_value(-100));
    const Nodes nodes = captured(capture, 2);
    REQUIRE(get(nodes[0], cudaLaunchAttributePriority).priority == highest);
    REQUIRE(get(nodes[1], cudaLaunchAttributePriority).priority == highest);
}

TEST_CASE("a captured cooperative launch becomes a cooperative kernel node", "[capture][kernel][attributes]") {
    Stream stream;
    Call call(nothing);
    Capture capture(stream);
    call.launch(stream);
    launch_with(call, stream, cudaLaunchAttributeCooperative, cooperative_value());
    const Nodes nodes = captured(capture, 2);
    REQUIRE(get(nodes[0], cudaLaunchAttributeCooperative).cooperative == 0);
    REQUIRE(get(nodes[1], cudaLaunchAttributeCooperative).cooperative == 1);
}

TEST_CASE("a captured host function becomes a host node", "[capture][host]") {
    Stream stream;
    int count = 0;
    const cudaHostFn_t increment = [](void* data) { ++*static_cast<int*>(data); };
    Capture capture(stream);
    REQUIRE_CUDA(cudaLaunchHostFunc(stream, increment, &count));
    const cudaGraph_t graph = capture.end();
    cudaHostNodeParams params{};
    REQUIRE_CUDA(cudaGraphHostNodeGetParams(nodes_of(graph).at(0), &params));
    REQUIRE(params.fn == increment);
    REQUIRE(params.userData == &count);
    REQUIRE(count == 0);
    Exec(graph).run(stream);
    REQUIRE(count == 1);
}

TEST_CASE("a captured memset becomes a memset node of bytes", "[capture][memset]") {
    Stream stream;
    DeviceInts data(64);
    Capture capture(stream);
    SECTION("of a line") {
        REQUIRE_CUDA(cudaMemsetAsync(data.data(), 0x1ab, 100, stream));
        REQUIRE(is(memset_params(captured(capture)[0]), data.data(), 1, 100, 1, 0, 0xab));
    }
    SECTION("of rows") {
        REQUIRE_CUDA(cudaMemset2DAsync(data.data(), 64, 5, 16, 3, stream));
        REQUIRE(is(memset_params(captured(capture)[0]), data.data(), 1, 16, 3, 64, 5));
    }
    SECTION("of full rows") {
        REQUIRE_CUDA(cudaMemset2DAsync(data.data(), 64, 5, 64, 3, stream));
        REQUIRE(is(memset_params(captured(capture)[0]), data.data(), 1, 64, 3, 64, 5));
    }
    SECTION("of one row") {
        REQUIRE_CUDA(cudaMemset2DAsync(data.data(), 64, 5, 16, 1, stream));
        REQUIRE(is(memset_params(captured(capture)[0]), data.data(), 1, 16, 1, 64, 5));
    }
    SECTION("of one slice") {
        const cudaPitchedPtr box = make_cudaPitchedPtr(data.data(), 64, 32, 4);
        REQUIRE_CUDA(cudaMemset3DAsync(box, 9, make_cudaExtent(16, 2, 1), stream));
        REQUIRE(is(memset_params(captured(capture)[0]), data.data(), 1, 16, 2, 64, 9));
    }
}

TEST_CASE("a captured memset of memory that is not CUDA's, or not all of it, is refused by the instantiation",
          "[capture][memset]") {
    Stream stream;
    DeviceInts data(4);
    int pageable = poison;
    Capture capture(stream);
    SECTION("the host's") {
        REQUIRE_CUDA(cudaMemsetAsync(&pageable, 0, 4, stream));
    }
    SECTION("nobody's") {
        REQUIRE_CUDA(cudaMemsetAsync(reinterpret_cast<void*>(0x1234), 0, 4, stream));
    }
    SECTION("too much") {
        REQUIRE_CUDA(cudaMemsetAsync(data.data(), 0, 4096, stream));
    }
    const cudaGraph_t graph = capture.end();
    REQUIRE(nodes_of(graph).size() == 1);
    cudaGraphExec_t exec = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
    REQUIRE(pageable == poison);
    REQUIRE(data.read() == std::vector<int>(4, poison));
}

TEST_CASE("a captured memset of slices becomes a node for each, in a line", "[capture][memset]") {
    Stream stream;
    DeviceInts data(256);
    int* const first = data.data();
    const cudaPitchedPtr box = make_cudaPitchedPtr(first, 64, 32, 4);
    Capture capture(stream);
    SECTION("parts of slices") {
        REQUIRE_CUDA(cudaMemset3DAsync(box, 9, make_cudaExtent(16, 2, 3), stream));
        const cudaGraph_t graph = capture.end();
        const Nodes nodes = nodes_of(graph);
        REQUIRE(places(graph) == Places{{0, 1}, {1, 2}});
        for (std::size_t i = 0; i < 3; ++i) {
            REQUIRE(is(memset_params(nodes[i]), first + i * 64, 1, 16, 2, 64, 9));
        }
        Exec(graph).run(stream);
        REQUIRE(data.read()[128] == 0x09090909);
        REQUIRE(data.read()[132] == poison);
    }
    SECTION("but whole ones a single line of bytes") {
        REQUIRE_CUDA(cudaMemset3DAsync(box, 9, make_cudaExtent(64, 4, 3), stream));
        REQUIRE(is(memset_params(captured(capture)[0]), first, 1, 768, 1, 0, 9));
    }
}

TEST_CASE("the driver's memsets are captured with the size of their elements", "[capture][memset][driver]") {
    Stream stream;
    DeviceInts data(64);
    const auto address = reinterpret_cast<CUdeviceptr>(data.data());
    const auto bytes = entry_point<PFN_cuMemsetD8Async_v3020>("cuMemsetD8Async", 12000);
    const auto shorts = entry_point<PFN_cuMemsetD16Async_v3020>("cuMemsetD16Async", 12000);
    const auto ints = entry_point<PFN_cuMemsetD32Async_v3020>("cuMemsetD32Async", 12000);
    const auto rows = entry_point<PFN_cuMemsetD2D32Async_v3020>("cuMemsetD2D32Async", 12000);
    Capture capture(stream);
    REQUIRE(bytes(address, 0xab, 10, stream) == CUDA_SUCCESS);
    REQUIRE(shorts(address, 0xabcd, 10, stream) == CUDA_SUCCESS);
    REQUIRE(ints(address, 0xabcdef01, 10, stream) == CUDA_SUCCESS);
    REQUIRE(rows(address, 64, 0xabcdef01, 10, 3, stream) == CUDA_SUCCESS);
    REQUIRE(ints(address, 1, 0, stream) == CUDA_SUCCESS);
    const Nodes nodes = captured(capture, 4);
    REQUIRE(is(memset_params(nodes[0]), data.data(), 1, 10, 1, 0, 0xab));
    REQUIRE(is(memset_params(nodes[1]), data.data(), 2, 10, 1, 0, 0xabcd));
    REQUIRE(is(memset_params(nodes[2]), data.data(), 4, 10, 1, 0, 0xabcdef01));
    REQUIRE(is(memset_params(nodes[3]), data.data(), 4, 10, 3, 64, 0xabcdef01));
}

TEST_CASE("a captured copy becomes a memcpy node, its kind as given", "[capture][memcpy]") {
    Stream stream;
    DeviceInts data(64);
    PinnedInts pinned(64);
    std::vector<int> pageable(64);
    struct Copy {
        void* to;
        void* from;
        cudaMemcpyKind kind;
    };
    const Copy copies[] = {{data.data(), data.data() + 32, cudaMemcpyDeviceToDevice},
                           {data.data(), data.data() + 32, cudaMemcpyDefault},
                           {data.data(), pinned.data(), cudaMemcpyHostToDevice},
                           {pinned.data(), data.data(), cudaMemcpyDefault},
                           {data.data(), pageable.data(), cudaMemcpyHostToDevice},
                           {pageable.data(), data.data(), cudaMemcpyDeviceToHost},
                           {pageable.data(), pinned.data(), cudaMemcpyDefault},
                           {pageable.data(), pinned.data(), cudaMemcpyHostToHost}};
    Capture capture(stream);
    for (const Copy& copy : copies) {
        REQUIRE_CUDA(cudaMemcpyAsync(copy.to, copy.from, 100, copy.kind, stream));
    }
    const Nodes nodes = captured(capture, 8);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        INFO(i);
        REQUIRE(is(memcpy_params(nodes[i]), copies[i].to, copies[i].from, 100, copies[i].kind));
    }
}

TEST_CASE("a captured copy of pageable memory reads it when the graph runs", "[capture][memcpy]") {
    Stream stream;
    DeviceInts data(2);
    std::vector<int> source{1, 2};
    std::vector<int> back(2, poison);
    Capture capture(stream);
    REQUIRE_CUDA(cudaMemcpyAsync(data.data(), source.data(), 8, cudaMemcpyHostToDevice, stream));
    REQUIRE_CUDA(cudaMemcpyAsync(back.data(), data.data(), 8, cudaMemcpyDeviceToHost, stream));
    const Exec exec(capture.end());
    source = {3, 4};
    REQUIRE(back == std::vector{poison, poison});
    exec.run(stream);
    REQUIRE(back == std::vector{3, 4});
}

TEST_CASE("a captured copy of rows becomes a memcpy node with both pitches", "[capture][memcpy]") {
    Stream stream;
    DeviceInts data(512);
    int* const to = data.data();
    int* const from = data.data() + 256;
    Capture capture(stream);
    REQUIRE_CUDA(cudaMemcpy2DAsync(to, 64, from, 32, 16, 3, cudaMemcpyDeviceToDevice, stream));
    const cudaMemcpy3DParms params = memcpy_params(captured(capture)[0]);
    REQUIRE((params.dstPtr.ptr == to && params.srcPtr.ptr == from));
    REQUIRE((params.dstPtr.pitch == 64 && params.srcPtr.pitch == 32));
    REQUIRE((params.extent.width == 16 && params.extent.height == 3 && params.extent.depth == 1));
    REQUIRE(params.kind == cudaMemcpyDeviceToDevice);
}

TEST_CASE("a captured copy of a box becomes a memcpy node with its positions", "[capture][memcpy]") {
    Stream stream;
    DeviceInts data(1024);
    cudaMemcpy3DParms box{};
    box.srcPtr = make_cudaPitchedPtr(data.data(), 64, 64, 4);
    box.dstPtr = make_cudaPitchedPtr(data.data() + 512, 32, 32, 4);
    box.srcPos = make_cudaPos(8, 1, 0);
    box.extent = make_cudaExtent(16, 2, 2);
    box.kind = cudaMemcpyDeviceToDevice;
    Capture capture(stream);
    REQUIRE_CUDA(cudaMemcpy3DAsync(&box, stream));
    const cudaMemcpy3DParms params = memcpy_params(captured(capture)[0]);
    REQUIRE((params.srcPtr.ptr == data.data() && params.dstPtr.ptr == data.data() + 512));
    REQUIRE((params.srcPtr.pitch == 64 && params.srcPtr.ysize == 4));
    REQUIRE((params.dstPtr.pitch == 32 && params.dstPtr.ysize == 4));
    REQUIRE((params.srcPos.x == 8 && params.srcPos.y == 1 && params.dstPos.x == 0));
    REQUIRE((params.extent.width == 16 && params.extent.height == 2 && params.extent.depth == 2));
}

TEST_CASE("captured copies to and from a symbol are copies at its address", "[capture][memcpy][symbols]") {
    Stream stream;
    DeviceInts data(16);
    void* address = nullptr;
    REQUIRE_CUDA(cudaGetSymbolAddress(&address, variable_symbol()));
    const auto at = [&](std::size_t bytes) { return static_cast<char*>(address) + bytes; };
    Capture capture(stream);
    REQUIRE_CUDA(cudaMemcpyToSymbolAsync(variable_symbol(), data.data(), 16, 4, cudaMemcpyDeviceToDevice, stream));
    REQUIRE_CUDA(cudaMemcpyFromSymbolAsync(data.data(), variable_symbol(), 16, 8, cudaMemcpyDeviceToDevice, stream));
    const Nodes nodes = captured(capture, 2);
    REQUIRE(is(memcpy_params(nodes[0]), at(4), data.data(), 16, cudaMemcpyDeviceToDevice));
    REQUIRE(is(memcpy_params(nodes[1]), data.data(), at(8), 16, cudaMemcpyDeviceToDevice));
}

TEST_CASE("captured calls that have nothing to do add no nodes", "[capture]") {
    Stream stream;
    DeviceInts data(16);
    void* memory = &data;
    Capture capture(stream);
    REQUIRE_CUDA(cudaMemcpyAsync(data.data(), data.data() + 8, 0, cudaMemcpyDeviceToDevice, stream));
    REQUIRE_CUDA(cudaMemcpyAsync(nullptr, nullptr, 0, cudaMemcpyDefault, stream));
    REQUIRE_CUDA(cudaMemcpy2DAsync(data.data(), 16, data.data() + 8, 16, 0, 3, cudaMemcpyDefault, stream));
    REQUIRE_CUDA(cudaMemsetAsync(data.data(), 0, 0, stream));
    REQUIRE_CUDA(cudaMemsetAsync(nullptr, 0, 0, stream));
    REQUIRE_CUDA(cudaMemset2DAsync(data.data(), 16, 0, 0, 3, stream));
    REQUIRE_CUDA(cudaMallocAsync(&memory, 0, stream));
    REQUIRE_CUDA(cudaFreeAsync(nullptr, stream));
    REQUIRE(memory == nullptr);
    REQUIRE(nodes_of(capture.end()).empty());
}
