// The table of launch attributes: each field of a LaunchConfig has a row, and each row does what it says.
#include "node/launch_attributes.hpp"
#include "cuda/cuda_log.hpp"
#include "node/attribute_check.hpp"
#include "node/launch_check.hpp"

#include <catch.hpp>

#include <concepts>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace cudag::detail;
using cudag::LaunchConfig;

namespace {

const std::byte some_memory[64]{};

// Sets a field to something that is given, whatever its type.

void give(dim3& blocks) {
    blocks = {2, 1, 1};
}

template <class T>
requires std::same_as<T, bool> || std::is_enum_v<T>
void give(T& value) {
    value = static_cast<T>(1);
}

void give(cudag::ClusterSchedulingPolicy& policy) {
    policy = cudag::ClusterSchedulingPolicy::load_balancing; // of `spread` CUDA does not tell whether it was given
}

void give(std::size_t& bytes) {
    bytes = 64;
}

void give(std::optional<int>& number) {
    number = -1;
}

void give(std::optional<unsigned>& percent) {
    percent = 50;
}

void give(std::optional<cudag::MemorySyncDomainMap>& map) {
    map = cudag::MemorySyncDomainMap{1, 2};
}

void give(cudaEvent_t& event) {
    event = reinterpret_cast<cudaEvent_t>(&event); // never used as one
}

void give(cudag::ProgrammaticEvent& event) {
    give(event.event);
    event.trigger_at_block_start = true;
}

void give(std::optional<cudag::AccessPolicy>& policy) {
    policy = cudag::AccessPolicy{{some_memory, sizeof some_memory}};
}

template <class Config, std::size_t... I>
Config given_by_number(std::size_t number, std::index_sequence<I...>) {
    Config config;
    const auto fields = fields_of(config);
    static_cast<void>(((I == number ? (give(std::get<I>(fields)), true) : false) || ...));
    return config;
}

constexpr std::size_t shape_fields = 3;

/// A configuration that gives nothing but the field of this number, counted after grid, block and shared_bytes.
template <class Config = LaunchConfig>
Config giving(std::size_t attribute) {
    return given_by_number<Config>(attribute + shape_fields,
                                   std::make_index_sequence<shape_fields + launch_attribute_count>());
}

std::vector<const LaunchAttribute*> given_in(const LaunchConfig& config) {
    std::vector<const LaunchAttribute*> found;
    for (const LaunchAttribute& attribute : launch_attributes())
        if (attribute.is_given(config)) found.push_back(&attribute);
    return found;
}

} // namespace

TEST_CASE("a configuration of grid, block and shared memory has no attributes", "[attributes]") {
    LaunchConfig config{.grid = 8, .block = 32, .shared_bytes = 64};
    CHECK_FALSE(has_attributes(config));
    CHECK(given_in(config).empty());
    for (const LaunchUse use : {LaunchUse::node, LaunchUse::stream})
        CHECK(NativeAttributes(config, use).size() == 0);
    CHECK(describe_attributes(config).empty());
}

TEST_CASE("each field beside grid, block and shared memory is one attribute", "[attributes]") {
    std::set<const LaunchAttribute*> rows;
    std::set<std::string> names;
    for (std::size_t i = 0; i < launch_attribute_count; ++i) {
        CAPTURE(i);
        const LaunchConfig config = giving(i);
        CHECK(has_attributes(config));
        const auto given = given_in(config);
        REQUIRE(given.size() == 1);
        rows.insert(given.front());
        names.insert(given.front()->name);
    }
    CHECK(rows.size() == launch_attribute_count);
    CHECK(names.size() == launch_attribute_count);
}

TEST_CASE("an attribute is given to CUDA, read back, compared and described", "[attributes]") {
    for (std::size_t i = 0; i < launch_attribute_count; ++i) {
        const LaunchConfig config = giving(i);
        const LaunchAttribute& attribute = *given_in(config).at(0);
        CAPTURE(attribute.name);
        const NativeAttributes native(config, LaunchUse::stream);
        CHECK(NativeAttributes(config, LaunchUse::node).size() == (attribute.rules.is_of_nodes ? 1 : 0));
        REQUIRE(native.size() == 1);
        CHECK(native.begin()->id == attribute.id);
        LaunchConfig back;
        attribute.read(native.begin()->val, back);
        CHECK(attribute.is_given(back));
        CHECK(attribute.text(back) == attribute.text(config));
        CHECK(differing_attribute(config, back).empty());
        CHECK(differing_attribute(LaunchConfig(), config).rfind(std::string(attribute.name) + " is ", 0) == 0);
        CHECK(describe_attributes(config).rfind(" " + std::string(attribute.name), 0) == 0);
        if (attribute.id == cudaLaunchAttributeMemSyncDomainMap) continue; // whose zeros are a map
        LaunchConfig none;                                                 // CUDA tells others that are none by zeros
        attribute.read(cudaLaunchAttributeValue{}, none);
        CHECK_FALSE(attribute.is_given(none));
    }
}

TEST_CASE("all attributes at once are given to CUDA", "[attributes]") {
    LaunchConfig config;
    std::apply([](auto&... fields) { (give(fields), ...); }, fields_of(config));
    const NativeAttributes native(config, LaunchUse::stream);
    CHECK(native.size() == launch_attribute_count - 1); // two fields give programmatic serialization
    CHECK(NativeAttributes(config, LaunchUse::node).size() == native.size());
    CHECK(native.end()[-1].id == cudaLaunchAttributeDeviceUpdatableKernelNode); // a node that has it stays
}

TEST_CASE("a configuration in braces loses no field", "[attributes]") {
    for (std::size_t i = 0; i < launch_attribute_count; ++i) {
        CAPTURE(i);
        const LaunchConfig config = giving<BracedConfig>(i);
        REQUIRE(given_in(config).size() == 1);
        CHECK(given_in(config) == given_in(giving(i)));
    }
    const LaunchConfig shape = BracedConfig{.grid = {2, 3, 4}, .block = {5, 6, 7}, .shared_bytes = 8};
    CHECK(to_string(shape) == "grid 2 x 3 x 4, block 5 x 6 x 7, shared_bytes 8");
}

TEST_CASE("of a kernel that is not known CUDA is asked nothing that it would refuse", "[attributes]") {
    const LogPosition before = log_position();
    CHECK(broken_limit({.shared_bytes = 1}, nullptr).empty());
    CHECK(broken_cluster({.grid = {16, 1, 1}, .cluster = {16, 1, 1}}, nullptr).empty());
    CHECK(broken_cooperation({.cooperative = true}, nullptr).empty());
    CHECK(log_position() == before);
}

TEST_CASE("an enumerator that has no name reads as its number", "[attributes]") {
    const auto text = [](const char* field, const LaunchConfig& config) {
        for (const LaunchAttribute& attribute : launch_attributes())
            if (attribute.name == std::string(field)) return attribute.text(config);
        return std::string("no such attribute");
    };
    using Policy = cudag::ClusterSchedulingPolicy;
    CHECK(text("cluster_scheduling_policy", {.cluster_scheduling_policy = Policy::load_balancing}) == "load_balancing");
    CHECK(text("cluster_scheduling_policy", {.cluster_scheduling_policy = static_cast<Policy>(9)}) == "9");
    CHECK(text("cluster_scheduling_policy", {.cluster_scheduling_policy = Policy::rubin_dsmem_locality}) ==
          "rubin_dsmem_locality");
    CHECK(text("shared_memory_mode", {.shared_memory_mode = cudag::SharedMemoryMode::allow_oversized}) ==
          "allow_oversized");
    CHECK(text("shared_memory_mode", {.shared_memory_mode = cudag::SharedMemoryMode::prefer_oversized}) ==
          "prefer_oversized");
    CHECK(text("memory_sync_domain", {.memory_sync_domain = static_cast<cudag::MemorySyncDomain>(2)}) == "2");
    CHECK(text("memory_sync_domain", {.memory_sync_domain = static_cast<cudag::MemorySyncDomain>(7)}) == "7");
}

TEST_CASE("a map of domains is told by CUDA if either of them is another than usual", "[attributes]") {
    const cudag::MemorySyncDomainMap usual;
    const auto told = [](unsigned char by_default, unsigned char remote) {
        cudaLaunchAttributeValue value{};
        value.memSyncDomainMap.default_ = by_default;
        value.memSyncDomainMap.remote = remote;
        LaunchConfig config;
        for (const LaunchAttribute& attribute : launch_attributes())
            if (attribute.id == cudaLaunchAttributeMemSyncDomainMap) attribute.read(value, config);
        return config.memory_sync_domain_map;
    };
    const auto other = static_cast<unsigned char>(usual.default_domain + 2);
    CHECK_FALSE(told(usual.default_domain, usual.remote));
    REQUIRE(told(other, usual.remote));
    CHECK(told(other, usual.remote)->default_domain == other);
    REQUIRE(told(usual.default_domain, other));
    CHECK(told(usual.default_domain, other)->remote == other);
}
