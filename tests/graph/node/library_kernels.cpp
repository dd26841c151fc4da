// Kernels that were loaded from a library at run time: cudag knows them by name only.
#include <array>
#include <cstdint>
#include <cstring>

#include "native.hpp"

#if CUDART_VERSION >= 12080

#ifdef CUDART_CPU
#include <cudart_cpu/device.hpp>

// What the text below says, for a runtime that has no compiler for it.
extern "C" void library_fill(int* cells, int value) {
    cells[blockIdx.x] = value;
}
#endif

using cudag::DeviceBuffer;
using cudag::Graph;
using cudag::GraphError;
using cudag::KernelInfo;
using cudag::LaunchConfig;
using cudag::Node;
using cudag::Stream;
using cudag::UpdateError;

namespace {

const char* const text = R"(
.version 8.0
.target sm_52
.address_size 64
.visible .entry library_fill(.param .u64 cells, .param .u32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [cells];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
)";

class Library {
  public:
    Library() {
#ifdef CUDART_CPU
        cudart_cpu::register_library_kernel("library_fill", library_fill);
#endif
        cudag::check(cudaLibraryLoadData(&library_, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
        cudag::check(cudaLibraryGetKernel(&kernel_, library_, "library_fill"));
    }
    ~Library() { CHECK(cudaLibraryUnload(library_) == cudaSuccess); }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

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
        cudaGraphNode_t node = nullptr;
        cudag::check(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
        return Graph::adopt(graph);
    }

  private:
    cudaLibrary_t library_ = nullptr;
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
    const Library library;
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
    const Library library;
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
    const Library library;
    auto cells = device({0, 0});
    const Graph first = library.capture(1, cells.data(), 7);
    const Graph second = library.capture(2, cells.data(), 8);
    const auto differences = diff(first, second);
    REQUIRE(differences.size() == 2);
    CHECK_THAT(differences[0].node, ContainsSubstring("kernel library_fill (node 0)"));
    CHECK_THAT(to_string(differences[0]), ContainsSubstring("grid: (1, 1, 1) -> (2, 1, 1)"));
    CHECK_THAT(to_string(differences[1]), ContainsSubstring("argument 1: 0x07000000 -> 0x08000000"));
    cudag::Exec exec = first.instantiate();
    CHECK(exec.update(second).updated());
    run(exec, Stream());
    CHECK(read(cells) == std::vector{8, 8});
}

#endif
