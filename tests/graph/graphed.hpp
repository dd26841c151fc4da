// What the tests of graphed functions share.
#pragma once

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "gate.hpp"
#include "usable.hpp"
#include "watched.hpp"

/// Sums its input into a cell of its own, and counts how often it was called.
struct Total {
    cudag::DeviceBuffer<int> cell{1};
    int calls = 0;

    auto function() {
        return [this](cudaStream_t stream, cudag::DeviceSpan<const int> in) {
            ++calls;
            cudag::launch(stream, {}, sum, cell.data(), in);
            return cell.span();
        };
    }
};

inline const std::vector numbers_of_one{1};
inline const std::vector numbers_of_two{1, 2};

/// `count` numbers from `first` on, and their sum.
inline std::vector<int> numbers(std::size_t count, int first) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}
inline int total(const std::vector<int>& values) {
    return std::accumulate(values.begin(), values.end(), 0);
}

/// What `output` holds once `stream` has run.
template <class T>
std::vector<std::remove_const_t<T>> read(const cudag::Stream& stream, cudag::DeviceSpan<T> output) {
    stream.synchronize();
    return read(output);
}

/// Holds up what comes after it in `stream`, until the gate opens.
inline void hold_up(cudaStream_t stream, Gate& gate) {
    cudag::check(cudaLaunchHostFunc(
        stream, [](void* object) { static_cast<Gate*>(object)->node()(); }, &gate));
}
