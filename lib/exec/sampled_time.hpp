// Time estimated from some of many runs.
#pragma once

#include <chrono>
#include <cstdint>

namespace cudag::detail {

/// The duration of an operation, measured every so often: reading the clock each time would be a large part of a short
/// one.
class SampledTime {
  public:
    explicit SampledTime(std::uint64_t every) : every_(every) {}

    /// Measures a scope, if its turn has come.
    class Scope {
      public:
        explicit Scope(SampledTime& time) : time_(time.count_++ % time.every_ == 0 ? &time : nullptr) {
            if (time_ != nullptr) start_ = std::chrono::steady_clock::now();
        }
        ~Scope() {
            if (time_ == nullptr) return;
            time_->seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
            ++time_->measured_;
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        SampledTime* time_;
        std::chrono::steady_clock::time_point start_;
    };

    /// The estimated time of all scopes, at the mean of the measured ones.
    [[nodiscard]] double seconds() const noexcept {
        return measured_ == 0 ? 0 : seconds_ * static_cast<double>(count_) / static_cast<double>(measured_);
    }

  private:
    std::uint64_t every_;
    std::uint64_t count_ = 0;
    std::uint64_t measured_ = 0;
    double seconds_ = 0;
};

} // namespace cudag::detail
