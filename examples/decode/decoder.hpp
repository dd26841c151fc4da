// The decoder twice: as plain launches, and as a graph that is called with the position of each step.
#pragma once

#include <cudag/cudag.hpp>
#include <cudag/graph_function.hpp>

#include "kernels.hpp"
#include "model.hpp"

namespace decode {

struct DeviceLayer {
    cudag::DeviceBuffer<std::int8_t> queries_keys_values;
    cudag::DeviceBuffer<std::int8_t> out;
    cudag::DeviceBuffer<std::int8_t> up;
    cudag::DeviceBuffer<std::int8_t> down;
    cudag::DeviceBuffer<int> keys; ///< the cache: max_positions rows of width
    cudag::DeviceBuffer<int> values;
};

/// A model on the device, and what its kernels hand to each other.
struct DeviceModel {
    explicit DeviceModel(const Model& model);

    /// Makes `first_token` the one at position 0.
    void start(cudag::Stream& stream, int first_token);
    /// Downloads what `steps` steps gave.
    Decoded result(cudag::Stream& stream, int steps) const;

    cudag::DeviceBuffer<std::int8_t> token_table;
    cudag::DeviceBuffer<std::int8_t> position_table;
    std::vector<DeviceLayer> layers;
    cudag::DeviceBuffer<std::int8_t> logits;

    cudag::DeviceBuffer<int> tokens;
    cudag::DeviceBuffer<int> x;
    cudag::DeviceBuffer<int> query;
    cudag::DeviceBuffer<int> weights;
    cudag::DeviceBuffer<int> attended;
    cudag::DeviceBuffer<int> inner;
    cudag::DeviceBuffer<unsigned long long> best;
};

/// Launches every kernel of every step in a stream.
class StreamDecoder {
  public:
    explicit StreamDecoder(const Model& model) : model_(model) {}

    DeviceModel& model() { return model_; }
    /// Enqueues the step that picks the token behind `position`.
    void step(cudag::Stream& stream, int position);

  private:
    DeviceModel model_;
};

/// Calls one graph for every step, with the position.
class GraphDecoder {
  public:
    explicit GraphDecoder(const Model& model);

    DeviceModel& model() { return model_; }
    const cudag::Graph& graph() const { return step_.graph(); }
    /// Enqueues the step that picks the token behind `position`.
    void step(cudag::Stream& stream, int position) { step_(stream, position); }

  private:
    DeviceModel model_;
    cudag::GraphFunction<void(int)> step_;
};

} // namespace decode
