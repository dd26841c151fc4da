// Nodes that are added from CUDA's own description.
#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "test.hpp"

using cudag::arg;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::NodeKind;
using cudag::Stream;

namespace {

cudaGraphNodeParams memset_of(int* cells, std::size_t count, unsigned value) {
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemset;
    params.memset.dst = cells;
    params.memset.elementSize = sizeof(int);
    params.memset.width = count;
    params.memset.height = 1;
    params.memset.value = value;
    return params;
}

struct AddArguments {
    int* to;
    const int* from;
    int value;
    void* pointers[3] = {&to, &from, &value};

    [[nodiscard]] cudaGraphNodeParams params() {
        cudaGraphNodeParams params{};
        params.type = cudaGraphNodeTypeKernel;
        params.kernel.func = reinterpret_cast<void*>(add);
        params.kernel.gridDim = params.kernel.blockDim = dim3(1);
        params.kernel.kernelParams = pointers;
        return params;
    }
};

} // namespace

TEST_CASE("nodes from CUDA's own description stand in the graph as others do", "[builder][native]") {
    const auto cells = device({1, 2, 3});
    int* const x = cells.data();
    GraphBuilder b;
    auto fill = memset_of(x, 2, 7);
    const auto first = b.native(fill).label("fill").as<cudag::MemsetNode>();
    AddArguments arguments{x + 2, x, 10};
    auto kernel = arguments.params();
    const auto second = b.native(kernel).as(add).after(first);
    b.kernel({}, add, x + 1, x + 2, 100).after(second);
    CHECK(first.kind() == NodeKind::memset);
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 3);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector{7, 117, 17});
    exec.update(second, arg<2>(20));
    exec.update(first, cells.span().subspan(0, 1), 5);
    run(exec, Stream());
    CHECK(read(cells) == std::vector{5, 125, 25});
}

TEST_CASE("CUDA completes the description of a native node", "[builder][native]") {
    GraphBuilder b;
    cudaGraphNodeParams alloc{};
    alloc.type = cudaGraphNodeTypeMemAlloc;
    alloc.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    alloc.alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
    alloc.alloc.bytesize = sizeof(int);
    const auto memory = b.native(alloc);
    REQUIRE(alloc.alloc.dptr != nullptr);
    auto* const cell = static_cast<int*>(alloc.alloc.dptr);
    const auto out = device({0});
    const auto stored = b.kernel({}, store, cell, 3).after(memory);
    const auto added = b.kernel({}, add, out.data(), cell, 1).after(stored);
    cudaGraphNodeParams free{};
    free.type = cudaGraphNodeTypeMemFree;
    free.free.dptr = cell;
    b.native(free).after(added);
    Exec exec = std::move(b).build().instantiate();
    run(exec, Stream());
    CHECK(read(out) == std::vector{4});
}

TEST_CASE("memory of a native allocation is checked as that of any", "[builder][native][memory]") {
    GraphBuilder b;
    cudaGraphNodeParams alloc{};
    alloc.type = cudaGraphNodeTypeMemAlloc;
    alloc.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    alloc.alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
    alloc.alloc.bytesize = sizeof(int);
    b.native(alloc);
    b.kernel({}, store, static_cast<int*>(alloc.alloc.dptr), 3);
    CHECK_THROWS_AS(std::move(b).build(), GraphError);
}

TEST_CASE("what CUDA refuses as a native node is an error with its reason, and no node", "[builder][native]") {
    const auto cells = device({0});
    GraphBuilder b;
    auto nothing_to_fill = memset_of(nullptr, 1, 0);
    const auto error = refused<GraphError>([&] { b.native(nothing_to_fill); });
    CHECK_THAT(error.what(), ContainsSubstring("memset at") && ContainsSubstring("native_nodes.cpp"));
    CHECK(error.operation() == "cudaGraphAddNode");
    auto fill = memset_of(cells.data(), 1, 4);
    b.native(fill);
    run(std::move(b));
    CHECK(read(cells) == std::vector{4});
}

TEST_CASE("a conditional is no native node, and a body takes native nodes that it may have", "[builder][native]") {
    if (older_than(12040)) return;
    const auto cells = device({0});
    GraphBuilder b;
    const auto condition = b.condition(1);
    cudaGraphNodeParams conditional{};
    conditional.type = cudaGraphNodeTypeConditional;
    conditional.conditional.handle = condition.native();
    conditional.conditional.type = cudaGraphCondTypeIf;
    conditional.conditional.size = 1;
    CHECK_THAT(refused<GraphError>([&] { b.native(conditional); }).what(), ContainsSubstring("if_, while_ or switch_"));
    b.if_(condition, [&](GraphBuilder& body) {
        cudaGraphNodeParams host{};
        host.type = cudaGraphNodeTypeHost;
        host.host.fn = [](void*) {};
        CHECK_THAT(refused<GraphError>([&] { body.native(host); }).what(),
                   ContainsSubstring("no host node in the body"));
        auto fill = memset_of(cells.data(), 1, 4);
        body.native(fill);
    });
    run(std::move(b));
    CHECK(read(cells) == std::vector{4});
}

TEST_CASE("a body takes no native copy of pageable memory, and a graph does", "[builder][native]") {
    if (older_than(12040)) return;
    const auto cells = device({0});
    std::vector<int> pageable{7};
    const auto copy = [&] {
        cudaGraphNodeParams params{};
        params.type = cudaGraphNodeTypeMemcpy;
        params.memcpy.copyParams.dstPtr = {cells.data(), sizeof(int), sizeof(int), 1};
        params.memcpy.copyParams.srcPtr = {pageable.data(), sizeof(int), sizeof(int), 1};
        params.memcpy.copyParams.extent = {sizeof(int), 1, 1};
        params.memcpy.copyParams.kind = cudaMemcpyHostToDevice;
        return params;
    };
    GraphBuilder b;
    auto plain = copy();
    const auto first = b.native(plain);
    const auto branch = b.if_(b.condition(1), [&](GraphBuilder& body) {
        auto inside = copy();
        const auto error = refused<GraphError>([&] { body.native(inside); });
        CHECK_THAT(error.what(), ContainsSubstring("native: memcpy node 0") && ContainsSubstring("takes no such copy"));
        body.kernel({}, add, cells, cells, 1);
    });
    branch.after(first);
    CHECK(branch.body().node_count() == 1);
    run(std::move(b));
    CHECK(read(cells) == std::vector{8});
}
