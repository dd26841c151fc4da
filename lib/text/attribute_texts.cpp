// Launch attributes as text, and back.
#include "attribute_texts.hpp"

#include "text_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cudag::detail {

namespace {

/// The names of the fields, in the order of `fields_of`: a new field does not compile without its name.
constexpr std::array config_fields{"grid",
                                   "block",
                                   "shared_bytes",
                                   "cluster",
                                   "cooperative",
                                   "device_updatable",
                                   "waits_for_previous",
                                   "memory_sync_domain",
                                   "priority",
                                   "access_policy",
                                   "preferred_cluster",
                                   "cluster_scheduling_policy",
                                   "portable_cluster_size_mode",
                                   "shared_memory_mode",
                                   "nvlink_util_centric_scheduling",
                                   "memory_sync_domain_map",
                                   "programmatic_stream_serialization",
                                   "preferred_shared_memory_carveout",
                                   "programmatic_event",
                                   "launch_completion_event"};
static_assert(config_fields.size() == std::tuple_size_v<decltype(fields_of(std::declval<LaunchConfig&>()))>);

/// Calls `use` with the field of this name.
template <class Config, class Use>
void use_config_field(std::string_view name, Config& config, const Use& use) {
    std::size_t place = 0;
    const auto try_field = [&](auto& field) {
        if (config_fields[place++] == name) use(field);
    };
    std::apply([&](auto&... field) { (try_field(field), ...); }, fields_of(config));
}

constexpr std::array<std::string_view, 3> access_properties{"normal", "streaming", "persisting"};

std::string policy_text(const AccessPolicy& policy, const AddressText& address) {
    return fmt::format("{} {} else {} of {} bytes at {}", policy.hit_ratio,
                       access_properties.at(static_cast<std::size_t>(policy.hit)),
                       access_properties.at(static_cast<std::size_t>(policy.miss)), policy.memory.size(),
                       address(policy.memory.data()));
}

AccessProperty read_property(LineReader& line, std::string_view expected) {
    for (std::size_t i = 0; i < access_properties.size(); ++i)
        if (line.take(access_properties[i])) return static_cast<AccessProperty>(i);
    line.refuse(expected);
}

AccessPolicy read_policy(LineReader& line, const AddressReader& address) {
    constexpr std::string_view expected = "a policy, as in \"0.5 persisting else streaming of 4096 bytes at x\"";
    AccessPolicy policy{};
    policy.hit_ratio = line.number<float>(expected);
    line.require(" ", expected);
    policy.hit = read_property(line, expected);
    line.require(" else ", expected);
    policy.miss = read_property(line, expected);
    line.require(" of ", expected);
    const auto bytes = line.number<std::size_t>(expected);
    line.require(" bytes at ", expected);
    policy.memory = {static_cast<const std::byte*>(address(line)), bytes};
    return policy;
}

MemorySyncDomainMap read_map(LineReader& line) {
    constexpr std::string_view expected = "\"(default N, remote N)\"";
    MemorySyncDomainMap map;
    line.require("(default ", expected);
    map.default_domain = line.number<std::uint8_t>(expected);
    line.require(", remote ", expected);
    map.remote = line.number<std::uint8_t>(expected);
    line.require(")", expected);
    return map;
}

/// Reads a value by its text in `attribute`, among the few that it can have.
template <class E>
void read_by_text(const LaunchAttribute& attribute, LineReader& line, LaunchConfig& config, E& field) {
    constexpr unsigned most = 8;
    for (unsigned number = 0; number < most; ++number) {
        field = static_cast<E>(number);
        if (line.rest() != attribute.text(config)) continue;
        static_cast<void>(line.take(line.rest()));
        return;
    }
    line.refuse("a value of this attribute");
}

} // namespace

std::string attribute_text(const LaunchAttribute& attribute, const LaunchConfig& config, const AddressText& address,
                           const EventText& event) {
    std::string text;
    use_config_field(attribute.name, config, [&](const auto& field) {
        using Field = std::decay_t<decltype(field)>;
        if constexpr (std::is_same_v<Field, std::optional<AccessPolicy>>)
            text = policy_text(field.value(), address);
        else if constexpr (std::is_same_v<Field, ProgrammaticEvent>)
            text = event(field.event) + (field.trigger_at_block_start ? " at block start" : "");
        else if constexpr (std::is_same_v<Field, cudaEvent_t>)
            text = event(field);
        else
            text = attribute.text(config);
    });
    return text;
}

void read_attribute(const LaunchAttribute& attribute, LineReader& line, LaunchConfig& config,
                    const AddressReader& address, const EventReader& event) {
    use_config_field(attribute.name, config, [&](auto& field) {
        using Field = std::decay_t<decltype(field)>;
        if constexpr (std::is_same_v<Field, std::optional<AccessPolicy>>) {
            field = read_policy(line, address);
        } else if constexpr (std::is_same_v<Field, ProgrammaticEvent>) {
            field.event = event(line);
            field.trigger_at_block_start = line.take(" at block start");
        } else if constexpr (std::is_same_v<Field, cudaEvent_t>) {
            field = event(line);
        } else if constexpr (std::is_same_v<Field, std::optional<MemorySyncDomainMap>>) {
            field = read_map(line);
        } else if constexpr (std::is_same_v<Field, std::optional<int>> ||
                             std::is_same_v<Field, std::optional<unsigned>>) {
            read_plain(line, field.emplace());
        } else if constexpr (std::is_same_v<Field, bool> || std::is_enum_v<Field>) {
            read_by_text(attribute, line, config, field);
        } else {
            read_plain(line, field);
        }
    });
}

} // namespace cudag::detail
