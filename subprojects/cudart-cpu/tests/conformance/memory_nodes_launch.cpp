// What launches of graphs with alloc and free nodes do.
#include "memory_nodes.hpp"

#include "gate.hpp"

#include <memory>
#include <vector>

TEST_CASE("memory is there between its alloc node and its free node, at every launch", "[memory_nodes]") {
    Stream stream;
    Graph graph;
    PinnedInts back(4);
    const Allocation allocation = add_alloc(graph, 4);
    const cudaGraphNode_t set = add_memset(graph, set_ints(allocation.data, 4, 7), {allocation.node});
    const cudaGraphNode_t down = add_memcpy(graph, back.data(), allocation.data, 16, cudaMemcpyDeviceToHost, {set});
    add_free(graph, allocation.data, {down});
    const Exec exec(graph);
    for (int launch = 0; launch < 3; ++launch) {
        back[0] = poison;
        exec.run(stream);
        REQUIRE(back.read() == std::vector<int>(4, 7));
    }
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(allocation.data));
}

TEST_CASE("memory that its graph does not free is there after the launch", "[memory_nodes]") {
    Stream stream;
    const LeavingGraph leaving;
    const Exec exec(leaving.graph);
    exec.run(stream);
    REQUIRE(first_of(leaving.data()) == 7);
    Call plus(add, leaving.data(), 0, 1);
    plus.launch(stream);
    stream.synchronize();
    REQUIRE(first_of(leaving.data()) == 8);
    REQUIRE_CUDA(cudaFree(leaving.data()));
}

TEST_CASE("a graph is not launched again until its memory is freed", "[memory_nodes]") {
    Stream stream;
    const LeavingGraph leaving;
    const Exec exec(leaving.graph);
    exec.run(stream);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream));
    REQUIRE_CUDA(cudaFreeAsync(leaving.data(), stream));
    exec.run(stream);
    REQUIRE(first_of(leaving.data()) == 7);
    REQUIRE_CUDA(cudaFree(leaving.data()));
    exec.run(stream);
    REQUIRE_CUDA(cudaFree(leaving.data()));
}

TEST_CASE("the memory of a graph is freed once, and only while it is allocated", "[memory_nodes]") {
    Stream stream;
    const LeavingGraph leaving;
    const Exec exec(leaving.graph);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(leaving.data()));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeAsync(leaving.data(), stream));
    exec.run(stream);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(leaving.data() + 1));
    REQUIRE_CUDA(cudaFreeAsync(leaving.data(), stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeAsync(leaving.data(), stream));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(leaving.data()));
    stream.synchronize();
}

TEST_CASE("memory of a graph that is gone is freed by another graph as long as it may be allocated", "[memory_nodes]") {
    Stream stream;
    const bool launched = GENERATE(false, true);
    auto leaving = std::make_unique<LeavingGraph>();
    int* const data = leaving->data();
    auto exec = std::make_unique<Exec>(leaving->graph);
    leaving.reset();
    if (launched) {
        exec->run(stream);
        REQUIRE_CUDA(cudaFreeAsync(data, stream));
    }
    {
        const FreeingGraph freeing(data);
        const Exec freeing_exec(freeing.graph);
        REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(freeing_exec, stream));
        for (int i = 0; i < 2; ++i) {
            exec->run(stream);
            REQUIRE(first_of(data) == 7);
            freeing_exec.run(stream);
        }
    }
    const bool allocated = GENERATE(false, true);
    if (allocated) {
        exec->run(stream);
    }
    exec.reset();
    Graph last;
    cudaGraphNode_t node = nullptr;
    const cudaError_t code = cudaGraphAddMemFreeNode(&node, last, nullptr, 0, data);
    REQUIRE(code == (allocated ? cudaSuccess : cudaErrorInvalidValue));
    if (allocated) {
        Exec(last).run(stream);
    } else {
        static_cast<void>(cudaGetLastError());
    }
}

TEST_CASE("another graph frees the memory", "[memory_nodes]") {
    Stream stream;
    const LeavingGraph leaving;
    const FreeingGraph freeing(leaving.data());
    const Exec allocate(leaving.graph);
    const Exec free(freeing.graph);
    for (int round = 0; round < 2; ++round) {
        allocate.run(stream);
        REQUIRE(first_of(leaving.data()) == 7);
        free.run(stream);
    }
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(leaving.data()));
}

TEST_CASE("a graph that frees another's memory is launched only while that is allocated", "[memory_nodes]") {
    Stream stream;
    const LeavingGraph leaving;
    const FreeingGraph freeing(leaving.data());
    const Exec allocate(leaving.graph);
    const Exec free(freeing.graph);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(free, stream));
    allocate.run(stream);
    free.run(stream);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(free, stream));
}

TEST_CASE("with automatic freeing each launch frees what the one before left", "[memory_nodes]") {
    Stream stream;
    const LeavingGraph leaving;
    const Exec exec(leaving.graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
    exec.run(stream);
    exec.run(stream);
    REQUIRE(first_of(leaving.data()) == 7);
    REQUIRE_CUDA(cudaFree(leaving.data()));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(leaving.data()));
    exec.run(stream);
    REQUIRE_CUDA(cudaFree(leaving.data()));
}

TEST_CASE("what the last launch with automatic freeing left outlives the executable graph", "[memory_nodes]") {
    Stream stream;
    const LeavingGraph leaving;
    {
        const Exec exec(leaving.graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
        exec.run(stream);
    }
    REQUIRE(first_of(leaving.data()) == 7);
    REQUIRE_CUDA(cudaFree(leaving.data()));
}

TEST_CASE("memory outlives the executable graph and the graph that allocated it", "[memory_nodes]") {
    Stream stream;
    int* data = nullptr;
    {
        const LeavingGraph leaving;
        data = leaving.data();
        const Exec exec(leaving.graph);
        exec.run(stream);
    }
    REQUIRE(first_of(data) == 7);
    REQUIRE_CUDA(cudaFree(data));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(data));
}

TEST_CASE("a new executable graph is not launched while memory of an earlier one is allocated", "[memory_nodes]") {
    Stream stream;
    const LeavingGraph leaving;
    {
        const Exec exec(leaving.graph);
        exec.run(stream);
    }
    const Exec exec(leaving.graph);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream));
    REQUIRE_CUDA(cudaFree(leaving.data()));
    exec.run(stream);
    REQUIRE_CUDA(cudaFree(leaving.data()));
}

TEST_CASE("memory is freed in the order of the stream", "[memory_nodes]") {
    Stream stream;
    PinnedInts back(1);
    const LeavingGraph leaving;
    const Exec exec(leaving.graph);
    {
        Gate gate;
        gate.block(stream);
        REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
        REQUIRE_CUDA(cudaMemcpyAsync(back.data(), leaving.data(), 4, cudaMemcpyDeviceToHost, stream));
        REQUIRE_CUDA(cudaFreeAsync(leaving.data(), stream));
        REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
        gate.open();
        stream.synchronize();
    }
    REQUIRE(back[0] == 7);
    REQUIRE_CUDA(cudaFree(leaving.data()));
}

TEST_CASE("buffers that reuse one address hold each its own data in turn", "[memory_nodes]") {
    Stream stream;
    Graph graph;
    PinnedInts back(2);
    const Allocation first = add_alloc(graph, 1024);
    cudaGraphNode_t last = add_memset(graph, set_ints(first.data, 1024, 1), {first.node});
    last = add_memcpy(graph, back.data(), first.data, 4, cudaMemcpyDeviceToHost, {last});
    last = add_free(graph, first.data, {last});
    const Allocation second = add_alloc(graph, 1024, {last});
    last = add_memset(graph, set_ints(second.data, 1024, 2), {second.node});
    last = add_memcpy(graph, back.data() + 1, second.data, 4, cudaMemcpyDeviceToHost, {last});
    add_free(graph, second.data, {last});
    const Exec exec(graph);
    exec.run(stream);
    exec.run(stream);
    REQUIRE(back.read() == std::vector{1, 2});
}
