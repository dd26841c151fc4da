// What a LaunchConfig asks for beside grid, block and shared memory: one table, which all that is done with such
// attributes follows from. A new field of LaunchConfig needs its row, and does not compile before.
#pragma once

#include "attribute_check.hpp"
#include "cuda/failure.hpp"
#include "cuda/version.hpp"

#include <cudag/detail/launch_shape.hpp>
#include <cudag/launch_config.hpp>

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

namespace cudag::detail {

/// The attributes of a configuration, null if none is given.
[[nodiscard]] inline const LaunchConfig* given_attributes(const PassedConfig& config) noexcept {
    return config.attributes != nullptr && has_attributes(*config.attributes) ? config.attributes : nullptr;
}
/// All of it.
[[nodiscard]] inline LaunchConfig config_of(const PassedConfig& config) noexcept {
    return config_of(config.shape, config.attributes);
}

/// What a configuration is for.
enum class LaunchUse { node, stream };

/// Why not every configuration may have an attribute.
struct AttributeRules {
    /// Whether an update of an instantiated graph cannot change it: CUDA refuses, or says that it has, and launches as
    /// before (driver 580).
    bool needs_instantiate = false;
    bool is_kept_silently = false; ///< whether it is the latter, which has to be noticed before CUDA is asked
    unsigned largest = 0;          ///< the largest number that CUDA takes; 0 where that is no question
    /// What else is wrong with the value; null if nothing can be. `symbol` is the kernel, or null if unknown.
    std::string (*broken)(const LaunchConfig& config, const void* symbol) = nullptr;
    cudaError_t code = cudaErrorInvalidValue; ///< CUDA's for what is broken
    int since = oldest_version;               ///< the version of CUDA that brought it
    const char* only_nodes = nullptr;         ///< why launches in streams cannot have it; null if they can
    const char* only_launches = nullptr;      ///< why nodes cannot have it; null if they can
    bool is_told = true;                      ///< whether CUDA tells it of a node
};

/// An attribute, from CUDA's number to what is wrong with a value.
struct LaunchAttribute {
    unsigned id;      ///< of cudaLaunchAttributeID, which in older headers does not have all of them
    const char* name; ///< of the field
    bool (*is_given)(const LaunchConfig& config) noexcept;
    std::string (*text)(const LaunchConfig& config); ///< equal texts are equal values
    void (*write)(const LaunchConfig& config, cudaLaunchAttributeValue& value) noexcept;
    void (*read)(const cudaLaunchAttributeValue& value, LaunchConfig& config) noexcept;
    AttributeRules rules;
};

inline constexpr std::size_t launch_attribute_count =
    std::tuple_size_v<decltype(fields_of(std::declval<LaunchConfig&>()))> - 3; // grid, block, shared_bytes

/// In the order in which CUDA takes them.
[[nodiscard]] std::span<const LaunchAttribute, launch_attribute_count> launch_attributes() noexcept;

/// The attributes of `config` that are given, as CUDA takes them.
class NativeAttributes {
  public:
    explicit NativeAttributes(const LaunchConfig& config) noexcept;

    [[nodiscard]] const cudaLaunchAttribute* begin() const noexcept { return list_.data(); }
    [[nodiscard]] const cudaLaunchAttribute* end() const noexcept { return list_.data() + count_; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

  private:
    std::array<cudaLaunchAttribute, launch_attribute_count> list_{};
    std::size_t count_ = 0;
};

/// The first attribute given in `after` that is another one in `before`, with both values; empty if there is none.
[[nodiscard]] std::string differing_attribute(const LaunchConfig& before, const LaunchConfig& after);

/// " cluster (2, 1, 1) cooperative": what is given, for people, each after `separator`.
[[nodiscard]] std::string describe_attributes(const LaunchConfig& config, const char* separator = " ");

/// What is wrong with an attribute, with values, limits and what to do, and CUDA's code for it.
struct BrokenAttribute {
    std::string reason; ///< empty if nothing is known to be wrong
    cudaError_t code = cudaErrorInvalidValue;
};
/// `symbol` is the kernel, or null if unknown.
[[nodiscard]] BrokenAttribute broken_attribute(const LaunchConfig& config, const void* symbol, LaunchUse use);

/// Throws E if an attribute of `config` is broken, or cannot be. `subject` is called only then.
template <class E = GraphError, class MakeSubject>
void require_attributes(const LaunchConfig& config, const void* symbol, LaunchUse use, const MakeSubject& subject) {
    if (const BrokenAttribute broken = broken_attribute(config, symbol, use); !broken.reason.empty())
        refuse<E>(broken.reason, subject(), broken.code);
}

} // namespace cudag::detail
