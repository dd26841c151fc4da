// What all seeds of one process share.
#include "bench.hpp"

#include "kernels.hpp"

#include <utility>

namespace {

/// What a process, or a kernel, does once, so that no failure is injected there.
void warm_up(Bench& bench) {
    std::uint32_t* const words = bench.words.data();
    cudag::GraphBuilder b({.races = cudag::Races::allowed});
    b.kernel({}, fuzz_mix, bench.words, 0, Inputs{}, 1);
    b.kernel({}, fuzz_add, words, 1, 1, 1);
    b.kernel({}, fuzz_real, reinterpret_cast<float*>(words), 2, 0, 1.0F);
    b.kernel({}, fuzz_wide, words, 3, Wide{});
    b.kernel({}, fuzz_write, words + std::size_t{4} * area_words, 1, 1);
    b.kernel({}, fuzz_read, words + std::size_t{5} * area_words, words + std::size_t{9} * area_words,
             words + std::size_t{9} * area_words, 1, 1);
    std::uint32_t* const combined = words + std::size_t{10} * area_words; // each writes what no other touches
    b.kernel({}, fuzz_combine, combined, 1, combined, 1, combined, 1, 1);
    b.kernel({}, fuzz_accumulate, words + std::size_t{11} * area_words, 1, 1);
    b.kernel({}, fuzz_items, words + std::size_t{12} * area_words, 1, words + std::size_t{13} * area_words, 1, 0,
             nullptr, 1);
    b.kernel({}, fuzz_fold, words + std::size_t{14} * area_words, words + std::size_t{13} * area_words, 0, nullptr, 0,
             1);
    const cudag::Condition outer = b.condition(0);
    b.while_(outer, [&](cudag::GraphBuilder& body) {
        const cudag::Condition inner = body.condition(0);
        body.kernel({}, fuzz_set, bench.words, 6, Inputs{}, 1, inner, 1);
        body.if_(inner, [](cudag::GraphBuilder&) {});
        body.kernel({}, fuzz_count, bench.words, 7, 1, outer, 1);
    });
    const auto fill = b.memset(cudag::DeviceSpan<std::uint32_t>(words + std::size_t{8} * area_words, 1), 1);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.disable(fill); // what stands for a disabled fill is memory of the process
    exec.launch(bench.streams[0]);
    bench.streams[0].synchronize();
}

} // namespace

Bench::Bench() : words(std::size_t{areas} * area_words) {
    for (unsigned i = 0; i < event_count; ++i)
        events.emplace_back(cudag::EventOptions{.timing = false});
    for (unsigned i = 0; i < steps; ++i)
        recorded.emplace_back(cudag::EventOptions{.timing = false});
    warm_up(*this);
}

void Bench::end_captures() const {
    for (const cudag::Stream& stream : captured) {
        cudaStreamCaptureStatus status{};
        if (cudaStreamIsCapturing(stream.get(), &status) == cudaSuccess && status != cudaStreamCaptureStatusNone) {
            cudaGraph_t graph = nullptr;
            static_cast<void>(cudaStreamEndCapture(stream.get(), &graph));
            if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
        }
    }
    static_cast<void>(cudaGetLastError());
}
