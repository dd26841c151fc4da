// The decoder twice: as plain launches, and as a graph that every step updates.
#pragma once

#include <cudag/cudag.hpp>

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

    /// Where a position's row of a cache begins.
    static int* row(const cudag::DeviceBuffer<int>& cache, int position) { return cache.data() + position * width; }
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

/// Launches one graph for every step, after it has told the nodes the position and where in the caches its rows are.
class GraphDecoder {
  public:
    explicit GraphDecoder(const Model& model);

    DeviceModel& model() { return model_; }
    const cudag::Graph& graph() const { return step_.graph; }
    /// Enqueues the step that picks the token behind `position`.
    void step(cudag::Stream& stream, int position);

  private:
    using Project = cudag::KernelNode<const int*, const std::int8_t*, int*, int*, int*>;

    /// The graph of one step, and its nodes that write to the caches.
    struct Step {
        cudag::Graph graph;
        std::vector<Project> projects; // one for each layer
    };
    static Step build(const DeviceModel& model, const cudag::DynamicParam<int>& position);

    DeviceModel model_;
    cudag::DynamicParam<int> position_;
    Step step_;
    cudag::Exec exec_;
};

} // namespace decode
