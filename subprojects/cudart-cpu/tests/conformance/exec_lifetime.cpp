// Executable graphs are independent of the graph that they were made from, of each other, and across threads.
#include "gate.hpp"
#include "nodes.hpp"

#include <cstddef>
#include <thread>
#include <vector>

TEST_CASE("an executable graph outlives the graph that it was made from", "[exec]") {
    Stream stream;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Graph graph;
    add_kernel(graph, set);
    const Exec exec(graph);
    graph.destroy();
    exec.run(stream);
    REQUIRE(data.read() == std::vector{1});
}

TEST_CASE("changes of the graph after instantiation do not reach the executable graph", "[exec]") {
    Stream stream;
    DeviceInts data(2);
    Call one(store, data.data(), 0, 1);
    Call two(store, data.data(), 1, 2);
    Graph graph;
    const cudaGraphNode_t node = add_kernel(graph, one);
    const Exec exec(graph);
    add_kernel(graph, two);
    REQUIRE_CUDA(cudaGraphDestroyNode(node));
    exec.run(stream);
    REQUIRE(data.read() == std::vector{1, poison});
}

TEST_CASE("a graph destroyed in flight, with its executable graph, runs to its end", "[exec]") {
    Stream stream;
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Graph graph;
    Gate gate;
    add_kernel(graph, set, {add_host(graph, gate.node())});
    Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    gate.wait_until_entered();
    graph.destroy();
    exec.destroy();
    REQUIRE(gate.passed() == 0);
    gate.open();
    stream.synchronize();
    REQUIRE(data.read() == std::vector{1});
}

TEST_CASE("an upload comes behind the launches in flight, and may be the last of its executable graph", "[exec]") {
    const bool is_uploaded = GENERATE(false, true);
    const bool stream_goes = GENERATE(false, true);
    Stream stream(cudaStreamNonBlocking);
    Stream other(cudaStreamNonBlocking);
    Event end(cudaEventDisableTiming);
    DeviceInts data(1);
    Call set(store, data.data(), 0, 1);
    Graph graph;
    Gate gate;
    add_kernel(graph, set, {add_host(graph, gate.node())});
    Exec exec(graph);
    if (is_uploaded) {
        REQUIRE_CUDA(cudaGraphUpload(exec, stream));
        stream.synchronize();
    }
    cudaStream_t launched = nullptr;
    REQUIRE_CUDA(cudaStreamCreateWithFlags(&launched, cudaStreamNonBlocking));
    REQUIRE_CUDA(cudaGraphLaunch(exec, launched));
    gate.wait_until_entered();
    if (stream_goes) REQUIRE_CUDA(cudaStreamDestroy(launched));
    REQUIRE_CUDA(cudaGraphUpload(exec, other));
    REQUIRE_CUDA(cudaEventRecord(end, other));
    exec.destroy();
    REQUIRE(cudaEventQuery(end) == cudaErrorNotReady);
    REQUIRE(gate.passed() == 0);
    gate.open();
    REQUIRE_CUDA(cudaEventSynchronize(end));
    REQUIRE(gate.passed() == 1);
    REQUIRE(data.read() == std::vector{1});
    if (!stream_goes) REQUIRE_CUDA(cudaStreamDestroy(launched));
}

TEST_CASE("several executable graphs of one graph are independent", "[exec]") {
    Stream stream;
    DeviceInts data(1);
    data.write({0});
    Call plus(add, data.data(), 0, 1);
    Graph graph;
    add_kernel(graph, plus);
    const Exec one(graph);
    {
        const Exec two(graph);
        two.run(stream);
    }
    one.run(stream);
    REQUIRE(data.read() == std::vector{2});
}

TEST_CASE("threads build and run graphs of their own side by side", "[exec][threads]") {
    constexpr std::size_t count = 4;
    void* const kernel = symbol(add);
    std::vector<int> results(count, poison);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < count; ++t) {
        threads.emplace_back([&results, kernel, t] {
            int* data = nullptr;
            bool good = cudaMalloc(reinterpret_cast<void**>(&data), sizeof(int)) == cudaSuccess;
            good = good && cudaMemset(data, 0, sizeof(int)) == cudaSuccess;
            int index = 0;
            int value = 1;
            void* arguments[] = {&data, &index, &value};
            cudaKernelNodeParams params{};
            params.func = kernel;
            params.gridDim = dim3(1);
            params.blockDim = dim3(1);
            params.kernelParams = arguments;
            for (int round = 0; good && round < 20; ++round) {
                cudaGraph_t graph = nullptr;
                cudaGraphExec_t exec = nullptr;
                cudaGraphNode_t node = nullptr;
                good = cudaGraphCreate(&graph, 0) == cudaSuccess &&
                       cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params) == cudaSuccess &&
                       cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess &&
                       cudaGraphLaunch(exec, cudaStreamPerThread) == cudaSuccess &&
                       cudaGraphExecDestroy(exec) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess;
            }
            good = good && cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess;
            good = good && cudaMemcpy(&results[t], data, sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess;
            good = cudaFree(data) == cudaSuccess && good;
            results[t] = good ? results[t] : -1;
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    REQUIRE(results == std::vector<int>(count, 20));
}
