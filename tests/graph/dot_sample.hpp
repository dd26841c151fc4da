// A graph with a node of every kind and an awkward label, to be drawn.
#pragma once

#include <memory>

#include "test.hpp"

namespace dot_sample {

inline cudag::Graph pipeline() {
    const auto cells = std::make_shared<cudag::DeviceBuffer<int>>(2);
    const auto host = std::make_shared<std::vector<int>>(2);
    cudag::GraphBuilder b({.races = cudag::Races::allowed});
    const auto up = b.memcpy(cells, host).label("upload \"a\\b\"\nof two");
    const auto clear = b.memset(cells, 1);
    const auto fill = b.kernel({.grid = {3, 2, 1}, .block = 64}, store, cells, 1).label("fill").after(up, clear);
    const auto report = b.host([] {}).label("report").after(fill);
    b.join(report, fill).label("all done");
    return std::move(b).build();
}

} // namespace dot_sample
