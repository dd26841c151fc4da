// The sticky last error of a thread, and the names of errors.
#include "gate.hpp"
#include "nodes.hpp"

#include <string>
#include <thread>

TEST_CASE("the last error is kept until it is taken", "[last_error]") {
    REQUIRE(cudaSetDevice(-1) == cudaErrorInvalidDevice);
    REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidDevice);
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a later error replaces the last error", "[last_error]") {
    REQUIRE(cudaSetDevice(-1) == cudaErrorInvalidDevice);
    REQUIRE(cudaMalloc(static_cast<void**>(nullptr), 16) == cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);

    REQUIRE(cudaMalloc(static_cast<void**>(nullptr), 16) == cudaErrorInvalidValue);
    REQUIRE(cudaSetDevice(-1) == cudaErrorInvalidDevice);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("a call that succeeds neither clears nor returns an earlier error", "[last_error]") {
    Stream stream;
    Graph graph;
    DeviceInts out(1);
    Call call(store, out.data(), 0, 1);
    REQUIRE(cudaSetDevice(-1) == cudaErrorInvalidDevice);

    int device = -1;
    REQUIRE_CUDA(cudaGetDevice(&device));
    add_kernel(graph, call);
    const Exec exec(graph);
    exec.run(stream);
    call.launch(stream);
    stream.synchronize();
    REQUIRE(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("the last error belongs to one thread", "[last_error]") {
    REQUIRE(cudaSetDevice(-1) == cudaErrorInvalidDevice);
    cudaError_t seen = cudaErrorUnknown;
    cudaError_t own = cudaErrorUnknown;
    std::thread([&] {
        seen = cudaPeekAtLastError();
        static_cast<void>(cudaMalloc(static_cast<void**>(nullptr), 16));
        own = cudaPeekAtLastError();
    }).join();
    REQUIRE(seen == cudaSuccess);
    REQUIRE(own == cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("pending work is not an error, and leaves an earlier one in place", "[last_error]") {
    Stream stream;
    Gate gate;
    gate.block(stream);
    REQUIRE_NOT_READY(cudaStreamQuery(stream));

    REQUIRE(cudaSetDevice(-1) == cudaErrorInvalidDevice);
    REQUIRE(cudaStreamQuery(stream) == cudaErrorNotReady);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("errors have the names and texts of the CUDA Runtime", "[last_error]") {
    REQUIRE(cudaGetErrorName(cudaSuccess) == std::string("cudaSuccess"));
    REQUIRE(cudaGetErrorString(cudaSuccess) == std::string("no error"));
    REQUIRE(cudaGetErrorName(cudaErrorInvalidValue) == std::string("cudaErrorInvalidValue"));
    REQUIRE(cudaGetErrorString(cudaErrorInvalidValue) == std::string("invalid argument"));
    REQUIRE(cudaGetErrorName(cudaErrorMemoryAllocation) == std::string("cudaErrorMemoryAllocation"));
    REQUIRE(cudaGetErrorString(cudaErrorMemoryAllocation) == std::string("out of memory"));
    REQUIRE(cudaGetErrorName(cudaErrorNotReady) == std::string("cudaErrorNotReady"));
    REQUIRE(cudaGetErrorString(cudaErrorNotReady) == std::string("device not ready"));
    REQUIRE(cudaGetErrorName(cudaErrorGraphExecUpdateFailure) == std::string("cudaErrorGraphExecUpdateFailure"));
    REQUIRE(cudaGetErrorString(cudaErrorGraphExecUpdateFailure) ==
            std::string("the graph update was not performed because it included changes which violated constraints "
                        "specific to instantiated graph update"));
    const auto unknown = static_cast<cudaError_t>(12345);
    REQUIRE(cudaGetErrorName(unknown) == std::string("unrecognized error code"));
    REQUIRE(cudaGetErrorString(unknown) == std::string("unrecognized error code"));
}
