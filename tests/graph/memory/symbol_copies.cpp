// Copies to and from device variables.
#include "native.hpp"
#include "symbols.hpp"

using cudag::DeviceBuffer;
using cudag::GraphBuilder;

TEST_CASE("a symbol is a range of as many elements as its variable has", "[memory][symbol]") {
    CHECK(total_symbol().size() == 1);
    CHECK(table_symbol().size() == 6);
    CHECK(factors_symbol().size() == 2);
    CHECK(table_symbol().data() != nullptr);
    CHECK(table_symbol().data() == table_symbol().data());
}

TEST_CASE("copies write and read device variables around a kernel that uses them", "[builder][memcpy][symbol]") {
    const std::vector values{1, 2, 3, 4, 5, 6};
    int sum = 0;
    std::vector<int> back(2, 0);
    GraphBuilder b;
    const auto up = b.memcpy(table_symbol(), values);
    const auto add = b.kernel({}, add_table).after(up);
    const auto down = b.memcpy(std::span(&sum, 1), total_symbol()).after(add);
    b.memcpy(back, table_symbol().subspan(4, 2)).after(up);
    CHECK(memcpy_params(up).kind == cudaMemcpyHostToDevice);
    CHECK(memcpy_params(down).kind == cudaMemcpyDeviceToHost);
    run(std::move(b));
    CHECK(sum == 21);
    CHECK(back == std::vector{5, 6});
}

TEST_CASE("a copy writes a constant variable, and an update gives it other values", "[exec][update][symbol]") {
    const std::vector first{1.5F, 2.5F};
    const std::vector second{3.5F, 4.5F};
    const DeviceBuffer<float> seen(2);
    GraphBuilder b;
    const auto up = b.memcpy(factors_symbol(), first);
    b.kernel({}, read_factors, seen).after(up);
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    run(exec, stream);
    CHECK(read(seen) == first);
    exec.update(up, factors_symbol(), second);
    run(exec, stream);
    CHECK(read(seen) == second);
}

TEST_CASE("a memset fills a device variable", "[builder][memset][symbol]") {
    int sum = 0;
    GraphBuilder b;
    const auto fill = b.memset(table_symbol(), 7);
    const auto add = b.kernel({}, add_table).after(fill);
    b.memcpy(std::span(&sum, 1), total_symbol()).after(add);
    run(std::move(b));
    CHECK(sum == 42);
}

TEST_CASE("a copy of another size than the variable is refused", "[builder][memcpy][symbol]") {
    const std::vector values{1, 2};
    GraphBuilder b;
    const auto error = refused<cudag::GraphError>([&] { b.memcpy(table_symbol(), values); });
    CHECK_THAT(error.what(), ContainsSubstring("the destination has 6 elements, the source 2"));
}

TEST_CASE("a variable that is none of the device is refused", "[memory][symbol]") {
    int local = 0;
    const auto error = refused<cudag::Error>([&] { static_cast<void>(cudag::symbol(local)); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidSymbol));
    CHECK_THAT(error.what(), ContainsSubstring("symbol: CUDA knows no __device__ or __constant__ variable at 0x"));
}
