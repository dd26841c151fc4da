// What a LaunchConfig asks for beside grid, block and shared memory.
#pragma once

#include "cuda/failure.hpp"
#include "node_params.hpp"

#include <cudag/launch_config.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace cudag::detail {

/// One branch, so that a plain launch pays nothing.
[[nodiscard]] inline bool has_attributes(const LaunchConfig& config) noexcept {
    const unsigned clustered = (config.cluster.x ^ 1U) | (config.cluster.y ^ 1U) | (config.cluster.z ^ 1U);
    const unsigned flagged =
        static_cast<unsigned>(config.cooperative) | static_cast<unsigned>(config.device_updatable) |
        static_cast<unsigned>(config.memory_sync_domain) | static_cast<unsigned>(config.priority.has_value()) |
        static_cast<unsigned>(config.access_policy.has_value());
    return (clustered | flagged) != 0;
}

/// An attribute, and how its value in a configuration reads: equal texts are equal values.
struct AttributeText {
    const char* name;
    bool (*is_given)(const LaunchConfig& config);
    std::string (*text)(const LaunchConfig& config);
    bool needs_instantiate; ///< whether CUDA refuses a change in an update of an instantiated graph
};
[[nodiscard]] std::span<const AttributeText> attribute_texts() noexcept;

/// The first attribute given in `after` that is another one in `before`, with both values; empty if there is none.
[[nodiscard]] std::string differing_attribute(const LaunchConfig& before, const LaunchConfig& after);

/// The attributes of `config` that are given, as CUDA takes them.
class LaunchAttributes {
  public:
    explicit LaunchAttributes(const LaunchConfig& config) noexcept;

    [[nodiscard]] const cudaLaunchAttribute* begin() const noexcept { return list_.data(); }
    [[nodiscard]] const cudaLaunchAttribute* end() const noexcept { return list_.data() + count_; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }

  private:
    cudaLaunchAttributeValue& add(cudaLaunchAttributeID id) noexcept;

    std::array<cudaLaunchAttribute, 6> list_{};
    std::size_t count_ = 0;
};

/// What is wrong with an attribute, with values, limits and what to do, and CUDA's code for it.
struct BrokenAttribute {
    std::string reason; ///< empty if nothing is known to be wrong
    cudaError_t code = cudaErrorInvalidValue;
};
/// `symbol` is the kernel, or null if unknown.
[[nodiscard]] BrokenAttribute broken_attribute(const LaunchConfig& config, const void* symbol);

/// Throws E if an attribute of `config` is broken. `subject` is called only then.
template <class E = GraphError, class MakeSubject>
void require_attributes(const LaunchConfig& config, const void* symbol, const MakeSubject& subject) {
    if (const BrokenAttribute broken = broken_attribute(config, symbol); !broken.reason.empty())
        refuse<E>(broken.reason, subject(), broken.code);
}

/// Gives a new node its attributes; if CUDA refuses one, destroys the node and throws GraphError.
void set_attributes(cudaGraphNode_t node, const LaunchConfig& config, Subject&& subject);

/// Throws GraphError if CUDA refuses the attributes of a launch: tried in a graph of its own, for the sake of graphs
/// whose nodes CUDA does not destroy.
void try_attributes(const CUDA_KERNEL_NODE_PARAMS& launch, const LaunchConfig& config, Subject&& subject);

/// The configuration of a node with all attributes, those of a node that cudag did not make being read now. Throws
/// GraphError.
[[nodiscard]] LaunchConfig full_config(const KernelParams& kernel);
/// Leaves nothing of the configuration unread.
void complete_config(KernelParams& kernel);
/// Whether kernels may change the node; asks CUDA about a node that cudag did not make. Throws GraphError.
[[nodiscard]] bool is_device_updatable(const KernelParams& kernel);

/// " cluster (2, 1, 1) cooperative": what is given, for people, each after `separator`.
[[nodiscard]] std::string describe_attributes(const LaunchConfig& config, const char* separator = " ");

} // namespace cudag::detail
