// The table of launch attributes.
#include "launch_attributes.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <utility>

namespace cudag::detail {

namespace {

static_assert(std::is_same_v<decltype(fields_of(std::declval<const LaunchConfig&>())),
                             decltype(fields_of(std::declval<const BracedConfig&>()))>,
              "a field of LaunchConfig is missing in BracedConfig, or stands elsewhere there");

// The text of a field.

/// The name of an enumerator, or its number if it has none.
template <class E>
std::string name_of(std::initializer_list<const char*> names, E value) {
    const auto number = static_cast<unsigned>(value);
    return number < names.size() ? names.begin()[number] : fmt::to_string(number);
}

std::string text_of(const dim3& blocks) {
    return fmt::format("({}, {}, {})", blocks.x, blocks.y, blocks.z);
}

std::string text_of(bool value) {
    return value ? "yes" : "no";
}

std::string text_of(MemorySyncDomain domain) {
    return name_of({"default", "remote"}, domain);
}

std::string text_of(ClusterSchedulingPolicy policy) {
    return name_of({"default", "spread", "load_balancing", "rubin_dsmem_locality"}, policy);
}

std::string text_of(PortableClusterMode mode) {
    return name_of({"default", "require_portable", "allow_non_portable"}, mode);
}

std::string text_of(SharedMemoryMode mode) {
    return name_of({"default", "require_portable", "allow_non_portable", "allow_oversized", "prefer_oversized"}, mode);
}

std::string text_of(const std::optional<int>& number) {
    return fmt::to_string(number.value_or(0));
}

std::string text_of(const std::optional<MemorySyncDomainMap>& given) {
    const MemorySyncDomainMap map = given.value_or(MemorySyncDomainMap());
    return fmt::format("(default {}, remote {})", map.default_domain, map.remote);
}

std::string text_of(const ProgrammaticEvent& event) {
    return fmt::format("{}{}", static_cast<const void*>(event.event),
                       event.trigger_at_block_start ? " at block start" : "");
}

std::string text_of(cudaEvent_t event) {
    return fmt::to_string(static_cast<const void*>(event));
}

std::string text_of(const std::optional<unsigned>& percent) {
    return percent ? fmt::to_string(*percent) : "default";
}

std::string text_of(AccessProperty property) {
    return name_of({"normal", "streaming", "persisting"}, property);
}

std::string text_of(const std::optional<AccessPolicy>& given) {
    if (!given) return "none";
    const AccessPolicy& policy = *given;
    return fmt::format("{:g} {} else {} of {} bytes at {}", policy.hit_ratio, text_of(policy.hit), text_of(policy.miss),
                       policy.memory.size(), static_cast<const void*>(policy.memory.data()));
}

// The conversion of a field to CUDA's value, and back. Most values are one word, under different names; older headers
// have no name for some.

void put_word(std::uint32_t word, cudaLaunchAttributeValue& value) noexcept {
    std::memcpy(&value, &word, sizeof word);
}

std::uint32_t word_in(const cudaLaunchAttributeValue& value) noexcept {
    std::uint32_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    return word;
}

template <class T>
requires std::is_same_v<T, bool> || std::is_enum_v<T>
void put(T field, cudaLaunchAttributeValue& value) noexcept {
    put_word(static_cast<std::uint32_t>(field), value);
}

template <class T>
requires std::is_same_v<T, bool> || std::is_enum_v<T>
void take(const cudaLaunchAttributeValue& value, T& field) noexcept {
    field = static_cast<T>(word_in(value));
}

/// For a captured launch without a policy, CUDA reports its default, spread (driver 580).
void take(const cudaLaunchAttributeValue& value, ClusterSchedulingPolicy& policy) noexcept {
    const auto told = static_cast<ClusterSchedulingPolicy>(word_in(value));
    if (told != ClusterSchedulingPolicy::spread) policy = told;
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
requires std::is_integral_v<T>
void put(const std::optional<T>& number, cudaLaunchAttributeValue& value) noexcept {
    put_word(static_cast<std::uint32_t>(*number), value);
}

template <class T>
requires std::is_integral_v<T>
void take(const cudaLaunchAttributeValue& value, std::optional<T>& number) noexcept {
    if (const std::uint32_t word = word_in(value); word != 0) number = static_cast<T>(word);
}

/// More than 100 % is CUDA's cudaSharedmemCarveoutDefault, -1.
void take(const cudaLaunchAttributeValue& value, std::optional<unsigned>& percent) noexcept {
    if (const std::uint32_t word = word_in(value); word != 0 && word <= 100) percent = word;
}

void put(const std::optional<MemorySyncDomainMap>& map, cudaLaunchAttributeValue& value) noexcept {
    value.memSyncDomainMap.default_ = map->default_domain;
    value.memSyncDomainMap.remote = map->remote;
}

void take(const cudaLaunchAttributeValue& value, std::optional<MemorySyncDomainMap>& map) noexcept {
    constexpr MemorySyncDomainMap usual;
    const MemorySyncDomainMap told{value.memSyncDomainMap.default_, value.memSyncDomainMap.remote};
    if (told.default_domain != usual.default_domain || told.remote != usual.remote) map = told;
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

void put(const ProgrammaticEvent& event, cudaLaunchAttributeValue& value) noexcept {
    value.programmaticEvent.event = event.event;
    value.programmaticEvent.triggerAtBlockStart = event.trigger_at_block_start ? 1 : 0;
}

void take(const cudaLaunchAttributeValue& value, ProgrammaticEvent& event) noexcept {
    event = {value.programmaticEvent.event, value.programmaticEvent.triggerAtBlockStart != 0};
}

void put(cudaEvent_t event, cudaLaunchAttributeValue& value) noexcept {
    value.launchCompletionEvent.event = event;
}

void take(const cudaLaunchAttributeValue& value, cudaEvent_t& event) noexcept {
    event = value.launchCompletionEvent.event;
}

std::string broken_event(const LaunchConfig& config, const void* /*symbol*/) {
    return config.programmatic_event.event != nullptr ? "" : "programmatic_event: the event is null";
}

// The table.

template <auto Field>
constexpr LaunchAttribute attribute(unsigned id, const char* name, const AttributeRules& rules = {}) {
    return {id,
            name,
            [](const LaunchConfig& config) noexcept { return is_given(config.*Field) != 0; },
            [](const LaunchConfig& config) { return text_of(config.*Field); },
            [](const LaunchConfig& config, cudaLaunchAttributeValue& value) noexcept { put(config.*Field, value); },
            [](const cudaLaunchAttributeValue& value, LaunchConfig& config) noexcept { take(value, config.*Field); },
            rules};
}

constexpr std::array all_attributes{
    // Before the values it allows.
    attribute<&LaunchConfig::portable_cluster_size_mode>(17, "portable_cluster_size_mode",
                                                         {.largest = 2, .since = 13020}),
    attribute<&LaunchConfig::shared_memory_mode>(
        18, "shared_memory_mode",
        {.largest = 4, .newer = {2, 13040}, .broken = broken_shared_memory_mode, .since = 13020}),
    attribute<&LaunchConfig::cluster>(cudaLaunchAttributeClusterDimension, "cluster",
                                      {.needs_instantiate = true,
                                       .is_silently_ignored = true,
                                       .broken = broken_cluster,
                                       .code = cudaErrorInvalidClusterSize}),
    attribute<&LaunchConfig::preferred_cluster>(
        11, "preferred_cluster",
        {.broken = broken_preferred_cluster,
         .code = cudaErrorInvalidClusterSize,
         .since = 12080,
         .only_launches = "CUDA accepts it for launches in streams only; capture one into the graph"}),
    attribute<&LaunchConfig::cluster_scheduling_policy>(cudaLaunchAttributeClusterSchedulingPolicyPreference,
                                                        "cluster_scheduling_policy",
                                                        {.largest = 3, .newer = {2, 13040}}),
    attribute<&LaunchConfig::cooperative>(
        cudaLaunchAttributeCooperative, "cooperative",
        {.needs_instantiate = true, .broken = broken_cooperation, .code = cudaErrorCooperativeLaunchTooLarge}),
    attribute<&LaunchConfig::memory_sync_domain>(cudaLaunchAttributeMemSyncDomain, "memory_sync_domain",
                                                 {.largest = 1}),
    attribute<&LaunchConfig::memory_sync_domain_map>(cudaLaunchAttributeMemSyncDomainMap, "memory_sync_domain_map",
                                                     {.broken = broken_domain_map}),
    attribute<&LaunchConfig::priority>(cudaLaunchAttributePriority, "priority", {.broken = broken_priority}),
    attribute<&LaunchConfig::access_policy>(cudaLaunchAttributeAccessPolicyWindow, "access_policy",
                                            {.broken = broken_policy}),
    attribute<&LaunchConfig::preferred_shared_memory_carveout>(
        14, "preferred_shared_memory_carveout",
        {.needs_instantiate = true, .is_silently_ignored = true, .largest = 100, .since = 12050}),
    attribute<&LaunchConfig::nvlink_util_centric_scheduling>(
        16, "nvlink_util_centric_scheduling", {.needs_instantiate = true, .since = 13000, .is_reported = false}),
    attribute<&LaunchConfig::programmatic_stream_serialization>(
        cudaLaunchAttributeProgrammaticStreamSerialization, "programmatic_stream_serialization",
        {.only_launches = "only launches in streams have it; .after(programmatic(node)) lets a node start early"}),
    // After the attribute of the same number. A node starts early by its edges.
    attribute<&LaunchConfig::waits_for_previous>(
        cudaLaunchAttributeProgrammaticStreamSerialization, "waits_for_previous",
        {.needs_instantiate = true, .is_silently_ignored = true, .is_reported = false, .is_of_nodes = false}),
    attribute<&LaunchConfig::programmatic_event>(
        cudaLaunchAttributeProgrammaticEvent, "programmatic_event",
        {.broken = broken_event,
         .only_launches = "only launches in streams record it; .after(programmatic(node)) lets a node start early"}),
    attribute<&LaunchConfig::launch_completion_event>(
        cudaLaunchAttributeLaunchCompletionEvent, "launch_completion_event",
        {.only_launches =
             "only launches in streams record it; .after(launch_completion(node)) lets a node start early"}),
    // Last: a node with this attribute cannot be destroyed.
    attribute<&LaunchConfig::device_updatable>(cudaLaunchAttributeDeviceUpdatableKernelNode, "device_updatable",
                                               {.needs_instantiate = true,
                                                .broken = broken_device_update,
                                                .code = cudaErrorNotSupported,
                                                .only_nodes = "only a node of a graph can be updated; leave it out"}),
};
static_assert(all_attributes.size() == launch_attribute_count, "a field of LaunchConfig has no row in the table");

} // namespace

std::span<const LaunchAttribute, launch_attribute_count> launch_attributes() noexcept {
    return all_attributes;
}

NativeAttributes::NativeAttributes(const LaunchConfig& config, LaunchUse use) noexcept {
    for (const LaunchAttribute& attribute : all_attributes) {
        if (!attribute.is_given(config) || (use == LaunchUse::node && !attribute.rules.is_of_nodes)) continue;
        if (count_ != 0 && list_[count_ - 1].id == attribute.id) continue; // given by another field
        cudaLaunchAttribute& native = list_[count_++];
        native.id = static_cast<cudaLaunchAttributeID>(attribute.id);
        attribute.write(config, native.val);
    }
}

std::string differing_attribute(const LaunchConfig& before, const LaunchConfig& after) {
    for (const LaunchAttribute& attribute : all_attributes) {
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
    for (const LaunchAttribute& attribute : all_attributes) {
        if (!attribute.is_given(config)) continue;
        text += fmt::format("{}{}", separator, attribute.name);
        if (const std::string value = attribute.text(config); value != "yes") text += fmt::format(" {}", value);
    }
    return text;
}

BrokenAttribute broken_attribute(const LaunchConfig& config, const void* symbol, LaunchUse use) {
    for (const LaunchAttribute& attribute : all_attributes) {
        if (!attribute.is_given(config)) continue;
        const AttributeRules& rules = attribute.rules;
        const char* const elsewhere = use == LaunchUse::node ? rules.only_launches : rules.only_nodes;
        if (elsewhere != nullptr) return {fmt::format("{}: {}", attribute.name, elsewhere)};
        cudaLaunchAttributeValue value{};
        attribute.write(config, value);
        const std::uint32_t word = word_in(value);
        const bool is_newer = rules.newer.since != 0 && word > rules.newer.after && word <= rules.largest;
        const std::string wanted =
            is_newer ? fmt::format("{} {}", attribute.name, attribute.text(config)) : attribute.name;
        if (std::string missing = missing_version(is_newer ? rules.newer.since : rules.since, wanted.c_str());
            !missing.empty())
            return {std::move(missing), cudaErrorNotSupported};
        if (rules.largest != 0 && word > rules.largest)
            return {fmt::format("{} is {}; CUDA takes 0 to {}", attribute.name, word, rules.largest)};
        if (rules.broken == nullptr) continue;
        if (std::string reason = rules.broken(config, symbol); !reason.empty()) return {std::move(reason), rules.code};
    }
    return {};
}

} // namespace cudag::detail
