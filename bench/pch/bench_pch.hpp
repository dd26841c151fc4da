// Compiled once for all benchmarks: most of the time of each goes into these headers.
#include <cudag/cudag.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>
