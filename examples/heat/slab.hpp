// The rows of the plate that one rank has, swept by a graph or by launches into a stream.
#pragma once

#include "oracle.hpp"
#include "ranks.hpp"

#include <cudag/cudag.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace heat {

class Slab {
  public:
    /// The rows of this rank: one more of them where the division leaves a rest.
    Slab(const Plate& plate, const Ranks& ranks);

    /// Sets all values inside to 0, and waits.
    void reset(cudag::Stream& stream);

    /// Returns a graph of `sweeps` sweeps, an even number, with the exchange of rows between ranks in each. It borrows
    /// this object.
    [[nodiscard]] cudag::Graph graph(unsigned sweeps);
    /// Does the same by launches into `stream`, and waits.
    void sweep_in_stream(cudag::Stream& stream, unsigned sweeps);

    /// Returns the largest change in the last sweep, of all ranks. Every rank has the same value.
    [[nodiscard]] float change() const { return change_[0]; }
    /// Returns the rows of this rank.
    [[nodiscard]] std::vector<float> values() const;

  protected:
    /// The parts of a sweep: the rows that a neighbour needs, and those between them.
    struct Part {
        const char* label;
        std::size_t first; ///< row of the field; row 0 is the neighbour's
        std::size_t rows;
    };
    using Field = cudag::DeviceBuffer<float>;

    [[nodiscard]] cudag::DeviceSpan<float> rows(const Field& field, std::size_t first, std::size_t count) const {
        return field.span().subspan(first * width_, count * width_);
    }
    /// Return the half for the rank above, or below.
    [[nodiscard]] std::span<float> half(const cudag::PinnedBuffer<float>& rows, bool below) const {
        return rows.span().subspan(below ? width_ : 0, width_);
    }
    [[nodiscard]] cudag::LaunchConfig threads(std::size_t rows) const;
    /// Where a part has its change in the last sweep, or in those before, which nobody reads.
    [[nodiscard]] cudag::DeviceSpan<int> change_of(std::size_t part, bool is_last) const {
        return changes_.span().subspan(part + (is_last ? 3 : 0), 1);
    }
    /// Adds the kernels of a sweep, or launches one of them.
    void add_parts(cudag::GraphBuilder& b, unsigned sweep_number, bool is_last) const;
    void launch_part(cudag::Stream& stream, std::size_t part, unsigned sweep_number, bool is_last) const;
    void add_sweep(cudag::GraphBuilder& b, unsigned sweep_number, bool is_last);
    void reduce_change();

    const Ranks& ranks_;
    std::size_t width_;
    std::size_t rows_;
    std::vector<Part> parts_;
    Field fields_[2];
    cudag::DeviceBuffer<int> changes_;
    cudag::PinnedBuffer<int> host_changes_;
    cudag::PinnedBuffer<float> change_;
    cudag::PinnedBuffer<float> send_;
    cudag::PinnedBuffer<float> receive_;
    cudag::Event sent_;
};

} // namespace heat
