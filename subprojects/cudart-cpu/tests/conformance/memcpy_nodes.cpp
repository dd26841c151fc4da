// Memcpy nodes: validated when they are added.
#include "gate.hpp"
#include "nodes.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace {

cudaError_t add_1d(cudaGraph_t graph, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    auto node = untouched<cudaGraphNode_t>();
    const cudaError_t code = cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, from, bytes, kind);
    REQUIRE((node == untouched<cudaGraphNode_t>()) == (code != cudaSuccess));
    return code;
}

cudaMemcpy3DParms rows(void* to, std::size_t to_pitch, void* from, std::size_t from_pitch, std::size_t width,
                       std::size_t height) {
    cudaMemcpy3DParms params{};
    params.dstPtr = make_cudaPitchedPtr(to, to_pitch, width, height);
    params.srcPtr = make_cudaPitchedPtr(from, from_pitch, width, height);
    params.extent = make_cudaExtent(width, height, 1);
    params.kind = cudaMemcpyHostToDevice;
    return params;
}

} // namespace

TEST_CASE("memcpy nodes move data to the device, across it and back", "[graph][memcpy]") {
    Stream stream;
    Graph graph;
    DeviceInts first(4);
    DeviceInts second(4);
    std::vector<int> source{1, 2, 3, 4};
    std::vector<int> back(4, poison);
    std::vector<int> host(4, poison);
    const cudaGraphNode_t up = add_memcpy(graph, first.data(), source.data(), 16, cudaMemcpyHostToDevice);
    const cudaGraphNode_t across = add_memcpy(graph, second.data(), first.data(), 16, cudaMemcpyDeviceToDevice, {up});
    add_memcpy(graph, back.data(), second.data(), 16, cudaMemcpyDeviceToHost, {across});
    add_memcpy(graph, host.data(), source.data(), 16, cudaMemcpyHostToHost);
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(back == source);
    REQUIRE(host == source);
}

TEST_CASE("a memcpy node of the default kind finds its direction", "[graph][memcpy]") {
    Stream stream;
    Graph graph;
    DeviceInts device(2);
    std::vector<int> source{1, 2};
    std::vector<int> back(2, poison);
    const cudaGraphNode_t up = add_memcpy(graph, device.data(), source.data(), 8, cudaMemcpyDefault);
    add_memcpy(graph, back.data(), device.data(), 8, cudaMemcpyDefault, {up});
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(back == source);
}

TEST_CASE("a memcpy node reads pageable memory when the graph is launched, pinned memory when it runs",
          "[graph][memcpy]") {
    Stream stream;
    DeviceInts device(2);
    int pageable = 1;
    PinnedInts pinned(1);
    pinned[0] = 1;
    Graph graph;
    Gate gate;
    const cudaGraphNode_t held = add_host(graph, gate.node());
    add_memcpy(graph, device.data(), &pageable, 4, cudaMemcpyHostToDevice, {held});
    add_memcpy(graph, device.data() + 1, pinned.data(), 4, cudaMemcpyHostToDevice, {held});
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphUpload(exec, stream));
    stream.synchronize();
    pageable = 2;
    pinned[0] = 2;
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    gate.wait_until_entered();
    pageable = 3;
    pinned[0] = 3;
    gate.open();
    stream.synchronize();
    REQUIRE(device.read() == std::vector{2, 3});
    exec.run(stream);
    REQUIRE(device.read() == std::vector{3, 3});
}

namespace {

/// Opens a gate a little later, unless nobody waits for it.
class Opener {
  public:
    explicit Opener(Gate& gate)
        : thread_([this, &gate] {
              gate.wait_until_entered();
              std::this_thread::sleep_for(std::chrono::milliseconds(20));
              has_opened_ = true;
              gate.open();
          }) {}
    Opener(const Opener&) = delete;
    Opener& operator=(const Opener&) = delete;
    ~Opener() { thread_.join(); }

    [[nodiscard]] bool has_opened() const { return has_opened_; }

  private:
    std::atomic<bool> has_opened_ = false;
    std::thread thread_;
};

} // namespace

TEST_CASE("launches in a row that copy in and out of pageable memory see what those before them wrote",
          "[graph][memcpy]") {
    const std::size_t count = GENERATE(std::size_t{1}, std::size_t{1024}, std::size_t{1} << 18);
    Stream stream;
    DeviceInts device(count);
    std::vector<int> host(count, 0);
    Call plus(copy_plus, device.data(), device.data(), static_cast<int>(count), 17);
    plus.grid = dim3(static_cast<unsigned>((count + 255) / 256));
    plus.block = dim3(256);
    Graph graph;
    const cudaGraphNode_t up = add_memcpy(graph, device.data(), host.data(), count * 4, cudaMemcpyHostToDevice);
    const cudaGraphNode_t kernel = add_kernel(graph, plus, {up});
    add_memcpy(graph, host.data(), device.data(), count * 4, cudaMemcpyDeviceToHost, {kernel});
    const Exec exec(graph);
    for (int i = 0; i < 10; ++i) {
        REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    }
    stream.synchronize();
    REQUIRE(host == std::vector<int>(count, 170));
}

TEST_CASE("a launch returns once its copies to pageable memory and within the host have run",
          "[graph][memcpy][concurrent]") {
    Stream stream(cudaStreamNonBlocking);
    DeviceInts device(1);
    device.write({5});
    PinnedInts pinned(2);
    pinned[0] = 5;
    int pageable[2] = {5, poison};
    int* to = &pageable[1];
    const int* from = device.data();
    SECTION("from the device") {}
    SECTION("from pageable memory") {
        from = &pageable[0];
    }
    SECTION("from pinned memory") {
        from = pinned.data();
    }
    SECTION("from pageable to pinned memory") {
        from = &pageable[0];
        to = pinned.data() + 1;
    }
    SECTION("from pinned to pinned memory") {
        from = pinned.data();
        to = pinned.data() + 1;
    }
    Graph graph;
    Gate gate;
    const cudaGraphNode_t held = add_host(graph, gate.node());
    add_memcpy(graph, to, from, 4, cudaMemcpyDefault, {held});
    const Exec exec(graph);
    const Opener opener(gate);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE(opener.has_opened());
    REQUIRE(*to == 5);
    stream.synchronize();
}

TEST_CASE("a launch does not wait for what comes after a copy to pageable memory", "[graph][memcpy][concurrent]") {
    Stream stream(cudaStreamNonBlocking);
    DeviceInts device(2);
    device.write({5, poison});
    int down = poison;
    int up = 1;
    Graph graph;
    Gate gate;
    const cudaGraphNode_t first = add_memcpy(graph, &down, device.data(), 4, cudaMemcpyDeviceToHost);
    const cudaGraphNode_t held = add_host(graph, gate.node(), {first});
    add_memcpy(graph, device.data() + 1, &up, 4, cudaMemcpyHostToDevice, {held});
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    REQUIRE(down == 5);
    gate.wait_until_entered();
    up = 2; // was read in the call
    gate.open();
    stream.synchronize();
    REQUIRE(device.read() == std::vector{5, 1});
}

TEST_CASE("a copy from pageable memory finds what a copy before it in the launch wrote there", "[graph][memcpy]") {
    Stream stream;
    DeviceInts device(3);
    int host = 1;
    Call set(store, device.data(), 2, 7);
    Graph graph;
    const cudaGraphNode_t up = add_memcpy(graph, device.data(), &host, 4, cudaMemcpyHostToDevice);
    const cudaGraphNode_t kernel = add_kernel(graph, set, {up});
    const cudaGraphNode_t down = add_memcpy(graph, &host, device.data() + 2, 4, cudaMemcpyDeviceToHost, {kernel});
    const cudaGraphNode_t between = add_empty(graph, {down});
    add_memcpy(graph, device.data() + 1, &host, 4, cudaMemcpyHostToDevice, {between});
    const Exec exec(graph);
    for (int i = 0; i < 10; ++i) {
        host = 1;
        device.write({poison, poison, poison});
        exec.run(stream);
        REQUIRE(device.read() == std::vector{1, 7, 7});
    }
}

TEST_CASE("a launch and a call wait for large copies from pageable memory", "[graph][memcpy][copies][concurrent]") {
    constexpr std::size_t count = std::size_t{4} << 20;
    Stream stream(cudaStreamNonBlocking);
    DeviceInts device(count);
    const std::vector<int> host(count, 3);
    Graph graph;
    Gate gate;
    add_memcpy(graph, device.data(), host.data(), count * 4, cudaMemcpyHostToDevice);
    const Exec exec(graph);
    gate.block(stream);
    const Opener opener(gate);
    SECTION("a launch") {
        REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    }
    SECTION("a call") {
        REQUIRE_CUDA(cudaMemcpyAsync(device.data(), host.data(), count * 4, cudaMemcpyHostToDevice, stream));
    }
    REQUIRE(opener.has_opened());
    stream.synchronize();
    REQUIRE(device.read() == host);
}

TEST_CASE("a host node after a memcpy node to pageable memory sees the data", "[graph][memcpy]") {
    Stream stream;
    DeviceInts device(1);
    device.write({5});
    int values[2] = {poison, poison};
    Graph graph;
    const cudaGraphNode_t down = add_memcpy(graph, &values[0], device.data(), 4, cudaMemcpyDeviceToHost);
    add_host(graph,
             {[](void* data) {
                  const auto pair = static_cast<int*>(data);
                  pair[1] = pair[0] + 1;
              },
              values},
             {down});
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(values[1] == 6);
}

TEST_CASE("a memcpy node gives its operands back", "[graph][memcpy]") {
    Graph graph;
    DeviceInts device(4);
    std::vector<int> host(4);
    const cudaGraphNode_t node = add_memcpy(graph, device.data(), host.data(), 16, cudaMemcpyHostToDevice);
    cudaMemcpy3DParms params{};
    REQUIRE_CUDA(cudaGraphMemcpyNodeGetParams(node, &params));
    REQUIRE(params.dstPtr.ptr == device.data());
    REQUIRE(params.srcPtr.ptr == host.data());
    REQUIRE((params.extent.width == 16 && params.extent.height == 1 && params.extent.depth == 1));
    REQUIRE(params.kind == cudaMemcpyHostToDevice);
    REQUIRE((params.dstArray == nullptr && params.srcArray == nullptr));
    REQUIRE((params.dstPtr.pitch == 0 && params.srcPtr.pitch == 0));
}

TEST_CASE("a memcpy node of nothing, or of null, is refused", "[graph][memcpy]") {
    Graph graph;
    DeviceInts device(4);
    std::vector<int> host(4);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add_1d(graph, device.data(), host.data(), 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add_1d(graph, nullptr, nullptr, 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add_1d(graph, nullptr, host.data(), 16, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add_1d(graph, device.data(), nullptr, 16, cudaMemcpyHostToDevice));
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, nullptr));
    REQUIRE(nodes_of(graph).empty());
}

TEST_CASE("pageable memory on a device side of a memcpy node is refused", "[graph][memcpy]") {
    Graph graph;
    DeviceInts device(4);
    std::vector<int> host(4);
    std::vector<int> other(4);
    const auto refuse = [&](void* to, const void* from, cudaMemcpyKind kind) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add_1d(graph, to, from, 16, kind));
    };
    refuse(device.data(), host.data(), cudaMemcpyDeviceToDevice);
    refuse(device.data(), host.data(), cudaMemcpyDeviceToHost);
    refuse(host.data(), device.data(), cudaMemcpyDeviceToDevice);
    refuse(host.data(), device.data(), cudaMemcpyHostToDevice);
    refuse(host.data(), other.data(), cudaMemcpyDeviceToDevice);
    refuse(host.data(), other.data(), cudaMemcpyHostToDevice);
    REQUIRE(nodes_of(graph).empty());
}

TEST_CASE("device and pinned memory may stand on either side of a memcpy node", "[graph][memcpy]") {
    Stream stream;
    DeviceInts from(1);
    DeviceInts to(1);
    PinnedInts pinned(1);
    from.write({7});
    const auto copies = [&](int* target, const int* source, cudaMemcpyKind kind) {
        Graph graph;
        add_memcpy(graph, target, source, 4, kind);
        const Exec exec(graph);
        exec.run(stream);
    };
    for (const cudaMemcpyKind kind : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyHostToHost}) {
        to.write({poison});
        copies(to.data(), from.data(), kind);
        REQUIRE(to.read() == std::vector{7});
    }
    for (const cudaMemcpyKind kind : {cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}) {
        pinned[0] = poison;
        copies(pinned.data(), from.data(), kind);
        REQUIRE(pinned[0] == 7);
    }
}

TEST_CASE("a memcpy node beyond the end of device memory is refused", "[graph][memcpy]") {
    Graph graph;
    DeviceInts device(16);
    DeviceInts large(64);
    std::vector<int> host(64);
    const auto refuse = [&](void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, add_1d(graph, to, from, bytes, kind));
    };
    refuse(device.data(), host.data(), 256, cudaMemcpyHostToDevice);
    refuse(device.data(), large.data(), 256, cudaMemcpyDeviceToDevice);
    refuse(large.data(), device.data(), 256, cudaMemcpyDeviceToDevice);
    refuse(device.data() + 15, host.data(), 8, cudaMemcpyHostToDevice);
    refuse(host.data(), device.data() + 15, 8, cudaMemcpyDeviceToHost);
}

TEST_CASE("a memcpy node of the graph gets any valid new parameters", "[graph][memcpy]") {
    Stream stream;
    Graph graph;
    DeviceInts first(2);
    DeviceInts second(2);
    first.write({1, 2});
    std::vector<int> host(2, 7);
    const cudaGraphNode_t node = add_memcpy(graph, second.data(), host.data(), 4, cudaMemcpyHostToDevice);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaGraphMemcpyNodeSetParams1D(node, second.data(), host.data(), 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParams1D(add_empty(graph), second.data(),
                                                                             host.data(), 4, cudaMemcpyHostToDevice));
    REQUIRE_CUDA(cudaGraphMemcpyNodeSetParams1D(node, second.data(), first.data(), 8, cudaMemcpyDeviceToDevice));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(second.read() == std::vector{1, 2});
}

TEST_CASE("a memcpy node needs a kind that exists", "[graph][memcpy]") {
    Graph graph;
    DeviceInts device(4);
    std::vector<int> host(4);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection,
                       add_1d(graph, device.data(), host.data(), 16, static_cast<cudaMemcpyKind>(7)));
}

TEST_CASE("a two-dimensional memcpy node skips the padding of both sides", "[graph][memcpy]") {
    Stream stream;
    Graph graph;
    DeviceInts device(8);
    std::vector<int> source{1, 2, 0, 3, 4, 0};
    const cudaMemcpy3DParms params = rows(device.data(), 16, source.data(), 12, 8, 2);
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(device.read() == std::vector{1, 2, poison, poison, 3, 4, poison, poison});
}

TEST_CASE("a multi-dimensional memcpy node checks extent and pitch", "[graph][memcpy]") {
    Graph graph;
    DeviceInts device(8);
    std::vector<int> source(8);
    cudaGraphNode_t node = nullptr;
    cudaMemcpy3DParms params = rows(device.data(), 16, source.data(), 4, 8, 2);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidPitchValue, cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    params = rows(device.data(), 16, source.data(), 16, 8, 2);
    params.extent.depth = 0;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    params.extent = make_cudaExtent(0, 2, 1);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &params));
    REQUIRE(nodes_of(graph).empty());
}
