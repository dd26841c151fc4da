// The attributes of a LaunchConfig other than grid, block and shared memory: one table as the source of all handling. A
// new field of LaunchConfig does not compile without its row.
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
/// The whole configuration.
[[nodiscard]] inline LaunchConfig config_of(const PassedConfig& config) noexcept {
    return config_of(config.shape, config.attributes);
}

/// The use of a configuration.
enum class LaunchUse { node, stream };

/// The restrictions on an attribute.
struct NewerValues {
    unsigned after = 0; ///< the largest number accepted by all versions with the attribute
    int since = 0;      ///< the first version with larger numbers; 0 if there are none
};

struct AttributeRules {
    /// Whether an update of an instantiated graph cannot change it: CUDA rejects the update, or reports success and
    /// launches as before (driver 580).
    bool needs_instantiate = false;
    bool is_silently_ignored = false; ///< whether CUDA reports success; cudag must then check before the call
    unsigned largest = 0;             ///< the largest number accepted by CUDA; 0 if not applicable
    NewerValues newer = {};
    /// Returns any other problem with the value; null if none is possible. `symbol` is the kernel, or null if unknown.
    std::string (*broken)(const LaunchConfig& config, const void* symbol) = nullptr;
    cudaError_t code = cudaErrorInvalidValue; ///< CUDA's code for a broken value
    int since = oldest_version;               ///< the first version of CUDA with it
    const char* only_nodes = nullptr;         ///< the reason why launches in streams cannot have it; null if they can
    const char* only_launches = nullptr;      ///< the reason why nodes cannot have it; null if they can
    bool is_reported = true;                  ///< whether CUDA reports it for a node
    bool is_of_nodes = true;                  ///< whether CUDA has it for nodes; else only cudag knows
};

/// An attribute, from CUDA's number to the check of a value.
struct LaunchAttribute {
    unsigned id;      ///< of cudaLaunchAttributeID; older headers lack some
    const char* name; ///< of the field
    bool (*is_given)(const LaunchConfig& config) noexcept;
    std::string (*text)(const LaunchConfig& config); ///< equal texts are equal values
    void (*write)(const LaunchConfig& config, cudaLaunchAttributeValue& value) noexcept;
    void (*read)(const cudaLaunchAttributeValue& value, LaunchConfig& config) noexcept;
    AttributeRules rules;
};

inline constexpr std::size_t launch_attribute_count =
    std::tuple_size_v<decltype(fields_of(std::declval<LaunchConfig&>()))> - 3; // grid, block, shared_bytes

/// All attributes, in CUDA's order.
[[nodiscard]] std::span<const LaunchAttribute, launch_attribute_count> launch_attributes() noexcept;

/// The given attributes of `config`, in CUDA's form.
class NativeAttributes {
  public:
    NativeAttributes(const LaunchConfig& config, LaunchUse use) noexcept;

    [[nodiscard]] const cudaLaunchAttribute* begin() const noexcept { return list_.data(); }
    [[nodiscard]] const cudaLaunchAttribute* end() const noexcept { return list_.data() + count_; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

  private:
    std::array<cudaLaunchAttribute, launch_attribute_count> list_{};
    std::size_t count_ = 0;
};

/// The first attribute given in `after` with another value in `before`, with both values; empty if there is none.
[[nodiscard]] std::string differing_attribute(const LaunchConfig& before, const LaunchConfig& after);

/// The given attributes for people, each after `separator`: " cluster (2, 1, 1) cooperative".
[[nodiscard]] std::string describe_attributes(const LaunchConfig& config, const char* separator = " ");

/// The problem with an attribute, with values, limits and remedy, and CUDA's code for it.
struct BrokenAttribute {
    std::string reason; ///< empty if no problem is known
    cudaError_t code = cudaErrorInvalidValue;
};
/// Finds the first broken attribute. `symbol` is the kernel, or null if unknown.
[[nodiscard]] BrokenAttribute broken_attribute(const LaunchConfig& config, const void* symbol, LaunchUse use);

/// Throws E if an attribute of `config` is broken, or not allowed for `use`. `subject` is called only then.
template <class E = GraphError, class MakeSubject>
void require_attributes(const LaunchConfig& config, const void* symbol, LaunchUse use, const MakeSubject& subject) {
    if (const BrokenAttribute broken = broken_attribute(config, symbol, use); !broken.reason.empty())
        refuse<E>(broken.reason, subject(), broken.code);
}

} // namespace cudag::detail
