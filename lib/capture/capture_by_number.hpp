// The captures begun or joined by cudag, by CUDA's number: launches of Execs write nodes into them.
#pragma once

namespace cudag::detail {

class CaptureState;

/// Makes a capture known by its number for its lifetime.
class CaptureByNumber {
  public:
    CaptureByNumber(unsigned long long number, CaptureState& capture);
    ~CaptureByNumber();
    CaptureByNumber(const CaptureByNumber&) = delete;
    CaptureByNumber& operator=(const CaptureByNumber&) = delete;

    /// Returns the latest capture with `number`; null if there is none.
    [[nodiscard]] static CaptureState* find(unsigned long long number);

  private:
    CaptureState& capture_;
};

} // namespace cudag::detail
