// A graph with a loop.
#pragma once

#include <utility>

#include "conditional_kernels.hpp"
#include "test.hpp"

/// While cells[0] > 0, takes 1 from it and adds 5 to cells[1].
inline cudag::Graph counting(const cudag::DeviceBuffer<int>& cells) {
    cudag::GraphBuilder b;
    const cudag::Condition more = b.condition(1);
    b.while_(more, [&](cudag::GraphBuilder& body) {
         const auto down = body.kernel({}, count_down, cells, more).label("down");
         body.kernel({}, add, cells.data() + 1, cells.data() + 1, 5).label("work").after(down);
     }).label("loop");
    return std::move(b).build();
}
