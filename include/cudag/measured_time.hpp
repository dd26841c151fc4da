// MeasuredTime: a time measured several times.
#pragma once

namespace cudag {

/// A measured time, in microseconds.
struct MeasuredTime {
    double median = 0;
    double spread = 0; ///< median deviation: half of the samples differ from the median by no more than this
    friend bool operator==(const MeasuredTime&, const MeasuredTime&) = default;
};

} // namespace cudag
