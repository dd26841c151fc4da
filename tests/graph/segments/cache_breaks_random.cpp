// Random functions with steps, breaks, exceptions and changing sizes in a CaptureCache, against plain C++.
#include <cudag/capture_cache.hpp>

#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "random_seeds.hpp"
#include "test.hpp"

using cudag::CaptureCache;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::launch;
using cudag::Steps;
using cudag::Stream;

namespace {

enum class Act {
    add,
    copy,
    fill,
    aside,  ///< in a side stream, forked around the step
    inside, ///< likewise, forked by the step
    waits,  ///< adds, after a wait in some calls
    eager,
    host,   ///< a break that reads and writes on the host
    throws, ///< a break that throws in some calls
    stops,  ///< a break that ends some calls
    detour, ///< a break that inserts a step in some calls
    last = detour,
    outside, ///< work without a step
    valued   ///< a step with a result
};

struct Op {
    Act act;
    std::size_t to;
    std::size_t from;
    int value;
    unsigned often; ///< for what happens in some calls: in each n-th
    std::string label;

    [[nodiscard]] bool happens(unsigned call) const { return call % often == often - 1; }
};

struct Stopped {};

int sum(int a, int b) {
    return static_cast<int>((static_cast<unsigned>(a) + static_cast<unsigned>(b)) % 99991U);
}

struct Program {
    explicit Program(unsigned seed) : random(seed), cells(2 + below(4)) {
        const std::size_t count = 1 + below(16);
        const bool is_odd = below(6) == 0; // has what makes it run eagerly
        const unsigned breaks = below(4);
        for (std::size_t i = 0; i < count; ++i) {
            Act act = static_cast<Act>(below(6));
            if (below(4) < breaks) act = static_cast<Act>(6 + below(5));
            if (is_odd && below(8) == 0) act = below(2) == 0 ? Act::outside : Act::valued;
            ops.push_back({act, below(cells), below(cells), static_cast<int>(below(100)), 1 + below(4),
                           below(5) == 0 ? "same" : "op " + std::to_string(i)});
        }
    }

    unsigned below(std::size_t end) {
        return static_cast<unsigned>(std::uniform_int_distribution<std::size_t>(0, end - 1)(random));
    }

    /// Whether the call ends by an exception.
    [[nodiscard]] bool run(std::vector<int>& values, unsigned call, int size) const {
        for (const Op& op : ops) {
            switch (op.act) {
            case Act::copy:
                values[op.to] = values[op.from];
                break;
            case Act::fill:
                values[op.to] = op.value;
                break;
            case Act::host:
                values[op.to] = sum(values[op.from], values[op.to]);
                break;
            case Act::throws:
                if (op.happens(call)) return true;
                break;
            case Act::stops:
                if (op.happens(call)) return false;
                break;
            case Act::detour:
                if (op.happens(call)) values[op.to] = sum(values[op.from], op.value);
                break;
            default:
                values[op.to] = sum(values[op.from], op.value * size);
            }
        }
        return false;
    }

    std::mt19937 random;
    std::size_t cells;
    std::vector<Op> ops{};
};

/// One call of the program on the device.
struct OnDevice {
    const Program& program;
    const Stream& side;
    const DeviceBuffer<int>& cells;
    unsigned call;
    int size;

    [[nodiscard]] int* cell(std::size_t i) const { return cells.data() + i; }
    void add_in(cudaStream_t s, const Op& op, int value) const {
        launch(s, {}, add, cell(op.to), cell(op.from), value);
    }

    void operator()(Steps& steps) const {
        for (const Op& op : program.ops)
            if (!run(steps, op)) return;
    }

    /// Whether to go on.
    bool run(Steps& steps, const Op& op) const { // NOLINT: one case each
        const int value = op.value * size;
        bool decision = false;
        switch (op.act) {
        case Act::add:
            steps.step(op.label, [&](cudaStream_t s) { add_in(s, op, value); });
            break;
        case Act::copy:
            steps.step(op.label, [&](cudaStream_t s) {
                check(cudaMemcpyAsync(cell(op.to), cell(op.from), sizeof(int), cudaMemcpyDeviceToDevice, s));
            });
            break;
        case Act::fill:
            steps.step(op.label,
                       [&](cudaStream_t s) { cudag::memset_async(s, cells.span().subspan(op.to, 1), op.value); });
            break;
        case Act::aside:
            steps.fork(side);
            steps.step(op.label, [&] { add_in(side.get(), op, value); });
            steps.join(side);
            break;
        case Act::inside:
            steps.step(op.label, [&] {
                steps.fork(side);
                add_in(side.get(), op, value);
                steps.join(side);
            });
            break;
        case Act::waits:
            steps.step(op.label, [&](cudaStream_t s) {
                if (op.happens(call)) check(cudaStreamSynchronize(s));
                add_in(s, op, value);
            });
            break;
        case Act::eager:
            steps.eager(op.label, [&](cudaStream_t s) { add_in(s, op, value); });
            break;
        case Act::host:
            steps.eager(op.label, [&](cudaStream_t s) {
                check(cudaStreamSynchronize(s));
                std::vector<int> now = read(cells);
                now[op.to] = sum(now[op.from], now[op.to]);
                write(cells.span(), now);
            });
            break;
        case Act::throws:
            steps.eager(op.label, [&] {
                if (op.happens(call)) throw Stopped();
            });
            break;
        case Act::stops:
            steps.eager(op.label, [&] { decision = op.happens(call); });
            return !decision;
        case Act::detour:
            steps.eager(op.label, [&] { decision = op.happens(call); });
            if (decision) steps.step("detour", [&](cudaStream_t s) { add_in(s, op, op.value); });
            break;
        case Act::outside:
            add_in(steps.stream(), op, value);
            break;
        case Act::valued:
            CHECK(steps.step(op.label, [&](cudaStream_t s) {
                add_in(s, op, value);
                return op.value;
            }) == op.value);
            break;
        }
        return true;
    }
};

} // namespace

TEST_CASE("random functions with breaks have the results of plain C++ in a cache",
          "[capture][segments][cache][random]") {
    const Stream stream, side;
    const unsigned seeds = seed_count(8);
    std::uint64_t replays = 0;
    for (unsigned seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        Program program(seed);
        bool waits = false; // then a capture to verify a replay may fail
        for (const Op& op : program.ops)
            waits = waits || op.act == Act::waits;
        const cudag::CaptureCacheOptions options{.warm_up = program.below(3),
                                                 .capacity = 1 + program.below(3),
                                                 .verify = program.below(3) == 0 && !waits ? 3U : 0U,
                                                 .learn_breaks = program.below(3) != 0};
        CAPTURE(options.warm_up, options.capacity, options.verify, options.learn_breaks);
        CaptureCache cache(options);
        DeviceBuffer<int> cells(program.cells);
        std::vector<int> expected(program.cells);
        for (int& value : expected)
            value = static_cast<int>(program.below(1000));
        write(cells.span(), expected);
        unsigned thrown = 0;
        constexpr unsigned calls = 16;
        for (unsigned call = 0; call < calls; ++call) {
            CAPTURE(call);
            const int size = 1 + static_cast<int>(program.below(1 + program.below(3)));
            const bool throws = program.run(expected, call, size);
            bool has_thrown = false;
            try {
                cache.run(stream, size, OnDevice{program, side, cells, call, size});
            } catch (const Stopped&) {
                has_thrown = true;
            }
            thrown += has_thrown;
            CHECK(has_thrown == throws);
            stream.synchronize();
            side.synchronize();
            std::vector<int> found = read(cells);
            for (int& value : found)
                value %= 99991;
            for (int& value : expected)
                value %= 99991;
            REQUIRE(found == expected);
            write(cells.span(), expected);
            if (program.below(10) == 0) cache.forget(size);
        }
        const cudag::CaptureCacheStats stats = cache.stats();
        CHECK(stats.eager_runs + stats.captures + stats.replays + thrown == calls);
        CHECK_FALSE(to_string(cache.report()).empty());
        replays += stats.replays;
    }
    CHECK(replays > seeds);
}
