// What a launch costs: the call, and the device's time.
#pragma once

#include "report.hpp"

#include <cudag/cudag.hpp>

namespace bench {

/// Microseconds.
struct LaunchTimes {
    double call;
    double gpu; ///< between events around the launch
};

/// Times launches in a stream of its own, with nothing else on the device.
class LaunchTimer {
  public:
    [[nodiscard]] const cudag::Stream& stream() const noexcept { return stream_; }

    template <class Launch>
    LaunchTimes operator()(Launch&& launch) {
        cudag::check(cudaEventRecord(start_.get(), stream_.get()));
        const double call = microseconds(launch);
        cudag::check(cudaEventRecord(end_.get(), stream_.get()));
        stream_.synchronize();
        return {call, 1000.0 * static_cast<double>(end_.milliseconds_since(start_))};
    }

  private:
    cudag::Stream stream_;
    cudag::Event start_;
    cudag::Event end_;
};

} // namespace bench
