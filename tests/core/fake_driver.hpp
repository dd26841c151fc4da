// The driver's entry points with some of a test's own among them.
#pragma once

#include "cuda/driver.hpp"

/// While it lives, cudag calls what `calls` has. No other thread may use cudag.
class FakeDriver {
  public:
    FakeDriver() { cudag::detail::loaded_driver.store(&calls); }
    ~FakeDriver() { cudag::detail::loaded_driver.store(before_); }
    FakeDriver(const FakeDriver&) = delete;
    FakeDriver& operator=(const FakeDriver&) = delete;

  private:
    const cudag::detail::Driver* before_ = &cudag::detail::driver();

  public:
    cudag::detail::Driver calls = *before_;
};
