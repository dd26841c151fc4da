// Attributes that say how CUDA schedules a kernel: on nodes, in captures, in updates.
#include <cstring>
#include <optional>

#include "attributes.hpp"
#include "cuda_version.hpp"

using cudag::ClusterSchedulingPolicy;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::LaunchConfig;
using cudag::MemorySyncDomainMap;
using cudag::PortableClusterMode;
using cudag::SharedMemoryMode;
using cudag::Stream;

namespace {

/// An attribute with two values, as cudag and as CUDA tell them.
struct Attribute {
    const char* name;
    int since; // the version of CUDA that brought it
    unsigned id;
    LaunchConfig config;
    LaunchConfig other;
    const char* text;
    const char* other_text;
    const char* none;             // how it reads where it is not given
    std::optional<unsigned> word; // what CUDA tells of it, if it does
    bool needs_instantiate = false;
};

std::vector<Attribute> attributes() {
    constexpr dim3 grid{8};
    return {
        {"cluster_scheduling_policy",
         12040,
         5,
         {.grid = grid, .cluster_scheduling_policy = ClusterSchedulingPolicy::load_balancing},
         {.grid = grid, .cluster_scheduling_policy = ClusterSchedulingPolicy::spread},
         "load_balancing",
         "spread",
         "default",
         2},
        {"memory_sync_domain_map",
         12040,
         9,
         {.grid = grid, .memory_sync_domain_map = MemorySyncDomainMap{.default_domain = 2, .remote = 3}},
         {.grid = grid, .memory_sync_domain_map = MemorySyncDomainMap{.default_domain = 1, .remote = 0}},
         "(default 2, remote 3)",
         "(default 1, remote 0)",
         "(default 0, remote 1)",
         0x302},
        {"preferred_shared_memory_carveout",
         12050,
         14,
         {.grid = grid, .preferred_shared_memory_carveout = 100},
         {.grid = grid, .preferred_shared_memory_carveout = 50},
         "100",
         "50",
         "default",
         100,
         true},
        {"nvlink_util_centric_scheduling",
         13000,
         16,
         {.grid = grid, .nvlink_util_centric_scheduling = true},
         {.grid = grid},
         "yes",
         "no",
         "no",
         std::nullopt,
         true},
        {"portable_cluster_size_mode",
         13020,
         17,
         {.grid = grid, .portable_cluster_size_mode = PortableClusterMode::allow_non_portable},
         {.grid = grid, .portable_cluster_size_mode = PortableClusterMode::require_portable},
         "allow_non_portable",
         "require_portable",
         "default",
         2},
        {"shared_memory_mode",
         13020,
         18,
         {.grid = grid, .shared_memory_mode = SharedMemoryMode::allow_non_portable},
         {.grid = grid, .shared_memory_mode = SharedMemoryMode::require_portable},
         "allow_non_portable",
         "require_portable",
         "default",
         2},
    };
}

/// A node that counts the threads that run.
struct Sample {
    cudag::DeviceBuffer<unsigned> count = device({0U, 0U});
    cudag::KernelNode<unsigned*, unsigned*, unsigned> node;
    Graph graph;

    explicit Sample(const LaunchConfig& config) : graph(build(config)) {}

  private:
    Graph build(const LaunchConfig& config) {
        GraphBuilder b;
        node = b.kernel(config, count_threads, count.data(), count.data() + 1, 1U).label("count");
        return std::move(b).build();
    }
};

Graph captured(const LaunchConfig& config, const cudag::DeviceBuffer<unsigned>& count) {
    const Stream stream;
    return cudag::capture(
        stream, [&](cudaStream_t s) { cudag::launch(s, config, count_threads, count.data(), count.data() + 1, 1U); });
}

unsigned word_of(const cudag::Node& node, unsigned id) {
    const cudaLaunchAttributeValue value = attribute(node, static_cast<cudaLaunchAttributeID>(id));
    unsigned word = 0;
    std::memcpy(&word, &value, sizeof word);
    return word;
}

/// The differences in attributes between graphs of one node.
std::vector<std::vector<std::string>> attribute_differences(const Graph& before, const Graph& after) {
    std::vector<std::vector<std::string>> found;
    for (const cudag::Difference& difference : cudag::diff(before, after))
        if (difference.kind == cudag::DifferenceKind::attribute)
            found.push_back({difference.field, difference.old_value, difference.new_value,
                             difference.needs_instantiate ? "needs instantiate" : ""});
    return found;
}

/// What is said of a launch of `config`, refused by nodes and by streams alike.
std::string refusal(const LaunchConfig& config, cudaError_t code = cudaErrorInvalidValue) {
    GraphBuilder b;
    const auto error = refused<GraphError>([&] { b.kernel(config, nothing); });
    CHECK(error.code() == cuda_code(code));
    CHECK(std::move(b).build().node_count() == 0);
    const Stream stream;
    const auto thrown = refused<cudag::Error>([&] { cudag::launch(stream, config, nothing); });
    CHECK(thrown.code() == cuda_code(code));
    const std::string start = "cudag: launch of nothing: ";
    const std::string text = thrown.what();
    REQUIRE(text.rfind(start, 0) == 0);
    CHECK_THAT(error.what(), ContainsSubstring(text.substr(start.size())));
    stream.synchronize();
    return text;
}

} // namespace

TEST_CASE("a kernel node has the scheduling attribute that it is given", "[builder][attributes]") {
    for (const Attribute& given : attributes()) {
        CAPTURE(given.name);
        if (cuda_here() < given.since) continue; // version_tests check that it is refused
        Sample s(given.config);
        if (given.word) CHECK((word_of(s.node, given.id) & 0xffffU) == *given.word);
        CHECK_THAT(s.graph.dot(), ContainsSubstring(given.name));
        CHECK_THAT(to_string(given.config), ContainsSubstring(std::string(", ") + given.name));
        cudag::Exec exec = s.graph.instantiate();
        run(exec, Stream());
        CHECK(read(s.count).at(0) == 8);
        const Graph clone = s.graph.clone();
        CHECK(cudag::diff(s.graph, clone).empty());
        exec.update(s.node, given.config);
        exec.update(s.node, LaunchConfig{.grid = 16});
        run(exec, Stream());
        CHECK(read(s.count).at(0) == 24);
    }
}

TEST_CASE("a captured kernel has the scheduling attribute of its launch", "[capture][attributes]") {
    for (const Attribute& given : attributes()) {
        CAPTURE(given.name);
        if (cuda_here() < given.since) continue;
        const auto count = device({0U, 0U});
        const Graph graph = captured(given.config, count);
        if (given.word) {
            CHECK((word_of(graph.nodes().at(0), given.id) & 0xffffU) == *given.word);
            CHECK_THAT(graph.dot(), ContainsSubstring(given.name));
            CHECK_THAT(to_string(graph.nodes().at(0).kernel_info().config), ContainsSubstring(given.text));
        }
        cudag::Exec exec = graph.instantiate();
        run(exec, Stream());
        CHECK(read(count).at(0) == 8);
    }
}

TEST_CASE("graphs that differ in a scheduling attribute differ in it alone", "[graph][attributes]") {
    for (const Attribute& given : attributes()) {
        CAPTURE(given.name);
        if (cuda_here() < given.since) continue;
        const Sample before(given.config);
        const Sample after(given.other);
        LaunchConfig plain{.grid = 8};
        const Sample none(plain);
        const std::string instantiate = given.needs_instantiate ? "needs instantiate" : "";
        CHECK(attribute_differences(before.graph, after.graph) ==
              std::vector<std::vector<std::string>>{{given.name, given.text, given.other_text, instantiate}});
        CHECK(attribute_differences(none.graph, before.graph) ==
              std::vector<std::vector<std::string>>{{given.name, given.none, given.text, instantiate}});
    }
}

TEST_CASE("an update of one node to another scheduling attribute is refused with both values", "[exec][attributes]") {
    for (const Attribute& given : attributes()) {
        CAPTURE(given.name);
        if (cuda_here() < given.since) continue;
        Sample s(LaunchConfig{.grid = 8});
        cudag::Exec exec = s.graph.instantiate();
        const auto error = refused<cudag::UpdateError>([&] { exec.update(s.node, given.config); });
        CHECK_THAT(error.what(), ContainsSubstring(std::string(given.name) + " is " + given.none +
                                                   ", the update's is " + given.text));
        run(exec, Stream());
        CHECK(read(s.count).at(0) == 8);
    }
}

TEST_CASE("an update of the whole graph changes a scheduling attribute, or says that it cannot", "[exec][attributes]") {
    for (const Attribute& given : attributes()) {
        CAPTURE(given.name);
        if (cuda_here() < given.since) continue;
        Sample s(LaunchConfig{.grid = 8});
        const Sample next(given.config);
        cudag::Exec exec = s.graph.instantiate();
        const cudag::UpdateReport report = exec.update(next.graph);
        CHECK(report.updated() == !given.needs_instantiate);
        CHECK(report.needs_instantiate() == given.needs_instantiate);
        if (given.needs_instantiate) CHECK_THAT(report.to_string(), ContainsSubstring(given.name));
        run(exec, Stream());
        CHECK(read(given.needs_instantiate ? s.count : next.count).at(0) == 8);
    }
}

TEST_CASE("a launch in a stream honours scheduling attributes", "[stream][attributes]") {
    for (const Attribute& given : attributes()) {
        CAPTURE(given.name);
        if (cuda_here() < given.since) continue;
        const auto count = device({0U, 0U});
        const Stream stream;
        cudag::launch(stream, given.config, count_threads, count.data(), count.data() + 1, 1U);
        stream.synchronize();
        CHECK(read(count).at(0) == 8);
    }
}

TEST_CASE("a number that CUDA has no value for is refused with its range", "[builder][attributes]") {
    CHECK_THAT(refusal({.cluster_scheduling_policy = static_cast<ClusterSchedulingPolicy>(9)}),
               ContainsSubstring("cluster_scheduling_policy is 9; CUDA takes 0 to 3"));
    CHECK_THAT(refusal({.memory_sync_domain = static_cast<cudag::MemorySyncDomain>(2)}),
               ContainsSubstring("memory_sync_domain is 2; CUDA takes 0 to 1"));
    if (cuda_here() >= 12050)
        CHECK_THAT(refusal({.preferred_shared_memory_carveout = 101}),
                   ContainsSubstring("preferred_shared_memory_carveout is 101; CUDA takes 0 to 100"));
    if (cuda_here() < 13020) return;
    CHECK_THAT(refusal({.portable_cluster_size_mode = static_cast<PortableClusterMode>(3)}),
               ContainsSubstring("portable_cluster_size_mode is 3; CUDA takes 0 to 2"));
    CHECK_THAT(refusal({.shared_memory_mode = static_cast<SharedMemoryMode>(5)}),
               ContainsSubstring("shared_memory_mode is 5; CUDA takes 0 to 4"));
}

TEST_CASE("a domain that the device does not have is refused with their number", "[builder][attributes]") {
    int count = 0;
    cudag::check(cudaDeviceGetAttribute(&count, cudaDevAttrMemSyncDomainCount, 0));
    const auto domain = static_cast<std::uint8_t>(count);
    const std::string text =
        "memory_sync_domain_map: domain " + std::to_string(count) + "; this device has " + std::to_string(count);
    CHECK_THAT(refusal({.memory_sync_domain_map = MemorySyncDomainMap{.remote = domain}}), ContainsSubstring(text));
    CHECK_THAT(refusal({.memory_sync_domain_map = MemorySyncDomainMap{.default_domain = domain}}),
               ContainsSubstring(text));
}

TEST_CASE("a launch has a preferred cluster, also in a capture", "[stream][attributes]") {
    if (older_than(12080)) return;
    const LaunchConfig config{.grid = 8, .cluster = 2, .preferred_cluster = 4};
    const auto count = device({0U, 0U});
    const Stream stream;
    cudag::launch(stream, config, count_threads, count.data(), count.data() + 1, 1U);
    stream.synchronize();
    CHECK(read(count).at(0) == 8);
    const Graph graph = captured(config, count);
    CHECK(cluster_of(graph.nodes().at(0)) == std::vector{2U, 1U, 1U});
    cudag::Exec exec = graph.instantiate();
    run(exec, stream);
    CHECK(read(count).at(0) == 16);
    CHECK(to_string(config) == "grid 8, block 1, cluster (2, 1, 1), preferred_cluster (4, 1, 1)");
}

TEST_CASE("a preferred cluster that cannot be is refused with the numbers", "[stream][attributes]") {
    if (older_than(12080)) return;
    const auto refusal_of = [](const LaunchConfig& config) {
        const Stream stream;
        const auto error = refused<cudag::Error>([&] { cudag::launch(stream, config, nothing); });
        CHECK(error.code() == cuda_code(cudaErrorInvalidClusterSize));
        return std::string(error.what());
    };
    CHECK_THAT(refusal_of({.grid = 8, .preferred_cluster = 4}),
               ContainsSubstring("preferred_cluster: set cluster, too"));
    CHECK_THAT(refusal_of({.grid = 12, .cluster = 2, .preferred_cluster = 3}),
               ContainsSubstring("preferred_cluster.x is 3, no multiple of cluster.x, which is 2"));
    CHECK_THAT(refusal_of({.grid = 12, .cluster = 2, .preferred_cluster = 8}),
               ContainsSubstring("grid.x is 12, no multiple of preferred_cluster.x, which is 8"));
    CHECK_THAT(refusal_of({.grid = {8, 8, 8}, .cluster = {2, 1, 1}, .preferred_cluster = {2, 1, 2}}),
               ContainsSubstring("preferred_cluster.z is 2, cluster.z is 1"));
    CHECK_THAT(refusal_of({.grid = 8, .cluster = 2, .preferred_cluster = {2, 0, 1}}),
               ContainsSubstring("preferred_cluster.y is 0"));
    GraphBuilder b;
    const auto error =
        refused<GraphError>([&] { b.kernel({.grid = 8, .cluster = 2, .preferred_cluster = 4}, nothing); });
    CHECK_THAT(error.what(), ContainsSubstring("preferred_cluster: CUDA accepts it for launches in streams only"));
}

TEST_CASE("a cluster of more blocks than are portable is refused or allowed by its mode", "[builder][attributes]") {
    if (older_than(13020)) return;
    CHECK_THAT(refusal({.grid = 16, .cluster = 16, .portable_cluster_size_mode = PortableClusterMode::require_portable},
                       cudaErrorInvalidClusterSize),
               ContainsSubstring("has 16 blocks") && ContainsSubstring("require_portable"));
    Sample s({.grid = 16, .cluster = 16, .portable_cluster_size_mode = PortableClusterMode::allow_non_portable});
    cudag::Exec exec = s.graph.instantiate();
    run(exec, Stream());
    CHECK(read(s.count).at(0) == 16);
}

TEST_CASE("more shared memory than is portable is refused or allowed by its mode", "[builder][attributes]") {
    if (older_than(13020)) return;
    CHECK_THAT(refusal({.shared_bytes = 50 * 1024, .shared_memory_mode = SharedMemoryMode::require_portable}),
               ContainsSubstring("51200 bytes of dynamic shared memory") && ContainsSubstring("require_portable"));
    Sample s({.shared_bytes = 50 * 1024, .shared_memory_mode = SharedMemoryMode::allow_non_portable});
    CHECK(s.node.kernel_info().config.shared_bytes == 50 * 1024);
    cudag::Exec exec = s.graph.instantiate();
    run(exec, Stream());
    CHECK(read(s.count).at(0) == 1);
    GraphBuilder b;
    CHECK_THROWS_AS(
        b.kernel({.shared_bytes = std::size_t{1} << 20, .shared_memory_mode = SharedMemoryMode::allow_non_portable},
                 nothing),
        GraphError);
    CHECK(std::move(b).build().node_count() == 0);
}
