// Green contexts on one of two devices, their queues, and their end.
#include "graph/driver_functions.hpp"
#include "several_devices.hpp"

#include <cudag/cudag.hpp>
#include <cudag/graph_text.hpp>

#include <catch.hpp>
#include <cuda.h>
#include <cudart_cpu/control.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using cudag::GraphBuilder;
using cudag::GreenContext;
using cudag::WorkqueueConfig;
using cudag::WorkqueueScope;

namespace {

template <class Function>
Function driver_entry(const char* name, unsigned version) {
    return reinterpret_cast<Function>(driver_function(name, version));
}

bool is_context(CUctx_st* context) {
    unsigned long long id = 0;
    const auto get = driver_entry<CUresult(CUDAAPI*)(CUcontext, unsigned long long*)>("cuCtxGetId", 12000);
    return get(context, &id) == CUDA_SUCCESS;
}

/// A resource as CUDA 13.1 describes queues.
struct Queues {
    int type;
    unsigned char padding[92];
    int device;
    unsigned concurrency;
    int scope;
};

Queues queues_of(const GreenContext& context) {
    using Get = CUresult(CUDAAPI*)(CUcontext, CUdevResource*, CUdevResourceType);
    CUdevResource resource{};
    const volatile int type = 1000; // named from CUDA 13.1 on: no constant of the enumeration before
    CHECK(driver_entry<Get>("cuCtxGetDevResource", 12040)(context.get(), &resource,
                                                          static_cast<CUdevResourceType>(type)) == CUDA_SUCCESS);
    Queues queues{};
    std::memcpy(&queues, &resource, sizeof queues);
    return queues;
}

/// The multiprocessors of several contexts, which must be disjoint, in order.
std::vector<unsigned> disjoint_multiprocessors(const std::vector<GreenContext>& parts) {
    std::vector<unsigned> all;
    for (const GreenContext& part : parts) {
        const auto own = cudart_cpu::multiprocessors_of(part.get());
        CHECK(own.size() == part.multiprocessors());
        all.insert(all.end(), own.begin(), own.end());
    }
    std::ranges::sort(all);
    CHECK(std::ranges::adjacent_find(all) == all.end());
    return all;
}

unsigned multiprocessors_here() {
    int count = 0;
    cudag::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
    return static_cast<unsigned>(count);
}

void one(int* cell) {
    *cell = 1;
}

} // namespace

TEST_CASE("a green context is of the current device, or of the one given", "[green]") {
    const SeveralDevices devices(2);
    CHECK(GreenContext(8).device() == 0);
    const GreenContext given(8, {.device = 1});
    CHECK(given.device() == 1);
    cudag::check(cudaSetDevice(1));
    CHECK(GreenContext(8).device() == 1);
    CHECK(GreenContext(8, {.device = 0}).device() == 0);
    CHECK(GreenContext::split({8, GreenContext::rest}, {.device = 0}).at(1).device() == 0);
    int current = 99;
    cudag::check(cudaGetDevice(&current));
    CHECK(current == 1);
    for (const int none : {2, 3, -1}) {
        std::string reason;
        try {
            GreenContext(8, {.device = none});
        } catch (const cudag::Error& error) {
            reason = error.what();
        }
        CHECK_THAT(reason, ContainsSubstring("there is no device " + std::to_string(none)) &&
                               ContainsSubstring("CUDA sees 2 devices"));
    }
}

TEST_CASE("the parts of a split are disjoint, and with the rest the whole device", "[green][split]") {
    const unsigned all = multiprocessors_here();
    for (const bool scattered : {false, true}) {
        const unsigned size = scattered ? 2 : 8;
        const auto parts = GreenContext::split({size, GreenContext::rest}, {.scattered = scattered});
        REQUIRE(parts.size() == 2);
        CHECK(parts[0].multiprocessors() == size);
        CHECK(disjoint_multiprocessors(parts).size() == all);
        const unsigned in_groups = all / size * size;
        CHECK(disjoint_multiprocessors(GreenContext::split({in_groups}, {.scattered = scattered})).size() == in_groups);
        if (in_groups == all) continue;
        const auto left = GreenContext::split({in_groups, GreenContext::rest}, {.scattered = scattered});
        CHECK(left[1].multiprocessors() == all - in_groups);
        CHECK(disjoint_multiprocessors(left).size() == all);
    }
    if (all < 32) return; // another run has more
    const auto rounded = GreenContext::split({1, GreenContext::rest, 9});
    CHECK(rounded[0].multiprocessors() == 8);
    CHECK(rounded[2].multiprocessors() == 16);
    CHECK(disjoint_multiprocessors(rounded).size() == all);
    const auto few = GreenContext::split({4, 2, 1}, {.scattered = true});
    CHECK(disjoint_multiprocessors(few).size() == 8);
}

TEST_CASE("a green context has the multiprocessors that it counts", "[green][split]") {
    const unsigned all = multiprocessors_here();
    for (const unsigned count : {1U, 8U, 9U, all})
        CHECK(disjoint_multiprocessors({GreenContext(count)}).size() >= count);
    CHECK(disjoint_multiprocessors({GreenContext(all)}).size() == all);
    CHECK(disjoint_multiprocessors({GreenContext(1, {.scattered = true})}).size() == 2);
}

TEST_CASE("nodes of a green context are of its device", "[green]") {
    const SeveralDevices devices(2);
    const GreenContext part(8, {.device = 1});
    cudag::check(cudaSetDevice(1));
    const cudag::DeviceBuffer<int> cells(2);
    cudag::check(cudaSetDevice(0));
    GraphBuilder b;
    GraphBuilder on_part = b.on(part);
    const auto fill = on_part.memset(cells, 0);
    on_part.kernel({}, one, cells.data()).after(fill);
    on_part.if_(on_part.condition(1U), [&](GraphBuilder& body) { body.kernel({}, one, cells.data() + 1); }).after(fill);
    const cudag::Graph graph = std::move(b).build();
    CHECK_THAT(to_text(graph, names_of(graph)), ContainsSubstring("initial 1, device 1"));
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    exec.launch(stream);
    stream.synchronize();
    int host[2] = {};
    cudag::check(cudaMemcpy(host, cells.data(), sizeof host, cudaMemcpyDefault));
    CHECK(host[0] == 1);
    CHECK(host[1] == 1);
}

TEST_CASE("a green context ends with its copies, graphs and Execs, and not before", "[green]") {
    const cudag::DeviceBuffer<int> cell(1);
    std::optional<cudag::Exec> exec;
    CUctx_st* context = nullptr;
    {
        const GreenContext part(8);
        context = part.get();
        const GreenContext unused(8);
        CHECK(unused.get() != context);
        GraphBuilder b;
        b.on(part).memset(cell, 1);
        const cudag::Graph graph = std::move(b).build();
        exec = graph.instantiate();
    }
    CHECK(is_context(context));
    exec.reset();
    cudag::Stream().synchronize();
    CHECK_FALSE(is_context(context));
    std::optional<GreenContext> alone(8);
    context = alone->get();
    std::optional<GreenContext> copy(alone);
    alone.reset();
    CHECK(is_context(context));
    copy.reset();
    CHECK_FALSE(is_context(context));
}

TEST_CASE("a green context has the queues asked for", "[green]") {
    cudart_cpu::set_driver_version(13010);
    {
        const GreenContext own(8, {.workqueues = WorkqueueConfig{3, WorkqueueScope::balanced}});
        CHECK(queues_of(own).concurrency == 3);
        CHECK(queues_of(own).scope == 1);
        const GreenContext shared(8, {.workqueues = WorkqueueConfig{5, WorkqueueScope::device}});
        CHECK(queues_of(shared).concurrency == 5);
        CHECK(queues_of(shared).scope == 0);
        const SeveralDevices devices(2);
        const GreenContext other(8, {.device = 1, .workqueues = WorkqueueConfig{}});
        CHECK(queues_of(other).device == 1);
        CHECK(queues_of(other).concurrency == 1);
        std::string reason;
        try {
            GreenContext(8, {.workqueues = WorkqueueConfig{.concurrency = 0}});
        } catch (const cudag::Error& error) {
            reason = error.what();
        }
        CHECK_THAT(reason, ContainsSubstring("workqueues.concurrency is 0; at least one stream or branch runs"));
    }
    cudart_cpu::set_driver_version(0);
}
