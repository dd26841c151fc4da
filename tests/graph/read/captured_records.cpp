// What is known of captured nodes, and what their records are good for.
#include <cstring>
#include <future>
#include <span>

#include "attributes.hpp"

using cudag::capture;
using cudag::DeviceBuffer;
using cudag::Graph;
using cudag::GraphError;
using cudag::KernelInfo;
using cudag::launch;
using cudag::LaunchConfig;
using cudag::Node;
using cudag::NodeKind;
using cudag::PinnedBuffer;
using cudag::Stream;
using cudag::UpdateError;

namespace {

template <class T>
T value_of(std::span<const std::byte> bytes) {
    REQUIRE(bytes.size() == sizeof(T));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

/// store(cell, value), captured.
Graph capture_store(const DeviceBuffer<int>& cell, int value) {
    const Stream stream;
    return capture(stream, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), value); });
}

} // namespace

TEST_CASE("the arguments of a captured kernel are read back as the kernel's types", "[capture][records]") {
    const DeviceBuffer<float> x(4);
    DeviceBuffer<float> y(4);
    const DeviceBuffer<Objects> objects(1);
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {}, saxpy, 4, 0.5F, x.data(), y.data());
        launch(s, {}, write_objects, objects.data(), Point{1.5, 2.5F, 'p'}, Colour::green, true);
    });
    const auto node = graph.find(saxpy).at(0);
    CHECK(node.get<0>() == 4);
    CHECK(node.get<1>() == 0.5F);
    CHECK(node.get<2>() == x.data());
    CHECK(node.get<3>() == y.data());
    static_assert(std::is_same_v<decltype(node.get<2>()), const float*>);

    const auto writing = graph.find(write_objects).at(0);
    CHECK(writing.get<1>().y == 2.5F);
    CHECK(writing.get<1>().name == 'p');
    CHECK(writing.get<2>() == Colour::green);
    CHECK(writing.get<3>());
}

TEST_CASE("the arguments of a built kernel are those that the graph was given last", "[graph][records]") {
    const DeviceBuffer<int> cell(1);
    cudag::GraphBuilder b;
    const auto node = b.kernel({}, store, cell, 1);
    CHECK(node.get<0>() == cell.data());
    CHECK(node.get<1>() == 1);
    Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    exec.update(node, cudag::arg<1>(2));
    CHECK(node.get<1>() == 1);
    graph.update(node, cudag::arg<1>(3));
    CHECK(node.get<1>() == 3);
    const Graph clone = graph.clone();
    graph.update(node, cudag::arg<1>(4));
    CHECK(clone.counterpart(node).get<1>() == 3);
}

TEST_CASE("a captured kernel tells its name, configuration and arguments without its type", "[capture][records]") {
    const DeviceBuffer<unsigned> counts(2);
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {.grid = dim3(4, 2), .block = dim3(8, 4, 2), .shared_bytes = 64, .cluster = 2}, count_threads,
               counts.data(), counts.data() + 1, 3U);
        launch(s, {}, nothing);
    });
    const std::vector<Node> nodes = graph.nodes();
    const KernelInfo info = nodes.at(0).kernel_info();
    CHECK(info.name == "count_threads");
    CHECK(std::vector{info.config.grid.x, info.config.grid.y, info.config.grid.z} == std::vector{4U, 2U, 1U});
    CHECK(std::vector{info.config.block.x, info.config.block.y, info.config.block.z} == std::vector{8U, 4U, 2U});
    CHECK(info.config.shared_bytes == 64);
    CHECK(info.config.cluster.x == 2);
    CHECK_FALSE(info.config.cooperative);
    CHECK_FALSE(info.config.priority); // that of most streams
    CHECK_FALSE(info.config.access_policy);
    REQUIRE(info.arguments.size() == 3);
    CHECK(value_of<unsigned*>(info.arguments[0]) == counts.data());
    CHECK(value_of<unsigned*>(info.arguments[1]) == counts.data() + 1);
    CHECK(value_of<unsigned>(info.arguments[2]) == 3);

    const KernelInfo none = nodes.at(1).kernel_info();
    CHECK(none.name == "nothing");
    CHECK(none.arguments.empty());
    CHECK_THAT(graph.dot(), ContainsSubstring("count_threads <<<(4, 2, 1), (8, 4, 2)>>> cluster (2, 1, 1)"));
}

TEST_CASE("a kernel captured from a stream of high priority has its priority", "[capture][records]") {
    const PriorityRange range;
    const DeviceBuffer<int> cell(1);
    cudaStream_t stream = nullptr;
    cudag::check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, range.greatest));
    const Graph graph = capture(stream, [&](cudaStream_t s) { launch(s, {}, store, cell.data(), 1); });
    cudag::check(cudaStreamDestroy(stream));
    CHECK(graph.nodes().at(0).kernel_info().config.priority == range.greatest);
}

TEST_CASE("what is no kernel node has no kernel to tell of", "[capture][records]") {
    const DeviceBuffer<int> cell(1);
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) { cudag::memset_async(s, cell, 1); });
    const Node node = graph.nodes().at(0);
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(node.kernel_info()); }).what(),
               ContainsSubstring("kernel_info: memset node 0") && ContainsSubstring("no kernel node"));
    cudag::Exec exec = graph.instantiate();
    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, LaunchConfig{}); }).what(),
               ContainsSubstring("memset node 0") && ContainsSubstring("no kernel node"));
    CHECK_THROWS_AS(Node().kernel_info(), GraphError);
}

TEST_CASE("the launch configuration of a captured kernel is updated without its type", "[capture][records]") {
    const auto counts = device({0U, 0U});
    const Stream stream;
    Graph graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {.grid = 2, .block = 4}, count_threads, counts.data(), counts.data() + 1, 1U);
    });
    const Node node = graph.nodes().at(0);
    cudag::Exec exec = graph.instantiate();
    exec.update(node, LaunchConfig{.grid = 3, .block = 8});
    run(exec, stream);
    CHECK(read(counts) == std::vector{24U, 3U});
    CHECK(node.kernel_info().config.grid.x == 2);

    graph.update(node, LaunchConfig{.grid = 1, .block = 2});
    CHECK(node.kernel_info().config.block.x == 2);
    CHECK(exec.apply(graph) == 1);
    write(counts.span(), {0U, 0U});
    run(exec, stream);
    CHECK(read(counts) == std::vector{2U, 1U});

    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, LaunchConfig{.block = 4096}); }).what(),
               ContainsSubstring("kernel count_threads (node 0)") && ContainsSubstring("block.x is 4096"));
    CHECK_THROWS_AS(graph.update(node, LaunchConfig{.grid = 0}), UpdateError);
    write(counts.span(), {0U, 0U});
    run(exec, stream);
    CHECK(read(counts) == std::vector{2U, 1U});
}

TEST_CASE("attributes of a captured kernel stay, and are compared with those of an update", "[capture][records]") {
    const auto counts = device({0U, 0U});
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {.grid = 4, .cluster = 2}, count_threads, counts.data(), counts.data() + 1, 1U);
    });
    const auto node = graph.find(count_threads).at(0);
    cudag::Exec exec = graph.instantiate();
    exec.update(node, LaunchConfig{.grid = 6});
    run(exec, stream);
    CHECK(read(counts) == std::vector{6U, 6U});
    exec.update(node, LaunchConfig{.grid = 8, .cluster = 2});
    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, LaunchConfig{.grid = 8, .cluster = 4}); }).what(),
               ContainsSubstring("cluster is (2, 1, 1), the update's is (4, 1, 1)"));
    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, LaunchConfig{.grid = 7}); }).what(),
               ContainsSubstring("cluster"));
}

TEST_CASE("a clone has the attributes of captured kernels, also when the original is gone", "[capture][records]") {
    const DeviceBuffer<unsigned> counts(2);
    const Stream stream;
    std::optional<Graph> graph = capture(stream, [&](cudaStream_t s) {
        launch(s, {.grid = 4, .cluster = 2}, count_threads, counts.data(), counts.data() + 1, 1U);
    });
    const Graph clone = graph->clone();
    graph.reset();
    const auto node = clone.find(count_threads).at(0);
    CHECK(node.kernel_info().config.cluster.x == 2);
    CHECK(node.get<2>() == 1);
}

namespace {

/// *cell = 5, by a node that kernels may change.
Graph captured_device_updatable(cudaStream_t stream, const DeviceBuffer<int>& cell) {
    return capture(stream, [&](cudaStream_t s) {
        cudaLaunchAttribute attribute{};
        attribute.id = cudaLaunchAttributeDeviceUpdatableKernelNode;
        attribute.val.deviceUpdatableKernelNode.deviceUpdatable = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = 1;
        config.blockDim = 1;
        config.stream = s;
        config.attrs = &attribute;
        config.numAttrs = 1;
        int* address = cell.data();
        int value = 5;
        std::array<void*, 2> arguments{&address, &value};
        cudag::check(cudaLaunchKernelExC(&config, cudag::detail::kernel_symbol(store), arguments.data()));
    });
}

} // namespace

TEST_CASE("a captured device-updatable kernel is one", "[capture][records]") {
    const DeviceBuffer<int> cell(1);
    const Stream stream;
    const Graph graph = captured_device_updatable(stream.get(), cell);
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(cell) == std::vector{5});
    CHECK_THROWS_AS(graph.instantiate(), cudag::InstantiateError);
    CHECK_THAT(exec.update(graph).reason(), ContainsSubstring("device-updatable"));
    const auto node = graph.find(store).at(0);
    CHECK(node.kernel_info().config.device_updatable);
    CHECK_NOTHROW(node.on_device());
    CHECK_THROWS_AS(graph.clone(), GraphError);
}

TEST_CASE("a captured device-updatable kernel is known to an update of the whole that is the first to ask",
          "[capture][records]") {
    const DeviceBuffer<int> cell(1);
    const Stream stream;
    const auto captured = [&](bool device_updatable) {
        return device_updatable ? captured_device_updatable(stream.get(), cell)
                                : capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, store, cell, 5); });
    };
    for (const bool before : {false, true}) {
        const Graph graph = captured(before);
        cudag::Exec exec = graph.instantiate();
        const cudag::UpdateReport report = exec.update(captured(!before));
        CHECK(report.verdict() == cudag::UpdateVerdict::not_supported);
        CHECK_THAT(report.reason(), ContainsSubstring("device-updatable"));
    }
}

TEST_CASE("captured fills are updated as CUDA allows it", "[capture][records]") {
    auto cells = device({0, 0, 0, 0});
    const auto bytes = device(std::vector<unsigned char>(64, 1));
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        cudag::memset_async(s, cells, 1);
        cudag::check(cudaMemset2DAsync(bytes.data(), 16, 2, 8, 4, s));
    });
    const auto line = graph.nodes().at(0).as<cudag::MemsetNode>();
    const auto field = graph.nodes().at(1).as<cudag::MemsetNode>();
    cudag::Exec exec = graph.instantiate();
    exec.update(line, cells.span().subspan(1, 2), 9);
    exec.update(field, cudag::DeviceSpan2D<unsigned char>(bytes.data() + 8, 8, 4, 16), std::uint8_t{7});
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 9, 9, 0});
    const std::vector<unsigned char> result = read(bytes);
    for (std::size_t i = 0; i < result.size(); ++i)
        CHECK(result[i] == (i % 16 < 8 ? 1 : 7));
    CHECK_THAT(refused<UpdateError>([&] { exec.update(field, bytes.span(), std::uint8_t{3}); }).what(),
               ContainsSubstring("memset node 1") && ContainsSubstring("4 rows"));
    CHECK_THAT(refused<UpdateError>([&] {
                   exec.update(field, cudag::DeviceSpan2D<unsigned char>(bytes.data(), 4, 4, 16), std::uint8_t{3});
               }).what(),
               ContainsSubstring("width"));
}

TEST_CASE("captured copies are updated as CUDA allows it", "[capture][records]") {
    const auto first = device({1, 2, 3, 4});
    const auto second = device({5, 6, 7, 8});
    PinnedBuffer<int> host(4);
    PinnedBuffer<int> target(4);
    const Stream stream;
    const auto record = [&](cudaMemcpyKind kind) {
        return capture(stream, [&](cudaStream_t s) {
            cudag::check(cudaMemcpyAsync(host.data(), first.data(), 4 * sizeof(int), kind, s));
        });
    };
    SECTION("with the direction that was given") {
        const Graph graph = record(cudaMemcpyDeviceToHost);
        const auto copy = graph.nodes().at(0).as<cudag::MemcpyNode>();
        cudag::Exec exec = graph.instantiate();
        exec.update(copy, target.span().subspan(0, 2), second.span().subspan(1, 2));
        run(exec, stream);
        CHECK(std::vector(target.begin(), target.begin() + 2) == std::vector{6, 7});
        CHECK_THAT(refused<UpdateError>([&] { exec.update(copy, second, host); }).what(),
                   ContainsSubstring("the direction is device to host, the update is host to device"));
    }
    SECTION("with the direction that CUDA found out") {
        Graph graph = record(cudaMemcpyDefault);
        const auto copy = graph.nodes().at(0).as<cudag::MemcpyNode>();
        cudag::Exec exec = graph.instantiate();
        exec.update(copy, target, second);
        run(exec, stream);
        CHECK(std::vector(target.begin(), target.end()) == std::vector{5, 6, 7, 8});
        graph.update(copy, target, first);
        CHECK(exec.apply(graph) == 1);
        run(exec, stream);
        CHECK(std::vector(target.begin(), target.end()) == std::vector{1, 2, 3, 4});
    }
}

TEST_CASE("a captured copy of two dimensions is changed in the graph only", "[capture][records]") {
    const auto cells = device({1, 2, 3, 4, 5, 6, 7, 8});
    PinnedBuffer<int> host(8);
    const Stream stream;
    Graph graph = capture(stream, [&](cudaStream_t s) {
        cudag::check(cudaMemcpy2DAsync(host.data(), 16, cells.data(), 16, 8, 2, cudaMemcpyDeviceToHost, s));
    });
    const auto copy = graph.nodes().at(0).as<cudag::MemcpyNode>();
    cudag::Exec exec = graph.instantiate();
    const cudag::HostSpan2D<int> to(host.data() + 2, 2, 2, 16);
    const cudag::DeviceSpan2D<const int> from(cells.data(), 2, 2, 16);
    CHECK_THAT(refused<UpdateError>([&] { exec.update(copy, to, from); }).what(),
               ContainsSubstring("memcpy node 0") && ContainsSubstring("1D copies only"));
    graph.update(copy, to, from);
    cudag::Exec second = graph.instantiate();
    for (int& value : host)
        value = 0;
    run(second, stream);
    CHECK(std::vector(host.begin(), host.end()) == std::vector{0, 0, 1, 2, 0, 0, 5, 6});
}

TEST_CASE("a captured host function is replaced by a callable that the exec owns", "[capture][records]") {
    int plain = 0;
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        cudag::check(cudaLaunchHostFunc(
            s, [](void* count) { ++*static_cast<int*>(count); }, &plain));
    });
    const auto node = graph.nodes().at(0).as<cudag::HostNode>();
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(plain == 1);
    const auto counter = std::make_shared<int>(0);
    exec.update(node, [counter] { ++*counter; });
    run(exec, stream);
    CHECK(plain == 1);
    CHECK(*counter == 1);
    CHECK(counter.use_count() == 2);
}

TEST_CASE("captured nodes are disabled and enabled", "[capture][records]") {
    auto cells = device({0, 0});
    const Stream stream;
    const Graph graph = capture(stream, [&](cudaStream_t s) {
        cudag::memset_async(s, cells, 1);
        launch(s, {}, store, cells.data(), 2);
    });
    cudag::Exec exec = graph.instantiate();
    exec.disable(graph.nodes().at(1));
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, 1});
    exec.enable(graph.nodes().at(1));
    exec.disable(graph.nodes().at(0));
    write(cells.span(), {0, 0});
    run(exec, stream);
    CHECK(read(cells) == std::vector{2, 0});
}

TEST_CASE("the records of a captured graph are there, whatever is asked first", "[capture][records]") {
    const auto cell = device({0});
    Graph graph = capture_store(cell, 6);
    const Stream stream;
    SECTION("its edges") {
        CHECK(graph.edge_count() == 0);
        CHECK(graph.node_count() == 1);
    }
    SECTION("a label") {
        CHECK(graph.find("none").empty());
        CHECK(graph.edges().empty());
    }
    SECTION("its text") {
        CHECK_THAT(graph.dot(), ContainsSubstring("store <<<"));
    }
    SECTION("its difference from another graph") {
        const auto differences = diff(capture_store(cell, 7), graph);
        REQUIRE(differences.size() == 1);
        CHECK(to_string(differences[0]).find("argument 1: 7 -> 6") != std::string::npos);
    }
    SECTION("a clone") {
        const Graph clone = graph.clone();
        CHECK(clone.find(store).at(0).get<1>() == 6);
    }
    SECTION("a node that it is the child of") {
        cudag::GraphBuilder b;
        const auto child = b.child(graph);
        const Graph outer = std::move(b).build();
        CHECK(outer.find(store).at(0).get<1>() == 6);
        CHECK(child.inside(graph.find(store).at(0)).get<1>() == 6);
        cudag::Exec exec = outer.instantiate();
        exec.update(outer.find(store).at(0), cudag::arg<1>(8));
        run(exec, stream);
        CHECK(read(cell) == std::vector{8});
    }
    SECTION("an exec that is being updated") {
        cudag::Exec exec = graph.instantiate();
        run(exec, stream);
        CHECK(read(cell) == std::vector{6});
        exec.update(graph.find(store).at(0), cudag::arg<1>(9));
        run(exec, stream);
        CHECK(read(cell) == std::vector{9});
    }
    SECTION("a handle that outlives an exec") {
        { cudag::Exec exec = graph.instantiate(); }
        const Node node = graph.nodes().at(0);
        CHECK_THAT(refused<GraphError>([&] { static_cast<void>(node.as(add)); }).what(),
                   ContainsSubstring("kernel store (node 0)") && ContainsSubstring("does not launch add"));
    }
}

TEST_CASE("an exec takes the parameters of a captured graph, and knows them afterwards", "[capture][records]") {
    const auto cell = device({0});
    const auto other = device({0});
    const Graph first = capture_store(cell, 1);
    const Stream stream;
    cudag::Exec exec = first.instantiate();
    CHECK(exec.update(capture_store(other, 2)).updated());
    run(exec, stream);
    CHECK(read(cell) == std::vector{0});
    CHECK(read(other) == std::vector{2});
    exec.update(first.find(store).at(0), cudag::arg<1>(3));
    run(exec, stream);
    CHECK(read(cell) == std::vector{0});
    CHECK(read(other) == std::vector{3});
}

TEST_CASE("threads with execs of one captured graph may read its records at once", "[capture][records][threads]") {
    const Stream stream;
    const auto record = [&](int nodes) {
        return capture(stream, [&](cudaStream_t s) {
            for (int i = 0; i < nodes; ++i)
                launch(s, {}, nothing);
        });
    };
    const Graph graph = record(100);
    std::vector<cudag::Exec> execs;
    std::vector<Graph> others;
    for (int i = 0; i < 4; ++i) {
        execs.push_back(graph.instantiate());
        others.push_back(record(99));
    }
    std::vector<std::future<std::string>> reports;
    for (std::size_t i = 0; i < execs.size(); ++i)
        reports.push_back(std::async(std::launch::async, [&, i] {
            const Stream own;
            execs[i].launch(own);
            own.synchronize();
            return execs[i].update(others[i]).to_string();
        }));
    for (auto& report : reports)
        CHECK_THAT(report.get(), ContainsSubstring("kernel nothing (node 99)") && ContainsSubstring("missing"));
    CHECK(graph.find(nothing).size() == 100);
}

TEST_CASE("the refused update of an exec by a captured graph says in what they differ", "[capture][records]") {
    auto cells = device({0, 0});
    const Graph first = capture_store(cells, 1);
    const Stream stream;
    cudag::Exec exec = first.instantiate();
    SECTION("another kind of node") {
        const Graph next = capture(stream, [&](cudaStream_t s) { cudag::memset_async(s, cells, 1); });
        const auto report = exec.update(next);
        CHECK(report.verdict() == cudag::UpdateVerdict::node_kind_changed);
        REQUIRE_FALSE(report.differences().empty());
        CHECK_THAT(to_string(report.differences()[0]), ContainsSubstring("kind: kernel -> memset"));
    }
    SECTION("one node more") {
        const Graph next = capture(stream, [&](cudaStream_t s) {
            launch(s, {}, store, cells.data(), 1);
            launch(s, {}, store, cells.data() + 1, 1);
        });
        const auto report = exec.update(next);
        CHECK(report.verdict() == cudag::UpdateVerdict::topology_changed);
        CHECK(report.needs_instantiate());
        REQUIRE_FALSE(report.differences().empty());
        CHECK_THAT(to_string(report.differences()[0]), ContainsSubstring("kernel store (node 1)"));
    }
    run(exec, stream);
    CHECK(read(cells) == std::vector{1, 0});
}
