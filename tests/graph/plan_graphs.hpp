// Graphs of which a plan makes other edges.
#pragma once

#include "cuda_version.hpp"
#include "test.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

inline const cudag::Plan without_ends{.ends = false};

using Kernels = std::vector<cudag::KernelNode<>>;

inline Kernels add_kernels(cudag::GraphBuilder& b, std::size_t count) {
    Kernels nodes;
    for (std::size_t i = 0; i < count; ++i)
        nodes.push_back(b.kernel({}, nothing));
    return nodes;
}

/// As many kernels before a join as after it.
inline void add_join(cudag::GraphBuilder& b, std::size_t width, const char* label = "meet") {
    const Kernels before = add_kernels(b, width), after = add_kernels(b, width);
    const auto join = b.join(before).label(label);
    for (const auto& node : after)
        node.after(join);
}

/// Whether graphs that begin and end with many kernels get empty ones before and after them.
inline bool has_planned_ends() {
    int devices = 0;
    cudag::check(cudaGetDeviceCount(&devices));
    return !older_than(12080) && devices == 1;
}

/// As many lines of two kernels.
inline cudag::Graph lines_of_two(std::size_t count) {
    cudag::GraphBuilder b;
    const Kernels first = add_kernels(b, count), second = add_kernels(b, count);
    for (std::size_t i = 0; i < count; ++i)
        second[i].after(first[i]);
    return std::move(b).build();
}

/// Three kernels in a line, and an edge that theirs imply.
inline cudag::Graph line_with_shortcut() {
    cudag::GraphBuilder b;
    const Kernels k = add_kernels(b, 3);
    k[1].after(k[0]);
    k[2].after(k[0], k[1]);
    return std::move(b).build();
}

inline void wait(cudaStream_t stream, const cudag::Event& event) {
    cudag::check(cudaStreamWaitEvent(stream, event.get()));
}
inline void wait(const cudag::Stream& stream, const cudag::Event& event) {
    wait(stream.get(), event);
}

/// The same, recorded on two streams.
inline void record_line_with_shortcut(cudaStream_t s, const cudag::Stream& other) {
    cudag::Event first, second, end;
    cudag::launch(s, {}, nothing);
    first.record(s);
    cudag::launch(s, {}, nothing);
    second.record(s);
    wait(other, first);
    wait(other, second);
    cudag::launch(other, {}, nothing);
    end.record(other);
    wait(s, end);
}
/// The same, of which nobody has asked anything.
inline cudag::Graph captured_line_with_shortcut() {
    const cudag::Stream stream, other;
    return cudag::capture(stream, [&](cudaStream_t s) { record_line_with_shortcut(s, other); });
}

/// `width` cells are written by as many kernels, joined, and summed up by as many others, each from all of them.
class Sums {
  public:
    explicit Sums(std::size_t width) : cells(device(std::vector<std::uint32_t>(2 * width))), width_(width) {}

    void write(cudag::GraphBuilder& b, std::uint32_t salt = 1, bool with_join = true) const {
        b.retain(cells); // kernels get its address, and say which cells they use
        std::vector<cudag::Node> first;
        Inputs all{.count = static_cast<unsigned>(width_), .cells = {}};
        for (unsigned i = 0; i < width_; ++i) {
            all.cells[i] = i;
            first.push_back(b.kernel({}, mix, cells.data(), i, Inputs{}, salt + i)
                                .label("first")
                                .writes(cells.span().subspan(i, 1)));
        }
        std::optional<cudag::JoinNode> join;
        if (with_join) join = b.join(first).label("meet");
        for (unsigned i = 0; i < width_; ++i) {
            const auto second = b.kernel({}, mix, cells.data(), static_cast<unsigned>(width_) + i, all, salt)
                                    .label("second")
                                    .reads(cells.span().subspan(0, width_))
                                    .writes(cells.span().subspan(width_ + i, 1));
            if (join)
                second.after(*join);
            else
                second.after(first);
        }
    }
    [[nodiscard]] cudag::Graph graph(std::uint32_t salt = 1, bool with_join = true) const {
        cudag::GraphBuilder b;
        write(b, salt, with_join);
        return std::move(b).build();
    }
    /// What the cells hold after a run.
    [[nodiscard]] std::vector<std::uint32_t> run_of(cudag::Exec& exec) const {
        ::write(cells.span(), std::vector<std::uint32_t>(2 * width_));
        const cudag::Stream stream;
        run(exec, stream);
        return read(cells);
    }
    /// What they hold after a run of the graph as it is written.
    [[nodiscard]] std::vector<std::uint32_t> expected(std::uint32_t salt = 1) const {
        cudag::Exec exec = graph(salt).instantiate({.plan = cudag::Plan::as_written()});
        return run_of(exec);
    }

    cudag::DeviceBuffer<std::uint32_t> cells;

  private:
    std::size_t width_;
};
