// What an early edge does on a GPU, and what it does not: make what the kernel before it wrote visible.
#include "early_edges_kernels.hpp"
#include "test.hpp"

using cudag::GraphBuilder;

namespace {

/// Trigger and synchronisation exist from compute capability 9.0 on.
bool skipped() {
    cudaFuncAttributes compiled{};
    cudag::check(cudaFuncGetAttributes(&compiled, reinterpret_cast<const void*>(trigger_then_write)));
    if (compiled.ptxVersion >= 90) return false;
    WARN("skipped: the kernels are compiled for compute capability " << compiled.ptxVersion << ", not 90 or later");
    return true;
}

/// What a consumer sees of a cell that is 1 at first, and that the producer sets to 2 once the consumer has begun.
template <class Early>
int seen_by(void (*consumer)(int*, const int*, unsigned*), Early early) {
    const auto cell = device({1});
    const auto seen = device({0});
    const auto begun = device({0U});
    const auto overlapped = device({0U});
    GraphBuilder b({.races = cudag::Races::allowed}); // over launch completions nothing is ordered
    const auto producer = b.kernel({}, trigger_then_write, cell, 2, begun, overlapped);
    b.kernel({}, consumer, seen, cell, begun).after(early(producer));
    run(std::move(b));
    CHECK(read(cell) == std::vector{2});
    CHECK(read(overlapped) == std::vector{1U});
    return read(seen).at(0);
}

const auto programmatic = [](const auto& node) { return cudag::programmatic(node); };
const auto launch_completion = [](const auto& node) { return cudag::launch_completion(node); };

} // namespace

TEST_CASE("over an early edge, a kernel that does not synchronise sees old values", "[builder][edges]") {
    if (skipped()) return;
    CHECK(seen_by(read_at_once, programmatic) == 1);
    CHECK(seen_by(read_at_once, launch_completion) == 1);
}

TEST_CASE("over an early edge, a kernel that synchronises sees new values", "[builder][edges]") {
    if (skipped()) return;
    CHECK(seen_by(read_after_wait, programmatic) == 2);
    CHECK(seen_by(read_after_wait, launch_completion) == 2);
}
