// Graphs that store numbers in cells, one cell a node: what the tests of updates update.
#pragma once

#include <string>
#include <vector>

#include "test.hpp"

using Cells = std::vector<int>;

class Stores {
  public:
    /// One node for each of up to three values: "store 0", "store 1", ...
    [[nodiscard]] cudag::Graph build(const Cells& values) const {
        cudag::GraphBuilder b;
        for (std::size_t i = 0; i < values.size(); ++i)
            b.kernel({}, store, cells_.data() + i, values[i]).label("store " + std::to_string(i));
        return std::move(b).build();
    }
    /// The cells after one launch; those that no node stores in are -1.
    [[nodiscard]] Cells result(cudag::Exec& exec) const {
        clear();
        run(exec, stream_);
        return cells();
    }
    void clear() const { write(cells_.span(), Cells(3, -1)); }
    [[nodiscard]] Cells cells() const { return read(cells_); }
    [[nodiscard]] int* cell(std::size_t i) const { return cells_.data() + i; }
    [[nodiscard]] const cudag::Stream& stream() const { return stream_; }

  private:
    cudag::DeviceBuffer<int> cells_{3};
    cudag::Stream stream_;
};
