// Kernels that were loaded from a library at run time: cudag knows them by name only.
#include "functions.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#include "native.hpp"
#include "native_nodes.hpp"

#if CUDART_VERSION >= 12080

using cudag::DeviceBuffer;
using cudag::Graph;
using cudag::GraphError;
using cudag::KernelInfo;
using cudag::LaunchConfig;
using cudag::Node;
using cudag::Stream;
using cudag::UpdateError;

namespace {

class Kernel {
  public:
    Kernel() { cudag::check(cudaLibraryGetKernel(&kernel_, library_.native(), "library_fill")); }

    /// library_fill(cells, value) in `grid` blocks, captured from a launch.
    Graph capture(unsigned grid, int* cells, int value) const {
        const Stream stream;
        return cudag::capture(stream, [&](cudaStream_t s) {
            std::array<void*, 2> arguments{&cells, &value};
            cudag::check(cudaLaunchKernel(reinterpret_cast<void*>(kernel_), grid, 1, arguments.data(), 0, s));
        });
    }
    /// The same as a node that has its arguments in one block.
    Graph adopt_packed(unsigned grid, int* cells, int value) const {
        struct {
            int* cells;
            int value;
        } block{cells, value};
        std::size_t bytes = sizeof(int*) + sizeof(int);
        constexpr auto name = [](std::uintptr_t number) { return reinterpret_cast<void*>(number); };
        std::array<void*, 5> extra{name(1), &block, name(2), &bytes, nullptr}; // CU_LAUNCH_PARAM_*
        cudaKernelNodeParams params{};
        params.func = reinterpret_cast<void*>(kernel_);
        params.gridDim = grid;
        params.blockDim = 1;
        params.extra = extra.data();
        cudaGraph_t graph = nullptr;
        cudag::check(cudaGraphCreate(&graph, 0));
        add_native_kernel(graph, {}, params);
        return Graph::adopt(graph);
    }

  private:
    cudag::Library library_ = load_library();
    cudaKernel_t kernel_ = nullptr;
};

/// Whether `info` is of library_fill(cells, value) in `grid` blocks.
void check_info(const KernelInfo& info, unsigned grid, int* cells, int value) {
    CHECK(info.name == "library_fill");
    CHECK(info.config.grid.x == grid);
    CHECK(info.config.block.x == 1);
    REQUIRE(info.arguments.size() == 2);
    REQUIRE(info.arguments[0].size() == sizeof cells);
    REQUIRE(info.arguments[1].size() == sizeof value);
    CHECK(std::memcmp(info.arguments[0].data(), &cells, sizeof cells) == 0);
    CHECK(std::memcmp(info.arguments[1].data(), &value, sizeof value) == 0);
}

} // namespace

TEST_CASE("a library's kernel in a graph has its name, configuration and arguments", "[graph][library]") {
    const Kernel library;
    const DeviceBuffer<int> cells(4);
    const Graph graph =
        GENERATE(false, true) ? library.capture(3, cells.data(), 7) : library.adopt_packed(3, cells.data(), 7);
    const Node node = graph.nodes().at(0);
    CHECK(node.kind() == cudag::NodeKind::kernel);
    CHECK(node.label() == "");
    check_info(node.kernel_info(), 3, cells.data(), 7);
    CHECK_THAT(graph.dot(), ContainsSubstring("library_fill <<<(3, 1, 1), (1, 1, 1)>>>"));
    CHECK(graph.find(store).empty());
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(node.as(store)); }).what(),
               ContainsSubstring("kernel library_fill (node 0)") && ContainsSubstring("does not launch store"));
    check_info(graph.clone().nodes().at(0).kernel_info(), 3, cells.data(), 7);
}

TEST_CASE("a library's kernel in an exec runs, is disabled, and gets another configuration", "[graph][library]") {
    const Kernel library;
    auto cells = device({0, 0, 0, 0});
    Graph graph =
        GENERATE(false, true) ? library.capture(2, cells.data(), 7) : library.adopt_packed(2, cells.data(), 7);
    const Stream stream;
    cudag::Exec exec = graph.instantiate();
    const Node node = graph.nodes().at(0);
    run(exec, stream);
    CHECK(read(cells) == std::vector{7, 7, 0, 0});

    write(cells.span(), {0, 0, 0, 0});
    exec.disable(node);
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 0, 0, 0});
    exec.enable(node);
    exec.update(node, LaunchConfig{.grid = 3});
    run(exec, stream);
    CHECK(read(cells) == std::vector{7, 7, 7, 0});

    graph.update(node, LaunchConfig{.grid = 4});
    check_info(node.kernel_info(), 4, cells.data(), 7);
    CHECK(exec.apply(graph) == 1);
    run(exec, stream);
    CHECK(read(cells) == std::vector{7, 7, 7, 7});

    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, LaunchConfig{.grid = 0}); }).what(),
               ContainsSubstring("kernel library_fill (node 0)") && ContainsSubstring("grid.x is 0"));
}

TEST_CASE("graphs with a library's kernel are compared, and update execs", "[graph][library]") {
    const Kernel library;
    auto cells = device({0, 0});
    const Graph first = library.capture(1, cells.data(), 7);
    const Graph second = library.capture(2, cells.data(), 8);
    const auto differences = diff(first, second);
    REQUIRE(differences.size() == 2);
    CHECK_THAT(differences[0].node, ContainsSubstring("kernel library_fill (node 0)"));
    CHECK_THAT(to_string(differences[0]), ContainsSubstring("grid: (1, 1, 1) -> (2, 1, 1)"));
    CHECK_THAT(to_string(differences[1]), ContainsSubstring("argument 1: bytes 07 00 00 00 -> bytes 08 00 00 00"));
    cudag::Exec exec = first.instantiate();
    CHECK(exec.update(second).updated());
    run(exec, Stream());
    CHECK(read(cells) == std::vector{8, 8});
}

TEST_CASE("arguments of a library's kernel that was captured are updated", "[graph][library]") {
    const Kernel library;
    auto cells = device({0, 0});
    Graph graph =
        GENERATE(false, true) ? library.capture(2, cells.data(), 7) : library.adopt_packed(2, cells.data(), 7);
    const auto node = graph.nodes().at(0).as<cudag::FunctionNode>();
    cudag::Exec exec = graph.instantiate();
    exec.update(node, cudag::arg(1, 8));
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells) == std::vector{8, 8});
    exec.update(node, LaunchConfig{.grid = 1}, cells.span().subspan(1, 1), 9);
    run(exec, stream);
    CHECK(read(cells) == std::vector{8, 9});
    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, cudag::arg(1, 8.0)); }).what(),
               ContainsSubstring("kernel library_fill (node 0)") && ContainsSubstring("argument 1 has 8 bytes"));
    graph.update(node, cudag::arg(1, 6));
    check_info(node.kernel_info(), 2, cells.data(), 6);
}

#endif
