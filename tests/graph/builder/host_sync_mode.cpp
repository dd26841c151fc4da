// Host nodes with another way of waiting, of CUDA 13.1: kept in updates, copies, texts and comparison.
#include <cudag/graph_text.hpp>

#include <string>
#include <utility>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native.hpp"

using cudag::diff;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::HostOptions;
using cudag::HostSyncMode;
using cudag::Stream;

namespace {

constexpr HostOptions spinning{.sync_mode = HostSyncMode::spin_wait};

bool has_sync_modes() {
    if (!older_than(13010)) return true;
    WARN("skipped: it needs CUDA 13.1");
    return false;
}

/// A host node "call" that counts its calls.
Graph one_call(int& calls, const HostOptions& options) {
    GraphBuilder b;
    b.host([&calls] { ++calls; }, options).label("call");
    return std::move(b).build();
}

/// CUDA's number of the mode of the node "call".
unsigned native_mode([[maybe_unused]] const Graph& graph) {
#if CUDART_VERSION >= 13020
    cudaGraphNodeParams params{};
    cudag::check(cudaGraphNodeGetParams(graph.find_one("call").native(), &params));
    return params.host.syncMode;
#else
    return 1; // no function reads it
#endif
}

} // namespace

TEST_CASE("another sync mode needs CUDA 13.1", "[builder][sync_mode]") {
    int calls = 0;
    CHECK(one_call(calls, {}).node_count() == 1);
    if (!older_than(13010)) return;
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { b.host([] {}, spinning); });
    CHECK(error.code() == cuda_code(cudaErrorNotSupported));
    CHECK_THAT(error.what(), ContainsSubstring("host") && ContainsSubstring("sync_mode") &&
                                 ContainsSubstring("needs CUDA 13.1") && ContainsSubstring("host_sync_mode.cpp"));
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("a host node spins in its graph, its clone and a copy of its nodes", "[builder][sync_mode]") {
    if (!has_sync_modes()) return;
    int calls = 0;
    const Graph graph = one_call(calls, spinning);
    GraphBuilder b;
    b.inline_graph(graph);
    const Graph inlined = std::move(b).build();
    for (const Graph* each : {&graph, &inlined}) {
        CHECK(native_mode(*each) == 1);
        Exec exec = each->instantiate();
        run(exec, Stream());
    }
    CHECK(native_mode(graph.clone()) == 1);
    CHECK(diff(graph, inlined).empty());
    CHECK(calls == 2);
}

TEST_CASE("an update leaves a host node its sync mode", "[builder][sync_mode]") {
    if (!has_sync_modes()) return;
    int calls = 0, others = 0;
    Graph graph = one_call(calls, spinning);
    const auto call = graph.find_one("call").as<cudag::HostNode>();
    Exec exec = graph.instantiate();
    exec.update(call, [&others] { ++others; });
    run(exec, Stream());
    graph.update(call, [&others] { others += 10; });
    CHECK(native_mode(graph) == 1);
    CHECK(exec.apply(graph) == 1);
    run(exec, Stream());
    CHECK(others == 11);
    CHECK(calls == 0);
}

TEST_CASE("diff and whole updates tell sync modes apart", "[builder][sync_mode]") {
    if (!has_sync_modes()) return;
    int calls = 0;
    const Graph spins = one_call(calls, spinning), blocks = one_call(calls, {});
    const auto differences = diff(blocks, spins);
    bool is_told = false;
    for (const cudag::Difference& each : differences)
        if (each.field == "sync mode")
            is_told = each.old_value == "0" && each.new_value == "1" && each.needs_instantiate;
    CHECK(is_told);
}

TEST_CASE("a text keeps the sync mode of a host node", "[builder][sync_mode][text]") {
    if (!has_sync_modes()) return;
    int calls = 0;
    const auto count = [&calls] { ++calls; };
    const Graph graph = one_call(calls, spinning);
    cudag::GraphNames names;
    names.host("call", count);
    const std::string text = to_text(graph, names_of(graph));
    CHECK_THAT(text, ContainsSubstring("sync mode: 1"));
    CHECK_THAT(to_text(one_call(calls, {}), names_of(graph)), !ContainsSubstring("sync mode"));
    const Graph loaded = cudag::load(text, names).graph;
    CHECK(native_mode(loaded) == 1);
    Exec exec = loaded.instantiate();
    run(exec, Stream());
    CHECK(calls == 1);
}
