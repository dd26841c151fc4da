// Random programs of steps, breaks and exceptions, as segments, against plain C++.
#include <cudag/segmented_graph.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "random_seeds.hpp"
#include "test.hpp"

using cudag::DeviceBuffer;
using cudag::launch;
using cudag::SegmentedGraph;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

enum class Act { add, copy, fill, aside, memory, host, eager_add, inner, throws, nothing };

struct Op {
    Act act;
    std::size_t to;
    std::size_t from;
    int value;
    unsigned launch; ///< for `throws`: the number of the launch that throws
    [[nodiscard]] bool is_break() const { return act >= Act::host; }
};

struct Thrown {};

/// A program on a few cells.
class RandomProgram {
  public:
    explicit RandomProgram(unsigned seed) : random_(seed) {
        cells_ = 2 + below(5);
        const std::size_t count = below(25);
        const unsigned breaks = below(4); // how many of 4 operations are breaks
        for (std::size_t i = 0; i < count; ++i) {
            const bool is_break = below(4) < breaks;
            const Act act = is_break ? static_cast<Act>(static_cast<unsigned>(Act::host) + below(5))
                                     : static_cast<Act>(below(static_cast<unsigned>(Act::host)));
            ops_.push_back({act, below(cells_), below(cells_), static_cast<int>(below(100)), below(3)});
        }
    }

    [[nodiscard]] std::size_t cells() const { return cells_; }
    [[nodiscard]] const std::vector<Op>& ops() const { return ops_; }
    unsigned below(std::size_t end) {
        return static_cast<unsigned>(std::uniform_int_distribution<std::size_t>(0, end - 1)(random_));
    }

    /// Runs launch number `number` on `cells`. Whether it ended by an exception.
    [[nodiscard]] bool run(std::vector<int>& cells, unsigned number, int size) const {
        for (const Op& op : ops_) {
            switch (op.act) {
            case Act::add:
            case Act::aside:
            case Act::memory:
            case Act::eager_add:
            case Act::inner:
                cells[op.to] = sum(cells[op.from], op.value * size);
                break;
            case Act::copy:
                cells[op.to] = cells[op.from];
                break;
            case Act::fill:
                cells[op.to] = op.value;
                break;
            case Act::host:
                cells[op.to] = sum(cells[op.from], cells[op.to]);
                break;
            case Act::throws:
                if (op.launch == number) return true;
                break;
            case Act::nothing:
                break;
            }
        }
        return false;
    }

    static int sum(int a, int b) {
        return static_cast<int>((static_cast<unsigned>(a) + static_cast<unsigned>(b)) % 99991U);
    }

  private:
    std::mt19937 random_;
    std::size_t cells_;
    std::vector<Op> ops_;
};

/// The same on the device.
class OnDevice {
  public:
    OnDevice(const RandomProgram& program, const Stream& side)
        : program_(program), side_(side), cells_(program.cells()) {}

    void set(const std::vector<int>& values) const { write(cells_.span(), values); }
    [[nodiscard]] std::vector<int> values() const { return read(cells_); }
    void begin(unsigned number) { number_ = number; }

    void capture(StreamCapture& c, int size) const {
        for (std::size_t i = 0; i < program_.ops().size(); ++i) {
            const Op& op = program_.ops()[i];
            const std::string label = "op " + std::to_string(i);
            if (op.is_break())
                c.eager(label, [this, op, size](cudaStream_t s) { run_break(s, op, size); });
            else if (i % 2 == 0)
                c.step(label, [&] { record(c, op, size); });
            else
                record(c, op, size);
        }
    }

  private:
    [[nodiscard]] int* cell(std::size_t i) const { return cells_.data() + i; }

    void record(StreamCapture& c, const Op& op, int size) const {
        const cudaStream_t s = c.stream();
        const int value = op.value * size;
        switch (op.act) {
        case Act::add:
            launch(s, {}, add, cell(op.to), cell(op.from), value);
            break;
        case Act::copy:
            cudag::check(cudaMemcpyAsync(cell(op.to), cell(op.from), sizeof(int), cudaMemcpyDeviceToDevice, s));
            break;
        case Act::fill:
            cudag::memset_async(s, cells_.span().subspan(op.to, 1), op.value);
            break;
        case Act::aside:
            c.fork(side_);
            launch(side_, {}, add, cell(op.to), cell(op.from), value);
            c.join(side_);
            break;
        default: { // memory of the graph, freed in it
            int* memory = nullptr;
            cudag::check(cudaMallocAsync(reinterpret_cast<void**>(&memory), sizeof(int), s));
            launch(s, {}, add, memory, cell(op.from), value);
            launch(s, {}, add, cell(op.to), memory, 0);
            cudag::check(cudaFreeAsync(memory, s));
        }
        }
    }

    void run_break(cudaStream_t s, const Op& op, int size) const {
        switch (op.act) {
        case Act::host: {
            cudag::check(cudaStreamSynchronize(s));
            std::vector<int> now = values();
            now[op.to] = RandomProgram::sum(now[op.from], now[op.to]);
            set(now);
            break;
        }
        case Act::eager_add:
            launch(s, {}, add, cell(op.to), cell(op.from), op.value * size);
            break;
        case Act::inner: {
            cudag::Exec exec = cudag::capture(s, [&](cudaStream_t again) {
                                   launch(again, {}, add, cell(op.to), cell(op.from), op.value * size);
                               }).instantiate();
            exec.launch(s);
            break;
        }
        case Act::throws:
            if (op.launch == number_) throw Thrown();
            break;
        default:
            break;
        }
    }

    const RandomProgram& program_;
    const Stream& side_;
    DeviceBuffer<int> cells_;
    unsigned number_ = 0;
};

std::vector<int> reduced(std::vector<int> values) {
    for (int& value : values)
        value %= 99991;
    return values;
}

} // namespace

TEST_CASE("random programs with breaks have the results of plain C++", "[capture][segments][random]") {
    const Stream stream, side;
    const unsigned seeds = seed_count(10);
    for (unsigned seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        RandomProgram program(seed);
        OnDevice device(program, side);
        std::vector<int> expected(program.cells());
        for (int& value : expected)
            value = static_cast<int>(program.below(1000));
        device.set(expected);
        const bool shared = program.below(3) == 0;
        std::vector<std::optional<SegmentedGraph>> of_size(3);
        std::size_t breaks = 0;
        for (const Op& op : program.ops())
            breaks += op.is_break();
        for (unsigned number = 0; number < 5; ++number) {
            CAPTURE(number, shared);
            const unsigned size = program.below(of_size.size());
            if (!of_size[size])
                of_size[size].emplace(
                    capture_segments(stream, [&](StreamCapture& c) { device.capture(c, static_cast<int>(size)); },
                                     {.allow_empty = true}, {.share_execs = shared}));
            CHECK(of_size[size]->break_count() == breaks);
            CHECK(of_size[size]->segment_count() <= breaks + 1);
            device.begin(number);
            const bool throws = program.run(expected, number, static_cast<int>(size));
            bool has_thrown = false;
            try {
                of_size[size]->launch(stream);
            } catch (const Thrown&) {
                has_thrown = true;
            }
            CHECK(has_thrown == throws);
            stream.synchronize();
            CHECK(reduced(device.values()) == reduced(expected));
            expected = device.values(); // not reduced on the device
            if (program.below(4) == 0) of_size[program.below(of_size.size())].reset();
        }
        static_cast<void>(cudag::to_string(of_size.front() ? of_size.front()->report() : cudag::SegmentedReport()));
    }
}
