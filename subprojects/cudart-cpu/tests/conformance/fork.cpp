// What CUDA answers in a child of fork() whose parent has used it.
#include "nodes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace {

using Codes = std::vector<cudaError_t>;

/// What `ask` answers in a child.
template <class Ask>
Codes in_child(const Ask& ask) {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(60); // a call that waits for the parent's threads never returns
        const Codes codes = ask();
        const std::size_t bytes = codes.size() * sizeof(cudaError_t);
        _exit(write(ends[1], codes.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 1);
    }
    close(ends[1]);
    Codes codes(100);
    const ssize_t bytes = read(ends[0], codes.data(), codes.size() * sizeof(cudaError_t));
    close(ends[0]);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    REQUIRE(bytes >= 0);
    codes.resize(static_cast<std::size_t>(bytes) / sizeof(cudaError_t));
    return codes;
}

constexpr auto lost = cudaErrorInitializationError;

} // namespace

TEST_CASE("a child of fork() is told that CUDA is not for it", "[fork]") {
    const Codes codes = in_child([] {
        int number = 0;
        void* memory = nullptr;
        cudaStream_t stream = nullptr;
        cudaEvent_t event = nullptr;
        cudaGraph_t graph = nullptr;
        return Codes{cudaGetDevice(&number),     cudaSetDevice(0),
                     cudaMalloc(&memory, 4),     cudaMallocHost(&memory, 4),
                     cudaStreamCreate(&stream),  cudaEventCreate(&event),
                     cudaGraphCreate(&graph, 0), cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 0),
                     cudaDeviceSynchronize(),    cudaPeekAtLastError(),
                     cudaGetLastError(),         cudaGetLastError()};
    });
    REQUIRE(codes == Codes{lost, lost, lost, lost, lost, lost, lost, lost, lost, lost, lost, cudaSuccess});
}

TEST_CASE("a child of fork() can do nothing with what its parent made", "[fork]") {
    Stream stream(cudaStreamNonBlocking);
    Event event;
    DeviceInts data(1);
    Graph graph;
    add_empty(graph);
    const Exec exec(graph);
    const Codes codes = in_child([&] {
        int value = 0;
        unsigned flags = 0;
        cudaGraphNode_t node = nullptr;
        auto status = cudaStreamCaptureStatusNone;
        return Codes{cudaStreamQuery(stream),
                     cudaStreamSynchronize(stream),
                     cudaStreamGetFlags(stream, &flags),
                     cudaStreamIsCapturing(stream, &status),
                     cudaEventRecord(event, stream),
                     cudaMemcpy(&value, data.data(), sizeof value, cudaMemcpyDeviceToHost),
                     cudaMemsetAsync(data.data(), 0, sizeof value, stream),
                     cudaGraphLaunch(exec, stream),
                     cudaGraphAddEmptyNode(&node, graph, nullptr, 0),
                     cudaLaunchHostFunc(
                         stream, [](void*) {}, nullptr),
                     cudaGraphExecDestroy(exec),
                     cudaGraphDestroy(graph),
                     cudaEventDestroy(event),
                     cudaFree(data.data()),
                     cudaStreamDestroy(stream)};
    });
    REQUIRE(codes == Codes(15, lost));
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream)); // the parent's are as they were
    stream.synchronize();
}

TEST_CASE("a child of fork() may ask for versions, the number of devices and the driver's functions", "[fork]") {
    const Codes codes = in_child([] {
        int number = 0;
        void* function = nullptr;
        cudaDriverEntryPointQueryResult found{};
        return Codes{cudaGetDeviceCount(&number), cudaDriverGetVersion(&number), cudaRuntimeGetVersion(&number),
                     cudaGetDriverEntryPointByVersion("cuGraphLaunch", &function, 12040, cudaEnableDefault, &found)};
    });
    REQUIRE(codes == Codes(4, cudaSuccess));
}
