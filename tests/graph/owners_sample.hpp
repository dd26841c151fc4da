// A graph behind a gate, for the tests of what updates keep alive.
#pragma once

#include <optional>

#include "gate.hpp"
#include "watched.hpp"

namespace owners {

/// A graph behind a gate: *to = *from + value, which starts with borrowed cells.
struct Sample {
    cudag::DeviceBuffer<int> borrowed = device({0, 0});
    cudag::Stream stream;
    Gate gate;
    cudag::KernelNode<int*, const int*, int> node;
    cudag::Graph graph = build();
    std::optional<cudag::Exec> exec = graph.instantiate();

    void launch_held_up() {
        exec->launch(stream);
        gate.wait_until_entered();
    }

  private:
    cudag::Graph build() {
        cudag::GraphBuilder b;
        const auto wait = b.host(gate.node());
        node = b.kernel({}, add, borrowed.data(), borrowed.data() + 1, 7).label("add").after(wait);
        return std::move(b).build();
    }
};

} // namespace owners
