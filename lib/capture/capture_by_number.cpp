// The captures of the process, by CUDA's number.
#include "capture_by_number.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace cudag::detail {

namespace {

struct NumberedCapture {
    unsigned long long number;
    CaptureState* capture;
};

struct NumberedCaptures {
    std::mutex mutex;
    std::vector<NumberedCapture> list; ///< few: those under way
};

/// Never destroyed: threads may capture at the end of the process.
NumberedCaptures& numbered_captures() {
    static auto* all = new NumberedCaptures;
    return *all;
}

} // namespace

CaptureByNumber::CaptureByNumber(unsigned long long number, CaptureState& capture) : capture_(capture) {
    NumberedCaptures& all = numbered_captures();
    const std::scoped_lock lock(all.mutex);
    all.list.push_back({number, &capture});
}

CaptureByNumber::~CaptureByNumber() {
    NumberedCaptures& all = numbered_captures();
    const std::scoped_lock lock(all.mutex);
    std::erase_if(all.list, [&](const NumberedCapture& other) { return other.capture == &capture_; });
}

CaptureState* CaptureByNumber::find(unsigned long long number) {
    NumberedCaptures& all = numbered_captures();
    const std::scoped_lock lock(all.mutex);
    const auto found = std::find_if(all.list.rbegin(), all.list.rend(),
                                    [&](const NumberedCapture& other) { return other.number == number; });
    return found == all.list.rend() ? nullptr : found->capture;
}

} // namespace cudag::detail
