// The table of launch attributes.
#include "launch_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cudag::detail {

namespace {

static_assert(std::is_same_v<decltype(fields_of(std::declval<LaunchConfig&>())),
                             decltype(fields_of(std::declval<BracedConfig&>()))>,
              "a field of LaunchConfig is missing in BracedConfig, or stands elsewhere there");

const char* name_of(AccessProperty property) {
    switch (property) {
    case AccessProperty::normal:
        return "normal";
    case AccessProperty::streaming:
        return "streaming";
    case AccessProperty::persisting:
        return "persisting";
    }
    return "unknown";
}

// How a field reads.

std::string text_of(const dim3& blocks) {
    return fmt::format("({}, {}, {})", blocks.x, blocks.y, blocks.z);
}

std::string text_of(bool value) {
    return value ? "yes" : "no";
}

std::string text_of(MemorySyncDomain domain) {
    return domain == MemorySyncDomain::remote ? "remote" : "default";
}

std::string text_of(const std::optional<int>& number) {
    return fmt::to_string(number.value_or(0));
}

std::string text_of(const std::optional<AccessPolicy>& given) {
    if (!given) return "none";
    const AccessPolicy& policy = *given;
    return fmt::format("{:g} {} else {} of {} bytes at {}", policy.hit_ratio, name_of(policy.hit), name_of(policy.miss),
                       policy.memory.size(), static_cast<const void*>(policy.memory.data()));
}

// How a field becomes CUDA's value, and back. Most values are one word, whatever CUDA calls it.

template <class T>
void put_word(T word, cudaLaunchAttributeValue& value) noexcept {
    const auto number = static_cast<std::int32_t>(word);
    std::memcpy(&value, &number, sizeof number);
}

std::int32_t word_in(const cudaLaunchAttributeValue& value) noexcept {
    std::int32_t number = 0;
    std::memcpy(&number, &value, sizeof number);
    return number;
}

void put(const dim3& blocks, cudaLaunchAttributeValue& value) noexcept {
    value.clusterDim.x = blocks.x;
    value.clusterDim.y = blocks.y;
    value.clusterDim.z = blocks.z;
}

void take(const cudaLaunchAttributeValue& value, dim3& blocks) noexcept {
    if (value.clusterDim.x != 0) blocks = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
}

template <class T>
requires std::is_same_v<T, bool> || std::is_enum_v<T>
void put(T field, cudaLaunchAttributeValue& value) noexcept {
    put_word(field, value);
}

void take(const cudaLaunchAttributeValue& value, bool& field) noexcept {
    field = word_in(value) != 0;
}

template <class E>
requires std::is_enum_v<E>
void take(const cudaLaunchAttributeValue& value, E& field) noexcept {
    field = static_cast<E>(word_in(value));
}

void put(const std::optional<int>& number, cudaLaunchAttributeValue& value) noexcept {
    put_word(*number, value);
}

void take(const cudaLaunchAttributeValue& value, std::optional<int>& number) noexcept {
    if (const int word = word_in(value); word != 0) number = word;
}

void put(const std::optional<AccessPolicy>& policy, cudaLaunchAttributeValue& value) noexcept {
    cudaAccessPolicyWindow& window = value.accessPolicyWindow;
    window.base_ptr = const_cast<std::byte*>(policy->memory.data());
    window.num_bytes = policy->memory.size();
    window.hitRatio = policy->hit_ratio;
    window.hitProp = static_cast<cudaAccessProperty>(policy->hit);
    window.missProp = static_cast<cudaAccessProperty>(policy->miss);
}

void take(const cudaLaunchAttributeValue& value, std::optional<AccessPolicy>& policy) noexcept {
    const cudaAccessPolicyWindow& window = value.accessPolicyWindow;
    if (window.num_bytes == 0) return;
    policy = AccessPolicy{{static_cast<const std::byte*>(window.base_ptr), window.num_bytes},
                          window.hitRatio,
                          static_cast<AccessProperty>(window.hitProp),
                          static_cast<AccessProperty>(window.missProp)};
}

// The table.

struct Rules {
    bool needs_instantiate = false;
    std::string (*broken)(const LaunchConfig& config, const void* symbol) = nullptr;
    cudaError_t code = cudaErrorInvalidValue;
};

template <auto Field>
constexpr LaunchAttribute attribute(cudaLaunchAttributeID id, const char* name, const Rules& rules = {}) {
    return {id,
            name,
            [](const LaunchConfig& config) noexcept { return is_given(config.*Field) != 0; },
            [](const LaunchConfig& config) { return text_of(config.*Field); },
            [](const LaunchConfig& config, cudaLaunchAttributeValue& value) noexcept { put(config.*Field, value); },
            [](const cudaLaunchAttributeValue& value, LaunchConfig& config) noexcept { take(value, config.*Field); },
            rules.needs_instantiate,
            rules.broken,
            rules.code};
}

constexpr std::array attributes{
    attribute<&LaunchConfig::cluster>(cudaLaunchAttributeClusterDimension, "cluster",
                                      {.broken = broken_cluster, .code = cudaErrorInvalidClusterSize}),
    attribute<&LaunchConfig::cooperative>(
        cudaLaunchAttributeCooperative, "cooperative",
        {.needs_instantiate = true, .broken = broken_cooperation, .code = cudaErrorCooperativeLaunchTooLarge}),
    attribute<&LaunchConfig::memory_sync_domain>(cudaLaunchAttributeMemSyncDomain, "memory_sync_domain"),
    attribute<&LaunchConfig::priority>(cudaLaunchAttributePriority, "priority", {.broken = broken_priority}),
    attribute<&LaunchConfig::access_policy>(cudaLaunchAttributeAccessPolicyWindow, "access_policy",
                                            {.broken = broken_policy}),
    // Last: a node that has it cannot be destroyed again.
    attribute<&LaunchConfig::device_updatable>(cudaLaunchAttributeDeviceUpdatableKernelNode, "device_updatable",
                                               {.needs_instantiate = true}),
};
static_assert(attributes.size() == launch_attribute_count, "a field of LaunchConfig has no row in the table");

} // namespace

std::span<const LaunchAttribute, launch_attribute_count> launch_attributes() noexcept {
    return attributes;
}

NativeAttributes::NativeAttributes(const LaunchConfig& config) noexcept {
    for (const LaunchAttribute& attribute : attributes) {
        if (!attribute.is_given(config)) continue;
        cudaLaunchAttribute& native = list_[count_++];
        native.id = attribute.id;
        attribute.write(config, native.val);
    }
}

std::string differing_attribute(const LaunchConfig& before, const LaunchConfig& after) {
    for (const LaunchAttribute& attribute : attributes) {
        if (!attribute.is_given(after)) continue;
        const std::string old_text = attribute.text(before);
        const std::string new_text = attribute.text(after);
        if (old_text != new_text)
            return fmt::format("{} is {}, the update's is {}", attribute.name, old_text, new_text);
    }
    return {};
}

std::string describe_attributes(const LaunchConfig& config, const char* separator) {
    std::string text;
    if (!has_attributes(config)) return text;
    for (const LaunchAttribute& attribute : attributes) {
        if (!attribute.is_given(config)) continue;
        text += fmt::format("{}{}", separator, attribute.name);
        if (const std::string value = attribute.text(config); value != "yes") text += fmt::format(" {}", value);
    }
    return text;
}

BrokenAttribute broken_attribute(const LaunchConfig& config, const void* symbol) {
    for (const LaunchAttribute& attribute : attributes) {
        if (attribute.broken == nullptr || !attribute.is_given(config)) continue;
        if (std::string reason = attribute.broken(config, symbol); !reason.empty())
            return {std::move(reason), attribute.code};
    }
    return {};
}

} // namespace cudag::detail
