// Kernel nodes with more than a grid, a block and shared memory.
#include "attributes.hpp"

using cudag::AccessPolicy;
using cudag::AccessProperty;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::LaunchConfig;
using cudag::MemorySyncDomain;

namespace {

/// A kernel node of `config`, with a graph that keeps it.
struct Sample {
    cudag::DeviceBuffer<unsigned> count = device({0U, 0U});
    cudag::KernelNode<unsigned*, unsigned*, unsigned> node;
    Graph graph;

    explicit Sample(const LaunchConfig& config) : graph(build(config)) {}

    /// How many threads ran.
    unsigned threads() {
        cudag::Exec exec = graph.instantiate();
        run(exec, cudag::Stream());
        return read(count).at(0);
    }

  private:
    Graph build(const LaunchConfig& config) {
        GraphBuilder b;
        node = b.kernel(config, count_threads, count.data(), count.data() + 1, 1U);
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("a plain kernel node has no attributes", "[builder][attributes]") {
    const Sample s({.grid = 2, .block = 32});
    CHECK_FALSE(is_cooperative(s.node));
    CHECK(priority_of(s.node) == 0);
    CHECK(cluster_of(s.node) == std::vector{0U, 0U, 0U});
    CHECK(domain_of(s.node) == cudaLaunchMemSyncDomainDefault);
    CHECK(policy_of(s.node).num_bytes == 0);
}

TEST_CASE("a kernel node has the cluster that it is given", "[builder][attributes]") {
    Sample s({.grid = {4, 2, 1}, .block = 32, .cluster = {2, 2, 1}});
    CHECK(cluster_of(s.node) == std::vector{2U, 2U, 1U});
    CHECK(s.threads() == 256);
}

TEST_CASE("the largest portable cluster is accepted", "[builder][attributes]") {
    Sample s({.grid = 8, .block = 32, .cluster = 8});
    CHECK(cluster_of(s.node) == std::vector{8U, 1U, 1U});
    CHECK(s.threads() == 256);
}

TEST_CASE("a kernel node may be cooperative", "[builder][attributes]") {
    Sample s({.grid = 4, .block = 32, .cooperative = true});
    CHECK(is_cooperative(s.node));
    CHECK(s.threads() == 128);
}

TEST_CASE("a kernel node has the priority that it is given", "[builder][attributes]") {
    const PriorityRange range;
    REQUIRE(range.greatest < range.least);
    Sample s({.grid = 4, .block = 32, .priority = range.greatest});
    CHECK(priority_of(s.node) == range.greatest);
    CHECK(s.threads() == 128);
    CHECK_NOTHROW(static_cast<void>(s.graph.instantiate({.use_node_priority = true})));
}

TEST_CASE("a kernel node has the memory synchronisation domain that it is given", "[builder][attributes]") {
    Sample s({.grid = 4, .block = 32, .memory_sync_domain = MemorySyncDomain::remote});
    CHECK(domain_of(s.node) == cudaLaunchMemSyncDomainRemote);
    CHECK(s.threads() == 128);
}

TEST_CASE("a kernel node has the access policy that it is given", "[builder][attributes]") {
    const cudag::DeviceBuffer<float> data(1 << 20);
    Sample s({.grid = 4,
              .block = 32,
              .access_policy = AccessPolicy{.memory = as_bytes(data.span()),
                                            .hit_ratio = 0.5F,
                                            .hit = AccessProperty::persisting,
                                            .miss = AccessProperty::normal}});
    const cudaAccessPolicyWindow window = policy_of(s.node);
    CHECK(window.base_ptr == data.data());
    CHECK(window.num_bytes == data.size_bytes());
    CHECK(window.hitRatio == 0.5F);
    CHECK(window.hitProp == cudaAccessPropertyPersisting);
    CHECK(window.missProp == cudaAccessPropertyNormal);
    CHECK(s.threads() == 128);
}

TEST_CASE("attributes may be written in braces at the call", "[builder][attributes]") {
    GraphBuilder b;
    const auto node = b.kernel({.grid = 4, .cluster = 2, .cooperative = true}, nothing);
    CHECK(cluster_of(node) == std::vector{2U, 1U, 1U});
    CHECK(is_cooperative(node));
    CHECK(node.location().line == __LINE__ - 3);
}

TEST_CASE("an adopted node has the attributes that CUDA has", "[graph][attributes]") {
    const Sample s({.grid = 4, .block = 32, .cluster = 2, .cooperative = true, .priority = -1});
    cudaGraph_t copy = nullptr;
    cudag::check(cudaGraphClone(&copy, s.graph.native()));
    const Graph adopted = Graph::adopt(copy);
    CHECK_THAT(adopted.dot(), ContainsSubstring("cluster (2, 1, 1) cooperative priority -1"));
}

TEST_CASE("a clone has the attributes of its origin", "[graph][attributes]") {
    const Sample s({.grid = 4, .block = 32, .cluster = 2, .cooperative = true, .priority = -1});
    const Graph clone = s.graph.clone();
    const auto node = clone.nodes().at(0);
    CHECK(cluster_of(node) == std::vector{2U, 1U, 1U});
    CHECK(is_cooperative(node));
    CHECK(priority_of(node) == -1);
    CHECK_THAT(clone.dot(), ContainsSubstring("cluster (2, 1, 1) cooperative priority -1"));
}

TEST_CASE("DOT text shows the attributes of a kernel", "[graph][dot]") {
    const Sample s({.grid = 4, .block = 32, .cluster = {4, 1, 1}, .memory_sync_domain = MemorySyncDomain::remote});
    CHECK_THAT(s.graph.dot(), ContainsSubstring(">>> cluster (4, 1, 1) memory_sync_domain remote\""));
    const Sample plain({.grid = 4, .block = 32});
    CHECK_THAT(plain.graph.dot(), ContainsSubstring("(32, 1, 1)>>>\""));
}
