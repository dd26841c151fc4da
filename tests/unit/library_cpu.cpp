// Libraries of kernels: unloaded with the last that may launch from them.
#include "kernels.hpp"
#include "live_counts.hpp"

#include <catch.hpp>
#include <cudag/cudag.hpp>
#include <cudart_cpu/kernel.hpp>

#include <optional>

#if CUDART_VERSION >= 12080

namespace {

void fill(int* cell, int value) {
    *cell = value;
}

cudag::Library load() {
    cudart_cpu::register_library_kernel("unit_fill", fill);
    return cudag::Library::from_ptx(".version 8.0\n.target sm_52\n.address_size 64\n"
                                    ".visible .entry unit_fill(.param .u64 cell, .param .u32 value) { ret; }\n");
}

bool is_loaded(CUlib_st* library) {
    unsigned count = 0;
    const bool found = cudaLibraryGetKernelCount(&count, library) == cudaSuccess;
    static_cast<void>(cudaGetLastError());
    return found;
}

/// Destroys what launches have finished with.
void reclaim() {
    const cudag::DeviceBuffer<char> reclaims(1);
}

} // namespace

TEST_CASE("a library is unloaded with its last Function", "[unit][library]") {
    std::optional<cudag::Library> library = load();
    CUlib_st* const native = library->native();
    std::optional<cudag::Function> function = library->function("unit_fill");
    library.reset();
    CHECK(is_loaded(native));
    function.reset();
    CHECK_FALSE(is_loaded(native));
}

TEST_CASE("a library is unloaded after the last graph or exec that launches from it, whatever was updated",
          "[unit][library]") {
    const cudag::DeviceBuffer<int> cell(1);
    const cudag::Stream stream;
    std::optional<cudag::Exec> exec;
    std::optional<cudag::Graph> graph;
    CUlib_st* native = nullptr;
    {
        const cudag::Library library = load();
        native = library.native();
        cudag::GraphBuilder b;
        const auto node = b.kernel({}, library.function("unit_fill"), cell, 1);
        graph = std::move(b).build();
        exec = graph->instantiate();
        graph->update(node, cell, 2);
        exec->update(node, cell, 3);
        exec->update(node, cudag::arg(1, 4));
        CHECK(exec->apply(*graph) == 1);
    }
    exec->launch(stream);
    graph.reset();
    stream.synchronize();
    reclaim();
    CHECK(is_loaded(native));
    exec.reset();
    stream.synchronize();
    reclaim();
    CHECK_FALSE(is_loaded(native));
}

TEST_CASE("a library is unloaded after the last graph that has captured a launch from it", "[unit][library]") {
    const cudag::DeviceBuffer<int> cell(1);
    const cudag::Stream stream;
    CUlib_st* native = nullptr;
    std::optional<cudag::Graph> graph = cudag::capture(stream, [&](cudaStream_t s) {
        const cudag::Library library = load();
        native = library.native();
        cudag::launch(s, {}, library.function("unit_fill"), cell.data(), 1);
    });
    CHECK(is_loaded(native));
    graph.reset();
    reclaim();
    CHECK_FALSE(is_loaded(native));
}

TEST_CASE("an update to a graph with another library's kernel keeps that", "[unit][library]") {
    const cudag::DeviceBuffer<int> cell(1);
    const cudag::Stream stream;
    const auto build = [&](const cudag::Library& library) {
        cudag::GraphBuilder b;
        b.kernel({}, library.function("unit_fill"), cell, 1);
        return std::move(b).build();
    };
    std::optional<cudag::Library> first = load(), second = load();
    CUlib_st* const native = second->native();
    std::optional<cudag::Exec> exec = build(*first).instantiate();
    CHECK(exec->update(build(*second)).updated());
    second.reset();
    exec->launch(stream);
    stream.synchronize();
    reclaim();
    CHECK(is_loaded(native));
    exec.reset();
    reclaim();
    CHECK_FALSE(is_loaded(native));
}

#endif
