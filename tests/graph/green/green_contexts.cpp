// GreenContext: its multiprocessors, splits, and what is refused.
#include "green_nodes.hpp"

#include <utility>

using cudag::Error;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::GreenContext;
using cudag::Stream;

namespace {

unsigned all_multiprocessors() {
    int count = 0;
    cudag::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
    return static_cast<unsigned>(count);
}

std::string refusal(CallRef<> call) {
    return refused<Error>(call).what();
}

} // namespace

TEST_CASE("a green context has at least the multiprocessors asked for", "[green]") {
    if (!has_green_contexts()) return;
    const unsigned all = all_multiprocessors();
    for (const unsigned count : {1U, 8U, 9U, all - 1, all}) {
        CAPTURE(count);
        const GreenContext part(count);
        CHECK(part.multiprocessors() >= count);
        CHECK(part.multiprocessors() <= all);
        CHECK(part.device() == 0);
        CHECK(part.get() != nullptr);
        const GreenContext scattered(count, {.device = 0, .scattered = true});
        CHECK(scattered.multiprocessors() >= count);
        CHECK(scattered.multiprocessors() <= part.multiprocessors());
        CHECK(scattered != part);
        const GreenContext copy = part;
        CHECK(copy == part);
    }
}

TEST_CASE("a split gives disjoint green contexts, and the rest", "[green]") {
    if (!has_green_contexts()) return;
    const unsigned all = all_multiprocessors();
    const auto parts = GreenContext::split({8, GreenContext::rest});
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].multiprocessors() == 8);
    CHECK(parts[0].multiprocessors() + parts[1].multiprocessors() == all);
    const auto turned = GreenContext::split({GreenContext::rest, 5});
    CHECK(turned[1].multiprocessors() == 8);
    CHECK(turned[0].multiprocessors() == all - 8);
    const auto small = GreenContext::split({2, 4, 1}, {.scattered = true});
    REQUIRE(small.size() == 3);
    CHECK(small[0].multiprocessors() + small[1].multiprocessors() + small[2].multiprocessors() <= all);
}

TEST_CASE("impossible green contexts are refused by name", "[green]") {
    if (!has_green_contexts()) return;
    const unsigned all = all_multiprocessors();
    CHECK_THAT(refusal([] { GreenContext(0); }), ContainsSubstring("0 multiprocessors; a context has at least 1"));
    CHECK_THAT(refusal([&] { GreenContext(all + 1); }),
               ContainsSubstring(std::to_string(all + 1) + " multiprocessors; device 0 has " + std::to_string(all)));
    CHECK_THAT(refusal([] { GreenContext(8, {.device = 99}); }),
               ContainsSubstring("there is no device 99") && ContainsSubstring("numbered from 0"));
    CHECK_THAT(refusal([] { GreenContext(8, {.device = -1}); }), ContainsSubstring("there is no device -1"));
    CHECK_THAT(refusal([] { static_cast<void>(GreenContext::split({})); }), ContainsSubstring("no counts"));
    CHECK_THAT(refusal([] { static_cast<void>(GreenContext::split({8, 0})); }), ContainsSubstring("0 multiprocessors"));
    CHECK_THAT(refusal([&] { static_cast<void>(GreenContext::split({all + 1})); }), ContainsSubstring("device 0 has"));
    CHECK_THAT(refusal([] {
                   static_cast<void>(GreenContext::split({GreenContext::rest, GreenContext::rest}));
               }),
               ContainsSubstring("only one can be"));
    CHECK_THAT(refusal([&] {
                   static_cast<void>(GreenContext::split({all - 7, 8}));
               }),
               ContainsSubstring("in groups of 8") && ContainsSubstring("device 0 has"));
}

TEST_CASE("workqueues need a newer driver, and are at least one", "[green]") {
    if (!has_green_contexts()) return;
    int driver = 0;
    cudag::check(cudaDriverGetVersion(&driver));
    if (driver < 13010) {
        CHECK_THAT(refusal([] { GreenContext(8, {.workqueues = cudag::WorkqueueConfig{}}); }),
                   ContainsSubstring("workqueues need a driver of CUDA 13.1; this one is of CUDA"));
        return;
    }
    const GreenContext part(8, {.workqueues = cudag::WorkqueueConfig{4, cudag::WorkqueueScope::balanced}});
    CHECK(part.multiprocessors() == 8);
    CHECK_THAT(refusal([] { GreenContext(8, {.workqueues = cudag::WorkqueueConfig{.concurrency = 0}}); }),
               ContainsSubstring("workqueues.concurrency is 0"));
}

TEST_CASE("a green context that was moved from is refused", "[green]") {
    if (!has_green_contexts()) return;
    GreenContext part(8);
    const GreenContext kept = std::move(part);
    GraphBuilder b;
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(b.on(part)); }).what(), // NOLINT: moved from
               ContainsSubstring("the green context was moved from"));
    CHECK_THAT(refusal([&] { Stream stream(part); }), ContainsSubstring("the green context was moved from"));
    b.on(kept).kernel({}, nothing);
    CHECK(b.node_count() == 1);
}

TEST_CASE("a green context ends with its last owner", "[green]") {
    if (!has_green_contexts()) return;
    GraphBuilder b;
    CUcontext context = nullptr;
    {
        const GreenContext part(8);
        context = part.get();
        b.on(part).kernel({}, nothing);
    }
    const auto id =
        reinterpret_cast<CUresult(CUDAAPI*)(CUcontext, unsigned long long*)>(driver_function("cuCtxGetId", 12000));
    unsigned long long number = 0;
    CHECK(id(context, &number) == CUDA_SUCCESS); // the graph keeps it
    b = GraphBuilder();
    const Stream stream;
    stream.synchronize(); // what was released last
}
