// A function that is no kernel. The CPU runtime cannot tell: to it, every function is one.
#include "test.hpp"

namespace {

void ordinary_function(int*, int) {}

} // namespace

TEST_CASE("an ordinary function is refused as a kernel node", "[builder][limits]") {
    const auto cell = device({0});
    cudag::GraphBuilder b;
    b.kernel({}, store, cell, 5);
    const auto error = refused<cudag::GraphError>([&] { b.kernel({}, ordinary_function, cell, 1); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidDeviceFunction));
    CHECK(error.operation() == "cudaGetFuncBySymbol");
    CHECK_THAT(error.what(), ContainsSubstring("__global__") && ContainsSubstring(__FILE__));
    CHECK(error.location().line == __LINE__ - 4);
    run(std::move(b));
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("an ordinary function is refused as a plain launch", "[stream]") {
    const cudag::DeviceBuffer<int> cell(1);
    const cudag::Stream stream;
    const auto error = refused<cudag::Error>([&] { cudag::launch(stream, {}, ordinary_function, cell, 1); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidDeviceFunction));
    CHECK(error.operation() == "cudaGetFuncBySymbol");
    CHECK_THAT(error.what(), ContainsSubstring("__global__"));
}

TEST_CASE("an ordinary function launches no node", "[graph]") {
    const cudag::Graph graph = cudag::GraphBuilder().build();
    const auto error = refused<cudag::GraphError>([&] { static_cast<void>(graph.find(ordinary_function)); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidDeviceFunction));
}
