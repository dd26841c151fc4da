// Updates of kernel nodes that have attributes.
#include "cuda_version.hpp"
#include "native_nodes.hpp"
#include "test.hpp"

using cudag::LaunchConfig;
using cudag::UpdateError;

namespace {

struct Sample {
    cudag::DeviceBuffer<unsigned> count = device({0U, 0U});
    cudag::KernelNode<unsigned*, unsigned*, unsigned> node;
    cudag::Graph graph;
    cudag::Exec exec = graph.instantiate();
    cudag::Stream stream;

    explicit Sample(const LaunchConfig& config) : graph(build(config)) {}

    /// How many threads ran.
    unsigned threads() {
        write(count.span(), {0U, 0U});
        run(exec, stream);
        return read(count).at(0);
    }

    /// The text with which an update to `config` is refused; the exec launches as before.
    std::string refusal(const LaunchConfig& config, cudaError_t code = cudaErrorInvalidValue) {
        const unsigned before = threads();
        const auto error = refused<UpdateError>([&] { exec.update(node, config); });
        CHECK(error.code() == cuda_code(code));
        CHECK(error.labels() == Labels{"count"});
        CHECK(error.location().line == node.location().line);
        CHECK_THAT(error.what(), ContainsSubstring("\"count\""));
        CHECK(threads() == before);
        return error.what();
    }

  private:
    cudag::Graph build(const LaunchConfig& config) {
        cudag::GraphBuilder b;
        node = b.kernel(config, count_threads, count.data(), count.data() + 1, 1U).label("count");
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("an update may repeat a node's attributes", "[exec][attributes]") {
    Sample s({.grid = 4, .block = 32, .cluster = 2, .priority = -1});
    s.exec.update(s.node, LaunchConfig{.grid = 8, .block = 64, .cluster = 2, .priority = -1});
    CHECK(s.threads() == 512);
}

TEST_CASE("attributes that an update leaves out stay", "[exec][attributes]") {
    Sample s({.grid = 4, .block = 32, .cluster = 2});
    s.exec.update(s.node, LaunchConfig{.grid = 8, .block = 64});
    CHECK(s.threads() == 512);
    CHECK_THAT(s.refusal({.grid = 7}, cudaErrorInvalidClusterSize),
               ContainsSubstring("grid.x is 7") && ContainsSubstring("cluster.x, which is 2"));
}

TEST_CASE("arguments of a node with attributes are updated without a configuration", "[exec][attributes]") {
    Sample s({.grid = 4, .block = 32, .cluster = 2});
    s.exec.update(s.node, cudag::arg<2>(5U));
    CHECK(s.threads() == 128);
    CHECK(read(s.count).at(1) == 20);
}

TEST_CASE("an update to other attributes is refused with both values", "[exec][attributes]") {
    Sample s({.grid = 4, .block = 32, .cluster = 2, .priority = -1});
    CHECK_THAT(s.refusal({.grid = 4, .block = 32, .cluster = 4, .priority = -1}),
               ContainsSubstring("cluster is (2, 1, 1), the update's is (4, 1, 1)"));
    CHECK_THAT(s.refusal({.grid = 4, .block = 32, .cluster = 2, .priority = -2}),
               ContainsSubstring("priority is -1, the update's is -2"));
    CHECK_THAT(s.refusal({.grid = 4, .block = 32, .priority = 0}),
               ContainsSubstring("priority is -1, the update's is 0"));
    CHECK_THAT(s.refusal({.grid = 4, .block = 32, .cluster = 2, .cooperative = true, .priority = -1}),
               ContainsSubstring("cooperative is no, the update's is yes"));
}

TEST_CASE("an update cannot give a plain node attributes", "[exec][attributes]") {
    Sample s({.grid = 4, .block = 32});
    CHECK_THAT(s.refusal({.grid = 4, .block = 32, .cluster = 2}),
               ContainsSubstring("cluster is (1, 1, 1), the update's is (2, 1, 1)"));
    CHECK_THAT(s.refusal({.grid = 4, .block = 32, .device_updatable = true}),
               ContainsSubstring("device_updatable is no, the update's is yes"));
}

TEST_CASE("a new grid must suit the cluster", "[exec][attributes]") {
    Sample s({.grid = 4, .block = 32, .cluster = 2});
    CHECK_THAT(s.refusal({.grid = 5, .block = 32, .cluster = 2}, cudaErrorInvalidClusterSize),
               ContainsSubstring("grid.x is 5"));
}

TEST_CASE("an update of the whole graph to another cluster is refused with both", "[exec][attributes]") {
    const auto config = [](unsigned cluster, int priority = 0) {
        return cudag::LaunchConfig{.grid = 4, .block = 32, .cluster = cluster, .priority = priority};
    };
    Sample s(config(2));
    for (const unsigned cluster : {1U, 4U}) {
        const Sample next(config(cluster));
        const cudag::UpdateReport report = s.exec.update(next.graph);
        CHECK(report.verdict() == cudag::UpdateVerdict::attributes_changed);
        CHECK(report.needs_instantiate());
        REQUIRE(!report.differences().empty());
        CHECK(report.differences().front().field == "cluster");
        CHECK(s.threads() == 128);
        cudag::Exec exec = s.graph.instantiate();
        CHECK(!exec.update_or_instantiate(next.graph).updated());
        CHECK(exec.update(next.graph).updated());
    }
    const Sample none({.grid = 4, .block = 32});
    cudag::Exec plain = none.graph.instantiate();
    CHECK(plain.update(s.graph).verdict() == cudag::UpdateVerdict::attributes_changed);
    CHECK(s.exec.update(Sample(config(2, -1)).graph).updated());
}

TEST_CASE("an update of a child to another cluster is refused", "[exec][child][attributes]") {
    Sample inner({.grid = 4, .block = 32, .cluster = 2});
    const Sample next({.grid = 4, .block = 32, .cluster = 4});
    const Sample same({.grid = 8, .block = 32, .cluster = 2});
    cudag::GraphBuilder b;
    const cudag::ChildNode child = b.child(inner.graph).label("layers");
    cudag::Exec exec = std::move(b).build().instantiate();
    const auto error = refused<UpdateError>([&] { exec.update(child, next.graph); });
    CHECK_THAT(error.what(),
               ContainsSubstring("\"layers\"") && ContainsSubstring("cluster is (2, 1, 1), the update's is (4, 1, 1)"));
    exec.update(child, same.graph);
    run(exec, cudag::Stream());
    CHECK(read(same.count).at(0) == 256);
}

TEST_CASE("an update to another cluster inside a child or a body is refused", "[exec][child][attributes]") {
    if (older_than(12080)) return;
    const auto count = device({0U, 0U});
    const auto nested = [&](unsigned in_child, unsigned in_body, bool more_bodies = false) {
        const auto kernel = [&](cudag::GraphBuilder& b, unsigned cluster) {
            b.kernel({.grid = 4, .cluster = cluster}, count_threads, count.data(), count.data() + 1, 1U);
        };
        cudag::GraphBuilder inner;
        kernel(inner, in_child);
        cudag::GraphBuilder b;
        const cudag::Condition condition = b.condition(1);
        const auto body = [&](cudag::GraphBuilder& inside) { kernel(inside, in_body); };
        if (more_bodies)
            b.switch_(condition, {body, body});
        else
            b.switch_(condition, {body});
        add_child(b, std::move(inner).build());
        return std::move(b).build();
    };
    const cudag::Graph graph = nested(2, 2);
    cudag::Exec exec = graph.instantiate();
    CHECK(exec.update(nested(4, 2)).verdict() == cudag::UpdateVerdict::attributes_changed);
    CHECK(exec.update(nested(2, 4)).verdict() == cudag::UpdateVerdict::attributes_changed);
    CHECK(exec.update(nested(2, 2)).updated());
    CHECK_FALSE(exec.update(nested(2, 2, true)).updated());
    CHECK_FALSE(nested(2, 2, true).instantiate().update(graph).updated());
}

TEST_CASE("a captured graph that has been read is not updated to another cluster", "[capture][attributes]") {
    const auto count = device({0U, 0U});
    const auto captured = [&](unsigned cluster) {
        return cudag::capture(cudag::Stream(), [&](cudaStream_t s) {
            cudag::launch(s, {.grid = 4, .cluster = cluster}, count_threads, count.data(), count.data() + 1, 1U);
        });
    };
    const cudag::Graph before = captured(2);
    const cudag::Graph after = captured(4);
    CHECK(before.nodes().size() == after.nodes().size());
    CHECK(before.edges().size() == after.edges().size());
    cudag::Exec exec = before.instantiate();
    CHECK(exec.update(after).verdict() == cudag::UpdateVerdict::attributes_changed);
    CHECK(exec.update(captured(2)).updated());
}

namespace {

/// A kernel on its way through a stream, captured, which nobody has asked for.
cudag::Graph captured(const LaunchConfig& config) {
    return cudag::capture(cudag::Stream(), [&](cudag::StreamCapture& c) {
        c.step("kernel", [&](cudaStream_t s) { cudag::launch(s, config, nothing); });
    });
}

/// Adds a clone of `graph` to what is captured in a stream, as some libraries do.
void add_child(cudaStream_t stream, cudaGraph_t graph) {
    auto status = cudaStreamCaptureStatusNone;
    cudaGraph_t captured = nullptr;
#if CUDART_VERSION >= 13000
    cudag::check(cudaStreamGetCaptureInfo(stream, &status, nullptr, &captured, nullptr, nullptr, nullptr));
#else
    cudag::check(cudaStreamGetCaptureInfo_v2(stream, &status, nullptr, &captured, nullptr, nullptr));
#endif
    add_native_child(captured, {}, graph);
}

} // namespace

TEST_CASE("a captured graph that nobody has read is not updated to another cluster", "[capture][attributes]") {
    const auto refusal = [](unsigned before, unsigned after) {
        const cudag::Graph graph = captured({.grid = 8, .cluster = before});
        cudag::Exec exec = graph.instantiate();
        const cudag::UpdateReport report = exec.update(captured({.grid = 8, .cluster = after}));
        CHECK(report.verdict() == cudag::UpdateVerdict::attributes_changed);
        CHECK(report.needs_instantiate());
        REQUIRE(!report.differences().empty());
        CHECK(report.differences().front().field == "cluster");
        CHECK(exec.update(captured({.grid = 4, .cluster = before})).updated());
        return report.to_string();
    };
    CHECK_THAT(refusal(2, 1),
               ContainsSubstring("\"kernel\"") && ContainsSubstring("cluster is (2, 1, 1), the update's is (1, 1, 1)"));
    CHECK_THAT(refusal(1, 2), ContainsSubstring("cluster is (1, 1, 1), the update's is (2, 1, 1)"));
    CHECK_THAT(refusal(2, 4), ContainsSubstring("cluster is (2, 1, 1), the update's is (4, 1, 1)"));
}

TEST_CASE("a captured graph keeps its clusters through many updates", "[capture][attributes]") {
    const cudag::Graph first = captured({.grid = 8, .cluster = 2});
    const cudag::Graph second = captured({.grid = 8, .cluster = 2});
    const cudag::Graph other = captured({.grid = 8});
    cudag::Exec exec = first.instantiate();
    for (int i = 0; i < 3; ++i) {
        CHECK(exec.update(second).updated());
        CHECK(exec.update(other).verdict() == cudag::UpdateVerdict::attributes_changed);
        CHECK(exec.update(first).updated());
    }
}

TEST_CASE("another cluster is refused after any number of captures, by order and by structure",
          "[capture][attributes]") {
    for (const cudag::Match match : {cudag::Match::order, cudag::Match::structure}) {
        cudag::Exec exec = captured({.grid = 8, .cluster = 2}).instantiate();
        for (unsigned i = 0; i < 3; ++i) {
            CHECK(exec.update(captured({.grid = 2 * i + 2, .cluster = 2}), {.match = match}).updated());
            const cudag::UpdateReport report = exec.update(captured({.grid = 8}), {.match = match});
            CHECK(report.verdict() == cudag::UpdateVerdict::attributes_changed);
            CHECK_THAT(report.to_string(), ContainsSubstring("(2, 1, 1)") && ContainsSubstring("(1, 1, 1)"));
        }
    }
}

TEST_CASE("other kinds are refused by name after any number of captures", "[capture][update]") {
    const auto cells = device({0, 0});
    const auto made = [&](bool is_swapped, bool is_longer = false) {
        return cudag::capture(cudag::Stream(), [&](cudag::StreamCapture& c) {
            if (is_swapped) cudag::check(cudaMemsetAsync(cells.data(), 0, sizeof(int), c.stream()));
            cudag::launch(c.stream(), {}, store, cells.data(), 1);
            if (!is_swapped) cudag::check(cudaMemsetAsync(cells.data() + 1, 0, sizeof(int), c.stream()));
            if (is_longer) cudag::launch(c.stream(), {}, store, cells.data(), 2);
        });
    };
    cudag::Exec exec = made(false).instantiate();
    for (int i = 0; i < 3; ++i) {
        CHECK(exec.update(made(false)).updated());
        const cudag::UpdateReport report = exec.update(made(true));
        CHECK(report.verdict() == cudag::UpdateVerdict::node_kind_changed);
        CHECK_THAT(report.to_string(), ContainsSubstring("kind: kernel -> memset"));
        CHECK(exec.update(made(false, true)).verdict() == cudag::UpdateVerdict::topology_changed);
    }
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("clusters of captured kernels are not compared where the caller knows them", "[capture][attributes]") {
    const cudag::Graph graph = captured({.grid = 8, .cluster = 2});
    cudag::Exec exec = graph.instantiate();
    CHECK(exec.update(captured({.grid = 8}), {.trust_attributes = true}).updated()); // CUDA says so, and keeps them
}

TEST_CASE("an update to another shared-memory carveout is refused", "[exec][attributes]") {
    if (older_than(12050)) return;
    const auto built = [](const LaunchConfig& config) {
        cudag::GraphBuilder b;
        b.kernel(config, nothing).label("kernel");
        return std::move(b).build();
    };
    for (const bool captures : {false, true}) {
        const auto make = [&](const LaunchConfig& config) { return captures ? captured(config) : built(config); };
        CAPTURE(captures);
        const cudag::Graph half = make({.preferred_shared_memory_carveout = 50});
        cudag::Exec exec = half.instantiate();
        const cudag::Graph none = make({});
        CHECK_THAT(exec.update(none).to_string(),
                   ContainsSubstring("preferred_shared_memory_carveout is 50, the update's is default"));
        CHECK_FALSE(exec.update(make({.preferred_shared_memory_carveout = 100})).updated());
        CHECK(exec.update(make({.preferred_shared_memory_carveout = 50})).updated());
        cudag::Exec plain = none.instantiate();
        CHECK(plain.update(half).verdict() == cudag::UpdateVerdict::attributes_changed);
    }
}

TEST_CASE("an update by a captured graph with a child of another cluster is refused", "[capture][attributes]") {
    const auto with_child = [](unsigned cluster) {
        const cudag::Graph inner = captured({.grid = 8, .cluster = cluster});
        return cudag::capture(cudag::Stream(), [&](cudaStream_t s) { add_child(s, inner.native()); });
    };
    const cudag::Graph graph = with_child(2);
    cudag::Exec exec = graph.instantiate();
    CHECK(exec.update(with_child(4)).verdict() == cudag::UpdateVerdict::attributes_changed);
    CHECK(exec.update(with_child(2)).updated());
}

TEST_CASE("diff names the attributes in which kernel nodes differ", "[graph][attributes]") {
    const Sample before({.grid = 4, .block = 32, .cluster = 2});
    const Sample after({.grid = 4, .block = 32, .priority = -1});
    const auto all = cudag::diff(before.graph, after.graph);
    std::vector<std::vector<std::string>> attributes;
    for (const cudag::Difference& difference : all)
        if (difference.kind == cudag::DifferenceKind::attribute)
            attributes.push_back({difference.field, difference.old_value, difference.new_value});
    CHECK(attributes ==
          std::vector<std::vector<std::string>>{{"cluster", "(2, 1, 1)", "(1, 1, 1)"}, {"priority", "0", "-1"}});
}
