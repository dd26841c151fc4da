// Graph memory that outlives a launch, or is freed elsewhere; and what graphs with memory nodes cannot do.
#include <optional>
#include <utility>

#include "memory_nodes.hpp"
#include "native.hpp"
#include "native_nodes.hpp"

using cudag::AllocNode;
using cudag::DeviceSpan;
using cudag::Error;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::InstantiateError;
using cudag::Stream;

namespace {

/// alloc -> fill with 7; nothing frees it.
struct Keeping {
    AllocNode<int> alloc;
    Graph graph = build();

    void free_in(const Stream& stream) const {
        cudag::check(cudaFreeAsync(alloc.span().data(), stream.get()));
        stream.synchronize();
    }

  private:
    Graph build() {
        GraphBuilder b;
        alloc = b.alloc<int>(2).label("kept");
        b.memset(alloc.span(), 7).after(alloc);
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("memory that is not freed is there after the launch", "[memory][lifetime]") {
    const Keeping k;
    Exec exec = k.graph.instantiate();
    const Stream stream;
    run(exec, stream);
    CHECK(read(k.alloc.span()) == std::vector{7, 7});
    k.free_in(stream);
    run(exec, stream); // and may be launched again once it is freed
    CHECK(read(k.alloc.span()) == std::vector{7, 7});
    k.free_in(stream);
}

TEST_CASE("a launch before the memory of the last one is freed is explained", "[memory][lifetime]") {
    const Keeping k;
    Exec exec = k.graph.instantiate();
    const Stream stream;
    run(exec, stream);
    const auto error = refused<Error>([&] { exec.launch(stream); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.operation() == "cuGraphLaunch");
    CHECK(error.labels() == Labels{"kept"});
    CHECK_THAT(error.what(), ContainsSubstring("alloc \"kept\" at ") && ContainsSubstring("memory_lifetime.cpp:") &&
                                 ContainsSubstring("is not freed in this graph") &&
                                 ContainsSubstring("auto_free_on_launch"));
    CHECK(exec.replays() == 1);
    CHECK(read(k.alloc.span()) == std::vector{7, 7});
    k.free_in(stream);
    run(exec, stream);
    CHECK(exec.replays() == 2);
    k.free_in(stream);
}

TEST_CASE("auto_free_on_launch frees the memory of the last launch", "[memory][lifetime]") {
    const Keeping k;
    Exec exec = k.graph.instantiate({.auto_free_on_launch = true});
    const Stream stream;
    for (int round = 0; round < 3; ++round) {
        run(exec, stream);
        CHECK(read(k.alloc.span()) == std::vector{7, 7});
    }
    k.free_in(stream);
}

TEST_CASE("another graph can free the memory", "[memory][lifetime]") {
    const Keeping k;
    GraphBuilder b;
    const auto result = device({0, 0});
    const auto copy = b.memcpy(result, k.alloc.span());
    const auto free = b.free(k.alloc).after(copy);
    CHECK(freed_address(free) == k.alloc.span().data());
    Exec freeing = std::move(b).build().instantiate();
    Exec keeping = k.graph.instantiate();
    const Stream stream;
    for (int round = 0; round < 2; ++round) {
        keeping.launch(stream);
        freeing.launch(stream);
        stream.synchronize();
        CHECK(read(result) == std::vector{7, 7});
        write(result.span(), {0, 0});
    }
}

TEST_CASE("memory is freed once in a graph", "[memory][lifetime]") {
    GraphBuilder b;
    const auto alloc = b.alloc<int>(1).label("memory");
    b.free(alloc).label("end").after(alloc);
    const auto check = [&](auto&& free) {
        const auto error = refused<GraphError>(free);
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK(error.labels() == Labels{"memory", "end"});
        CHECK_THAT(error.what(), ContainsSubstring("free at ") && ContainsSubstring("alloc \"memory\" at ") &&
                                     ContainsSubstring("freed already by free \"end\" at "));
    };
    check([&] { b.free(alloc); });
    check([&] { b.free(alloc.span()); });
    CHECK(native_count(std::move(b).build()) == 2);
}

TEST_CASE("memory is freed by its own graph or by another, not by both", "[memory][lifetime]") {
    GraphBuilder owner;
    const auto freed = owner.alloc<int>(1).label("freed");
    owner.free(freed).label("own end").after(freed);
    const auto kept = owner.alloc<int>(1).label("kept");
    GraphBuilder other;
    const auto own = refused<GraphError>([&] { other.free(freed); });
    CHECK(own.labels() == Labels{"freed", "own end"});
    CHECK_THAT(own.what(), ContainsSubstring("free \"own end\" at ") && ContainsSubstring("in another graph"));

    other.free(kept).label("other end");
    const auto late = refused<GraphError>([&] { owner.free(kept); });
    CHECK(late.labels() == Labels{"kept", "other end"});
    CHECK_THAT(late.what(), ContainsSubstring("free \"other end\" at ") && ContainsSubstring("in another graph"));
    const auto twice = refused<GraphError>([&] { other.free(kept); });
    CHECK(twice.labels() == Labels{"kept", "other end"});
    CHECK(native_count(std::move(owner).build()) == 3);
    CHECK(native_count(std::move(other).build()) == 1);
}

TEST_CASE("only an alloc node's memory can be freed", "[memory][lifetime]") {
    const cudag::DeviceBuffer<int> buffer(4);
    const auto foreign = refused_in_builder([&](GraphBuilder& b) { b.free(buffer.span()); });
    CHECK_THAT(foreign.what(), ContainsSubstring("no alloc node of this graph has memory at 0x"));
    const auto empty = refused_in_builder([&](GraphBuilder& b) { b.free(DeviceSpan<int>()); });
    CHECK_THAT(empty.what(), ContainsSubstring("0 elements"));
    const auto null = refused_in_builder([&](GraphBuilder& b) { b.free(DeviceSpan<int>(nullptr, 1)); });
    CHECK_THAT(null.what(), ContainsSubstring("no alloc node"));
    const Keeping k;
    const auto other = refused_in_builder([&](GraphBuilder& b) { b.free(k.alloc.span()); });
    CHECK_THAT(other.what(), ContainsSubstring("by its handle if it is another graph's"));
}

TEST_CASE("memory is freed as a whole", "[memory][lifetime]") {
    GraphBuilder b;
    const auto alloc = b.alloc<int>(4).label("memory");
    const auto tail = refused<GraphError>([&] { b.free(alloc.span().subspan(1, 3)); });
    CHECK_THAT(tail.what(), ContainsSubstring("the span is 12 bytes from byte 4 of the 16 bytes of alloc \"memory\""));
    CHECK(tail.labels() == Labels{"memory"});
    const auto head = refused<GraphError>([&] { b.free(alloc.span().subspan(0, 3)); });
    CHECK_THAT(head.what(), ContainsSubstring("the span is 12 bytes from byte 0 of the 16 bytes"));
    b.free(alloc.span()).after(alloc);
    CHECK(native_count(std::move(b).build()) == 2);
}

TEST_CASE("an empty or dead alloc handle cannot be freed", "[memory][lifetime]") {
    const auto empty = refused_in_builder([](GraphBuilder& b) { b.free(AllocNode<int>()); });
    CHECK_THAT(empty.what(), ContainsSubstring("empty node handle"));
    std::optional<GraphBuilder> gone(std::in_place);
    const auto alloc = gone->alloc<int>(1);
    gone.reset();
    const auto dead = refused_in_builder([&](GraphBuilder& b) { b.free(alloc); });
    CHECK_THAT(dead.what(), ContainsSubstring("no longer exists"));
}

TEST_CASE("a clone of a graph with memory nodes has other memory, but frees none of another graph",
          "[memory][lifetime]") {
    const Keeping k;
    const Graph clone = k.graph.clone();
    CHECK(alloc_params(clone.find("kept").at(0)).dptr != alloc_params(k.alloc).dptr);
    GraphBuilder b;
    b.free(k.alloc).label("end");
    const Graph freeing = std::move(b).build();
    const auto error = refused<GraphError>([&] { static_cast<void>(freeing.clone()); });
    CHECK(error.code() == cuda_code(cudaErrorNotSupported));
    CHECK(error.labels() == Labels{"end"});
    CHECK_THAT(error.what(), ContainsSubstring("clone: free \"end\" at ") && ContainsSubstring("free that again"));
}

TEST_CASE("memory nodes cannot be disabled", "[memory][lifetime]") {
    const Keeping k;
    Exec exec = k.graph.instantiate();
    const auto error = refused<cudag::UpdateError>([&] { exec.disable(k.alloc); });
    CHECK_THAT(error.what(), ContainsSubstring("\"kept\""));
    CHECK(exec.is_enabled(k.alloc));
}

TEST_CASE("memory nodes of an adopted graph get handles", "[memory][adopt]") {
    cudaGraph_t native = nullptr;
    cudag::check(cudaGraphCreate(&native, 0));
    cudaMemAllocNodeParams params{};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = 16;
    const cudaGraphNode_t alloc = add_native_alloc(native, {}, params);
    const cudaGraphNode_t free = add_native_free(native, {alloc}, params.dptr);
    const Graph graph = Graph::adopt(native);
    const auto memory = graph.nodes().at(0).as<AllocNode<int>>();
    CHECK(memory.span().data() == params.dptr);
    CHECK(memory.span().size() == 4);
    CHECK(graph.nodes().at(1).as<cudag::FreeNode>().native() == free);
    GraphBuilder b;
    CHECK_THAT(refused<GraphError>([&] { b.free(memory); }).what(), ContainsSubstring("freed already by free node 1"));
    Exec exec = graph.instantiate();
    run(exec, Stream());
}
