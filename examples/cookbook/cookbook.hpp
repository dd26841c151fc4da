// The recipes of docs/cookbook*.md, one function each, and their setting.
#pragma once

#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <span>
#include <vector>

namespace cookbook {

inline constexpr int n = 1000;
inline const cudag::LaunchConfig config{.grid = 4, .block = 256};

/// A recipe: it throws if a result is wrong.
struct Recipe {
    const char* title;
    void (*cook)();
    int cuda = 12040; ///< the oldest version of CUDA with all that the recipe uses
};

std::vector<Recipe> build_recipes();
std::vector<Recipe> loop_recipes();
std::vector<Recipe> update_recipes();
std::vector<Recipe> capture_recipes();
std::vector<Recipe> check_recipes();

/// Throws unless all of `values` are about `expected`.
void expect(std::span<const float> values, float expected);
void expect(const cudag::PinnedBuffer<float>& values, float expected);
/// Reads `values` from the device, whose work must have ended, and checks them.
void expect(cudag::DeviceSpan<const float> values, float expected);
void expect(const cudag::DeviceBuffer<float>& values, float expected);
/// Throws `text` unless `holds`.
void expect(bool holds, const char* text);

} // namespace cookbook
