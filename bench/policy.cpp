// What a CaptureCache makes of eight orders of keys: the share of calls that it replays, and the host's time for a
// call, beside eager calls, and beside the best that is possible for one who knows all calls in advance (best_ways),
// done by hand. Then a GraphedFunction with buckets, for keys as sizes, beside graphs for buckets by hand.
#include "access_patterns.hpp"
#include "kernels.hpp"
#include "options.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using bench::Comparison;
using bench::Way;

constexpr std::size_t capacity = 16;
constexpr unsigned warm_up = 2;

/// The work of every key: some kernels.
class Work {
  public:
    explicit Work(int kernels) : kernels_(kernels) {}

    [[nodiscard]] auto function() const {
        return [this](cudaStream_t stream) {
            for (int i = 0; i < kernels_; ++i)
                cudag::launch(stream, {.block = 32}, touch, values_.data(), i % 16, 1.0f, 1U);
        };
    }

  private:
    int kernels_;
    cudag::DeviceBuffer<float> values_{16};
};

/// Microseconds of a call, without the device's.
template <class Call>
double time_of_calls(const std::vector<int>& keys, const cudag::Stream& stream, const Call& call) {
    double total = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        total += bench::microseconds([&] { call(i); });
        if (i % 16 == 15) stream.synchronize();
    }
    stream.synchronize();
    return total / static_cast<double>(keys.size());
}

double time_eager(const std::vector<int>& keys, const cudag::Stream& stream, const Work& work) {
    return time_of_calls(keys, stream, [&](std::size_t) { work.function()(stream.get()); });
}

double time_by_hand(const std::vector<int>& keys, const std::vector<Way>& ways, const cudag::Stream& stream,
                    const Work& work) {
    std::vector<bool> is_last(keys.size()); // a graph is dropped after its last replay
    std::unordered_map<int, std::size_t> next;
    for (std::size_t i = keys.size(); i-- > 0;) {
        const auto known = next.find(keys[i]);
        is_last[i] = known == next.end() || ways[known->second] != Way::replayed;
        next[keys[i]] = i;
    }
    std::unordered_map<int, cudag::Exec> execs;
    return time_of_calls(keys, stream, [&](std::size_t i) {
        if (ways[i] == Way::eager) return work.function()(stream.get());
        if (ways[i] == Way::captured)
            execs.insert_or_assign(keys[i], cudag::capture(stream, work.function()).instantiate());
        execs.at(keys[i]).launch(stream);
        if (is_last[i]) execs.erase(keys[i]);
    });
}

double time_cached(const std::vector<int>& keys, const cudag::Stream& stream, const Work& work,
                   cudag::CaptureCacheStats& stats) {
    cudag::CaptureCache cache({.warm_up = warm_up, .capacity = capacity});
    const double taken =
        time_of_calls(keys, stream, [&](std::size_t i) { cache.run(stream, keys[i], work.function()); });
    stats = cache.stats();
    return taken;
}

// Buckets: keys are sizes of an input.

constexpr std::size_t largest_size = 1024;

std::size_t size_of(int key) {
    return 1 + static_cast<std::size_t>(key) * 37 % largest_size;
}

/// Some kernels on an input.
auto work_on_input(int kernels) {
    return [kernels](cudaStream_t stream, cudag::DeviceSpan<float> input) {
        for (int i = 0; i < kernels; ++i)
            cudag::launch(stream, {.block = 32}, touch, input.data(), i % static_cast<int>(input.size()), 1.0f, 1U);
    };
}

double time_buckets(const std::vector<int>& keys, const cudag::Stream& stream, int kernels,
                    const cudag::DeviceBuffer<float>& input, std::uint64_t& captures) {
    cudag::GraphedFunction function(work_on_input(kernels),
                                    {.capacity = 16, .bucket = cudag::Bucket::powers_of_two(1, largest_size)});
    const double taken = time_of_calls(
        keys, stream, [&](std::size_t i) { function.forward(stream, input.span().first(size_of(keys[i]))); });
    captures = function.captures();
    return taken;
}

double time_buckets_by_hand(const std::vector<int>& keys, const cudag::Stream& stream, int kernels,
                            const cudag::DeviceBuffer<float>& input) {
    struct OneBucket {
        cudag::DeviceBuffer<float> input;
        cudag::Exec exec;
    };
    std::unordered_map<std::size_t, OneBucket> buckets;
    return time_of_calls(keys, stream, [&](std::size_t i) {
        const std::size_t size = size_of(keys[i]), rounded = std::bit_ceil(size);
        auto known = buckets.find(rounded);
        if (known == buckets.end()) {
            cudag::DeviceBuffer<float> padded(rounded);
            work_on_input(kernels)(stream.get(), padded.span()); // warms up
            cudag::Exec exec =
                cudag::capture(stream, [&](cudaStream_t s) { work_on_input(kernels)(s, padded.span()); }).instantiate();
            known = buckets.emplace(rounded, OneBucket{std::move(padded), std::move(exec)}).first;
        }
        float* const padded = known->second.input.data();
        cudag::check(cudaMemcpyAsync(padded, input.data(), size * sizeof(float), cudaMemcpyDefault, stream.get()));
        if (size < rounded)
            cudag::check(cudaMemsetAsync(padded + size, 0, (rounded - size) * sizeof(float), stream.get()));
        known->second.exec.launch(stream);
    });
}

/// Adds a row for each pattern of sizes.
void compare_buckets(const bench::Options& options, int kernels, const std::vector<bench::AccessPattern>& patterns,
                     const cudag::Stream& stream, std::vector<Comparison>& rows) {
    const cudag::DeviceBuffer<float> input(largest_size);
    cudag::check(cudaMemset(input.data(), 0, input.size_bytes()));
    for (const bench::AccessPattern& pattern : patterns) {
        if (pattern.name != "zipf" && pattern.name != "phases" && pattern.name != "one-off keys") continue;
        const std::string name = std::to_string(kernels) + " kernels, sizes " + pattern.name + ": buckets ";
        Comparison by_hand{name + "against buckets by hand", 0, {}, {}}, eager{name + "against eager calls", 1, {}, {}};
        std::uint64_t captures = 0;
        bench::rounds(options.repeat, {&by_hand, &eager}, [&](int round) {
            bench::compare(
                by_hand, round, [&] { return time_buckets_by_hand(pattern.keys, stream, kernels, input); },
                [&] { return time_buckets(pattern.keys, stream, kernels, input, captures); });
            eager.cudag.push_back(by_hand.cudag.back());
            eager.raw.push_back(time_of_calls(pattern.keys, stream, [&](std::size_t i) {
                work_on_input(kernels)(stream.get(), input.span().first(size_of(pattern.keys[i])));
            }));
        });
        std::set<std::size_t> sizes;
        for (const int key : pattern.keys)
            sizes.insert(size_of(key));
        std::printf("sizes %s: %zu sizes, %llu graphs\n", pattern.name.c_str(), sizes.size(),
                    static_cast<unsigned long long>(captures));
        rows.push_back(std::move(by_hand));
        rows.push_back(std::move(eager));
    }
}

/// What nobody knows without the future, where the share of the best is out of reach.
const char* why_less(const std::string& pattern) {
    if (pattern == "zipf") return "the best knows which of two equally frequent keys comes next";
    if (pattern == "alternating") return "the best knows how long each of the two sets is used";
    if (pattern == "bursts") return "the best knows at once how long a burst lasts";
    return "";
}

bool run(const bench::Options& options) {
    const cudag::Stream stream;
    std::vector<Comparison> rows;
    for (const int kernels : options.nodes) {
        const Work work(kernels);
        work.function()(stream.get()); // the first use of a kernel loads it
        stream.synchronize();
        std::printf("%d kernels, capacity %zu\n%-14s %9s %9s %9s %9s %10s\n", kernels, capacity, "", "replayed", "best",
                    "of best", "captures", "best's");
        const std::vector<bench::AccessPattern> patterns =
            bench::access_patterns(capacity, options.percent.value_or(100) * 20);
        for (const bench::AccessPattern& pattern : patterns) {
            const std::vector<Way> best = bench::best_ways(pattern.keys, capacity, warm_up, {});
            cudag::CaptureCacheStats stats;
            const std::string name = std::to_string(kernels) + " kernels, " + pattern.name + ": ";
            Comparison by_hand{name + "against the best by hand", why_less(pattern.name)[0] == '\0' ? 1.1 : 0, {}, {}};
            Comparison eager{name + "against eager calls", 1, {}, {}};
            bench::rounds(options.repeat, {&by_hand, &eager}, [&](int round) {
                bench::compare(
                    by_hand, round, [&] { return time_by_hand(pattern.keys, best, stream, work); },
                    [&] { return time_cached(pattern.keys, stream, work, stats); });
                eager.raw.push_back(time_eager(pattern.keys, stream, work));
                eager.cudag.push_back(by_hand.cudag.back());
            });
            const double share = static_cast<double>(stats.replays) / static_cast<double>(pattern.keys.size());
            const double of_best = bench::share_of(best, Way::replayed);
            std::printf("%-14s %8.1f%% %8.1f%% %8.1f%% %9llu %10.0f  %s\n", pattern.name.c_str(), 100 * share,
                        100 * of_best, 100 * share / of_best, static_cast<unsigned long long>(stats.captures),
                        bench::share_of(best, Way::captured) * static_cast<double>(pattern.keys.size()),
                        share < 0.95 * of_best ? why_less(pattern.name) : "");
            rows.push_back(std::move(by_hand));
            rows.push_back(std::move(eager));
        }
        compare_buckets(options, kernels, patterns, stream, rows);
    }
    bench::report("host time of a call, by pattern of keys, " + std::to_string(options.repeat) + " rounds", rows,
                  options.json);
    return bench::meets_goals(rows);
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.nodes = {10, 100}, .repeat = 10, .percent = 100}, run);
}
