// What race checks and inferred edges cost: ten times as many nodes take about ten times as long. Prints the times.
#include "accesses/inference.hpp"
#include "accesses/race_search.hpp"
#include "bench/shapes.hpp"

#include "catch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using bench::Between;
using bench::Shape;
using namespace cudag::detail;

namespace {

constexpr std::size_t bytes = 4096; ///< of each node's result

/// Which memory the result of a node is.
enum class Memory {
    own_buffers, ///< anywhere
    one_buffer,  ///< one beside the other
    tiles,       ///< of one matrix
};

/// Each kernel writes its result and reads those of the last kernels before it, three at most, and a buffer that all
/// read.
std::vector<MemoryAccess> accesses_of(const Shape& shape, Memory memory, bool from_first) {
    const auto result_of = [memory](Shape::Node node) -> MemoryBlock {
        const std::uintptr_t begin = 0x7f0000000000;
        if (memory == Memory::one_buffer) return {begin + node * bytes, bytes};
        if (memory == Memory::tiles) return {begin + node / 32 * (32 * bytes) + node % 32 * 64, 64, 64, 32 * 64};
        return {begin + (node * std::size_t{0x9E3779B1} & 0xFFFFF) * 2 * bytes, bytes};
    };
    std::vector<MemoryAccess> accesses;
    for (Shape::Node node = 0; node < shape.size(); ++node) {
        if (shape.is_barrier(node)) continue;
        const bool is_first = from_first && accesses.empty();
        accesses.push_back({node, is_first ? AccessMode::write : AccessMode::read, {0x100000, bytes}});
        Shape::Nodes before(shape.predecessors(node).begin(), shape.predecessors(node).end());
        if (before.size() == 1 && shape.is_barrier(before[0]))
            before.assign(shape.predecessors(before[0]).begin(), shape.predecessors(before[0]).end());
        for (std::size_t i = 0; i < std::min<std::size_t>(before.size(), 3); ++i)
            if (const Shape::Node other = before[before.size() - 1 - i]; !shape.is_barrier(other))
                accesses.push_back({node, AccessMode::read, result_of(other)});
        accesses.push_back({node, AccessMode::write, result_of(node)});
    }
    return accesses;
}

/// The shortest of a few, in microseconds.
double time_of(const std::function<void()>& task) {
    double shortest = std::numeric_limits<double>::max();
    for (int i = 0; i < 7; ++i) {
        const auto start = std::chrono::steady_clock::now();
        task();
        const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
        shortest = std::min(shortest, time.count());
    }
    return shortest;
}

struct Times {
    double check;
    double inference;
    [[nodiscard]] double sum() const { return check + inference; }
};

Times times_of(const Shape& shape, Memory memory, bool from_first) {
    const std::vector<MemoryAccess> accesses = accesses_of(shape, memory, from_first);
    std::vector<EdgeRecord> edges;
    for (const Shape::Edge& edge : shape.edges())
        edges.push_back({edge.from, edge.to});
    CHECK(find_races(accesses, shape.size(), edges, 10).empty());
    const Times times{time_of([&] { static_cast<void>(find_races(accesses, shape.size(), edges, 10)); }),
                      time_of([&] { static_cast<void>(inferred_order(accesses, shape.size(), {})); })};
    std::printf("%-28s %6u nodes %6zu edges %6zu accesses: check %8.1f us, inference %8.1f us\n", shape.name().c_str(),
                shape.size(), shape.edge_count(), accesses.size(), times.check, times.inference);
    return times;
}

constexpr double most_for_ten_times = 40;
constexpr double one_millisecond = 1000;

} // namespace

TEST_CASE("race checks and inferred edges take time in proportion to nodes and accesses", "[races]") {
    struct Case {
        std::function<Shape(unsigned)> of_size;
        bool has_one_root; ///< that comes before all others
    };
    const std::vector<Case> cases{
        {[](unsigned n) { return bench::line(n); }, true},
        {[](unsigned n) { return bench::layers(n / 10, 10, Between::edges); }, false},
        {[](unsigned n) { return bench::layers(n / 20, 20, Between::barriers); }, false},
        {[](unsigned n) { return bench::chains(n / 10, 10); }, false},
        {[](unsigned n) { return bench::fork_join_tree(n < 5000 ? 8 : 12, 2); }, true},
        {[](unsigned n) { return bench::stencil(n / 32, 32); }, false},
        {[](unsigned n) { return bench::wavefront(n / 32, 32); }, true},
        {[](unsigned n) { return bench::reduction_tree(n / 2, 2); }, false},
        {[](unsigned n) { return bench::decoder(n / 21); }, true},
        {[](unsigned n) { return bench::forked_decoder(n / 21); }, true},
    };
    for (const auto& [memory, name] : {std::pair{Memory::own_buffers, "buffers of their own"},
                                       {Memory::one_buffer, "parts of one buffer"},
                                       {Memory::tiles, "tiles of a matrix"}})
        for (const auto& [of_size, has_one_root] : cases)
            for (const bool from_first : {false, true}) {
                if (from_first && !has_one_root) continue;
                std::printf("%s%s\n", name, from_first ? ", and a buffer that the first node writes" : "");
                const double one = times_of(of_size(1000), memory, from_first).sum();
                const double ten = times_of(of_size(10'000), memory, from_first).sum();
                CHECK(ten < most_for_ten_times * (one + one_millisecond));
            }
}
