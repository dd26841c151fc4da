// Updates of memcpy, memset and host nodes.
#include <functional>
#include <memory>

#include "test.hpp"

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::PinnedBuffer;
using cudag::Stream;

TEST_CASE("a copy gets another source and destination", "[exec][update]") {
    const auto from = device({1, 2, 3});
    const auto to = device({0, 0, 0});
    GraphBuilder b;
    const auto node = b.memcpy(to, from);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;

    const auto other = device({7, 8, 9});
    exec.update(node, to, other);
    run(exec, stream);
    CHECK(read(to) == std::vector{7, 8, 9});

    const auto elsewhere = device({0, 0, 0});
    exec.update(node, elsewhere, from);
    run(exec, stream);
    CHECK(read(elsewhere) == std::vector{1, 2, 3});
    CHECK(read(to) == std::vector{7, 8, 9});
}

TEST_CASE("a copy gets another size", "[exec][update]") {
    const auto from = device({1, 2, 3, 4});
    const auto to = device({0, 0, 0, 0});
    GraphBuilder b;
    const auto node = b.memcpy(to.span().subspan(0, 2), from.span().subspan(0, 2));
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;

    exec.update(node, to.span().subspan(3, 1), from.span().subspan(0, 1));
    run(exec, stream);
    CHECK(read(to) == std::vector{0, 0, 0, 1});
    exec.update(node, to, from);
    run(exec, stream);
    CHECK(read(to) == std::vector{1, 2, 3, 4});
}

TEST_CASE("copies from and to the host get other host memory", "[exec][update]") {
    const DeviceBuffer<int> memory(2);
    const std::vector first{1, 2};
    const std::vector second{3, 4};
    std::vector<int> result(2);
    const PinnedBuffer<int> pinned_result(2);
    GraphBuilder b;
    const auto up = b.memcpy(memory, first);
    const auto down = b.memcpy(result, memory).after(up);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK(result == first);
    exec.update(up, memory, second);
    exec.update(down, pinned_result, memory);
    run(exec, stream);
    CHECK(result == first);
    CHECK(std::vector(pinned_result.begin(), pinned_result.end()) == second);
}

TEST_CASE("a memset gets another value, range and size", "[exec][update]") {
    const auto cells = device({0, 0, 0, 0});
    GraphBuilder b;
    const auto node = b.memset(cells.span().subspan(0, 2), 1);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, 1, 0, 0});
    exec.update(node, cells.span().subspan(1, 3), -5);
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, -5, -5, -5});
    const auto other = device({0});
    exec.update(node, other, 6);
    run(exec, stream);
    CHECK(read(other) == std::vector{6});
    CHECK(read(cells) == std::vector{1, -5, -5, -5});
}

TEST_CASE("a memset of floats gets another value", "[exec][update]") {
    const auto cells = device({0.0F, 0.0F});
    GraphBuilder b;
    const auto node = b.memset(cells, 1.0F);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    exec.update(node, cells, -0.5F);
    run(exec, Stream());
    CHECK(read(cells) == std::vector{-0.5F, -0.5F});
}

TEST_CASE("a host node gets another callable, of another type", "[exec][update]") {
    int first = 0;
    int second = 0;
    GraphBuilder b;
    const auto node = b.host([&first] { ++first; });
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    run(exec, stream);
    exec.update(node, [value = std::make_unique<int>(5), &second] { second += *value; });
    run(exec, stream);
    run(exec, stream);
    CHECK(first == 1);
    CHECK(second == 10);
    exec.update(node, std::function<void()>([&first] { first = 100; }));
    run(exec, stream);
    CHECK(first == 100);
    CHECK(second == 10);
}

TEST_CASE("updates of several nodes between launches all count", "[exec][update]") {
    const PinnedBuffer<int> cells(3);
    std::fill(cells.begin(), cells.end(), 0);
    int* const p = cells.data();
    GraphBuilder b;
    const auto set = b.kernel({}, store, p, 1);
    const auto host = b.host([p] { p[1] = p[0]; }).after(set);
    const auto last = b.kernel({}, add, p + 2, p + 1, 0).after(host);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    for (int round = 1; round <= 5; ++round) {
        exec.update(set, cudag::arg<1>(round));
        exec.update(host, [p, round] { p[1] = p[0] * round; });
        exec.update(last, cudag::arg<2>(1000));
        run(exec, stream);
        CHECK(cells[2] == round * round + 1000);
    }
}
