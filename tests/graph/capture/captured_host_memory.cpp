// Host memory that captured copies use: borrowed, or copied into the graph.
#include <array>

#include "cuda_version.hpp"
#include "test.hpp"

#include <cudag/format.hpp>

using cudag::capture;
using cudag::copied;
using cudag::Exec;
using cudag::Graph;
using cudag::memcpy_async;
using cudag::PinnedBuffer;
using cudag::Stream;

TEST_CASE("values given as copied() are the graph's, whatever becomes of the range", "[capture][host_memory]") {
    const Stream stream;
    const auto cells = device({0, 0, 0});
    Graph graph = [&] {
        std::vector<int> local{4, 5, 6};
        Graph captured = capture(stream, [&](cudaStream_t s) { memcpy_async(s, cells, copied(local)); });
        local.assign({-1, -1, -1});
        return captured;
    }();
    Exec exec = graph.instantiate();
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(cells) == std::vector{4, 5, 6});
}

TEST_CASE("copied() values serve builders and streams, and may be a temporary's", "[capture][host_memory]") {
    const Stream stream;
    const auto cells = device({0, 0});
    memcpy_async(stream, cells, copied(std::array{1, 2}));
    stream.synchronize();
    CHECK(read(cells) == std::vector{1, 2});
    cudag::GraphBuilder b;
    b.memcpy(cells, copied(std::vector{3, 4}));
    Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(cells) == std::vector{3, 4});
}

TEST_CASE("a borrowed range is read at each launch", "[capture][host_memory]") {
    const Stream stream;
    const auto cells = device({0});
    std::vector<int> values{1};
    Exec exec = capture(stream, [&](cudaStream_t s) { memcpy_async(s, cells, values); }).instantiate();
    values[0] = 2;
    exec.launch(stream);
    stream.synchronize();
    CHECK(read(cells) == std::vector{2});
}

TEST_CASE("a graph lists the host memory that its copies use", "[capture][host_memory]") {
    const Stream stream;
    const auto cells = device({0, 0});
    const auto others = device({0, 0});
    const std::vector<int> local{1, 2};
    PinnedBuffer<int> pinned(2);
    const Graph graph = capture(stream, [&](cudag::StreamCapture& c) {
        c.step("upload", [&](cudaStream_t s) { memcpy_async(s, cells, local); });
        memcpy_async(stream, others, cells);
        memcpy_async(stream, pinned, others);
    });
    const std::vector<cudag::HostMemory> memory = graph.host_memory();
    REQUIRE(memory.size() == 2);
    CHECK(memory[0] == cudag::HostMemory{graph.nodes()[0], 1, local.data(), 8, true});
    CHECK(memory[1] == cudag::HostMemory{graph.nodes()[2], 0, pinned.data(), 8, false});
    CHECK_THAT(to_string(memory[0]), Catch::Matchers::StartsWith("memcpy \"upload\" at ") &&
                                         ContainsSubstring(": the source, 8 bytes of pageable host memory at 0x"));
    CHECK_THAT(to_string(memory[1]), ContainsSubstring(": the destination, 8 bytes of page-locked host memory at 0x"));
    CHECK(fmt::format("{}", memory[1]) == to_string(memory[1]));
}

TEST_CASE("host memory of copies inside children and of boxes is listed", "[capture][host_memory]") {
    const auto cells = device({0, 0, 0, 0});
    std::vector<int> grid{1, 2, 3, 4};
    cudag::GraphBuilder child;
    child.memcpy2d(cudag::DeviceSpan2D<int>(cells.data(), 2, 2), cudag::HostSpan2D<int>(grid.data(), 2, 2));
    cudag::GraphBuilder b;
    add_child(b, std::move(child).build());
    const Graph graph = std::move(b).build();
    const std::vector<cudag::HostMemory> memory = graph.host_memory();
    REQUIRE(memory.size() == 1);
    CHECK(memory[0].data == grid.data());
    CHECK(memory[0].bytes == 8);
}
