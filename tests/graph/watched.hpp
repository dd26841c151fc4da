// Owners that the tests give to graphs, and whether they still exist.
#pragma once

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "test.hpp"

/// A device cell and an owner of it to give away: `take()` it once, and `watched` says whether anybody still has it.
/// The memory itself lives as long as this object.
class Watched {
  public:
    Watched() : owner_(cell_.data(), [](int*) {}), watch_(owner_) {}

    [[nodiscard]] std::shared_ptr<int> take() { return std::move(owner_); }
    [[nodiscard]] bool alive() const { return !watch_.expired(); }
    [[nodiscard]] const std::weak_ptr<int>& watch() const { return watch_; }
    [[nodiscard]] int value() const { return read(cell_).front(); }

  private:
    cudag::DeviceBuffer<int> cell_ = device({0});
    std::shared_ptr<int> owner_;
    std::weak_ptr<int> watch_;
};

/// Whether what `watch` watches goes once `stream` has been synchronised. On a GPU, CUDA hands owners over from a
/// thread of its own, a little later than the synchronisation returns.
template <class T>
bool released(const std::weak_ptr<T>& watch, const cudag::Stream& stream) {
    for (int attempt = 0; attempt < 2000; ++attempt) {
        stream.synchronize();
        if (watch.expired()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}
inline bool released(const Watched& watched, const cudag::Stream& stream) {
    return released(watched.watch(), stream);
}
