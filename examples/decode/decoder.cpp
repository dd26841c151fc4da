// One step both ways. Its kernels follow each other: each needs what the one before it wrote.
#include "decoder.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace decode {
namespace {

template <class T>
cudag::DeviceBuffer<T> upload(const std::vector<T>& values) {
    cudag::DeviceBuffer<T> buffer(values.size());
    cudag::Stream stream;
    cudag::memcpy_async(stream, buffer, values);
    stream.synchronize();
    return buffer;
}

cudag::LaunchConfig threads(int count) {
    return cudag::grid_1d(static_cast<std::size_t>(count), 64);
}

/// Calls `launch(name, config, kernel, arguments...)` for every kernel of a step, in order. `position` is a number or
/// what becomes one.
template <class Position, class Launch>
void for_each_kernel(const DeviceModel& m, const Position& position, Launch&& launch) {
    launch("embed", threads(width), embed, m.tokens, m.token_table, m.position_table, m.x, position);
    for (std::size_t i = 0; i < m.layers.size(); ++i) {
        const DeviceLayer& layer = m.layers[i];
        const std::string of = "layer " + std::to_string(i) + ": ";
        launch(of + "project", threads(3 * width), project, m.x, layer.queries_keys_values, m.query, layer.keys,
               layer.values, position);
        launch(of + "weigh", threads(heads * max_positions), weigh, m.query, layer.keys, m.weights, position);
        launch(of + "mix", threads(width), mix, m.weights, layer.values, m.attended, position);
        launch(of + "add attended", threads(width), add_product, m.attended, layer.out, m.x, width);
        launch(of + "expand", threads(hidden), expand, m.x, layer.up, m.inner);
        launch(of + "add inner", threads(width), add_product, m.inner, layer.down, m.x, hidden);
    }
    launch("rate", threads(vocabulary), rate, m.x, m.logits, m.best);
    launch("pick", cudag::LaunchConfig{}, pick, m.best, m.tokens, position);
}

} // namespace

DeviceModel::DeviceModel(const Model& model)
    : token_table(upload(model.tokens)), position_table(upload(model.positions)), logits(upload(model.logits)),
      tokens(max_positions + 1), x(width), query(width), weights(heads * max_positions), attended(width), inner(hidden),
      best(1) {
    constexpr auto cache_size = static_cast<std::size_t>(max_positions) * width;
    for (const Layer& layer : model.layers) {
        layers.push_back({upload(layer.queries_keys_values), upload(layer.out), upload(layer.up), upload(layer.down),
                          cudag::DeviceBuffer<int>(cache_size), cudag::DeviceBuffer<int>(cache_size)});
    }
}

void DeviceModel::start(cudag::Stream& stream, int first_token) {
    cudag::memset_async(stream, tokens, -1); // no token yet
    cudag::memcpy_async(stream, cudag::DeviceSpan<int>(tokens.data(), 1), std::span<const int>(&first_token, 1));
    cudag::memset_async(stream, cudag::DeviceSpan<unsigned>(reinterpret_cast<unsigned*>(best.data()), 2), 0U);
    stream.synchronize();
}

Decoded DeviceModel::result(cudag::Stream& stream, int steps) const {
    const auto count = static_cast<std::size_t>(steps);
    const std::size_t rows = count * width;
    Decoded result{std::vector<int>(count + 1), std::vector<int>(layers.size() * rows),
                   std::vector<int>(layers.size() * rows)};
    cudag::memcpy_async(stream, result.tokens, cudag::DeviceSpan<int>(tokens.data(), count + 1));
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto part = [&](std::vector<int>& all) { return std::span(all).subspan(i * rows, rows); };
        cudag::memcpy_async(stream, part(result.keys), cudag::DeviceSpan<int>(layers[i].keys.data(), rows));
        cudag::memcpy_async(stream, part(result.values), cudag::DeviceSpan<int>(layers[i].values.data(), rows));
    }
    stream.synchronize();
    return result;
}

void StreamDecoder::step(cudag::Stream& stream, int position) {
    for_each_kernel(model_, position, [&](const auto&, const auto&... launch) { cudag::launch(stream, launch...); });
}

GraphDecoder::GraphDecoder(const Model& model)
    : model_(model), step_(
                         {.builder = {}},
                         [this](auto& b, const auto& position) {
                             std::vector<cudag::Node> last;
                             for_each_kernel(model_, position, [&](const std::string& name, const auto&... launch) {
                                 last = {b.kernel(launch...).label(name).after(last)};
                             });
                         },
                         0) {}

} // namespace decode
