// Updates that are refused: UpdateError by label, and the exec launches as it did before.
#include "cuda_version.hpp"
#include "test.hpp"

using cudag::arg;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::LaunchConfig;
using cudag::Stream;
using cudag::UpdateError;

namespace {

/// A node of every kind; each leaves a trace.
struct Sample {
    DeviceBuffer<int> cells = device({0, 0, 0, 0});
    DeviceBuffer<int> source = device({50, 60});
    std::vector<int> host = std::vector<int>(2);
    int calls = 0;
    cudag::KernelNode<int*, int> kernel;
    cudag::MemcpyNode memcpy;
    cudag::MemsetNode memset;
    cudag::HostNode function;
    Graph graph = build();
    Exec exec = graph.instantiate();
    Stream stream;

    /// What `update()` is refused with. What `update` had in force before, still is.
    template <class Update>
    UpdateError refusal(const cudag::Node& node, Update&& update) {
        const auto error = refused<UpdateError>(update);
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK(error.labels() == Labels{std::string(node.label())});
        CHECK(error.location().line == node.location().line);
        CHECK_THAT(error.what(), ContainsSubstring("\"" + std::string(node.label()) + "\""));
        check_launch();
        return error;
    }

    void check_launch() {
        calls = 0;
        write(cells.span(), {0, 0, 0, 0});
        run(exec, stream);
        CHECK(read(cells) == std::vector{11, 22, 50, 60});
        CHECK(calls == 1);
    }

  private:
    Graph build() {
        GraphBuilder b;
        kernel = b.kernel({}, store, part(0, 1), 11).label("fill");
        memset = b.memset(part(1, 1), 22).label("clear").after(kernel);
        memcpy = b.memcpy(part(2, 2), source).label("copy").after(memset);
        function = b.host([this] { ++calls; }).label("call");
        return std::move(b).build();
    }

  public:
    DeviceSpan<int> part(std::size_t offset, std::size_t count) const { return cells.span().subspan(offset, count); }
};

} // namespace

TEST_CASE("a launch beyond CUDA's limits is refused with the limit", "[exec][update]") {
    Sample s;
    const auto block = s.refusal(s.kernel, [&] { s.exec.update(s.kernel, LaunchConfig{.block = 2048}, s.cells, 1); });
    CHECK_THAT(block.operation(), StartsWith("cuGraphExec")); // "KernelNodeSetParams", or "NodeSetParams"
    CHECK_THAT(block.what(), ContainsSubstring("block.x is 2048") && ContainsSubstring("1024"));
    CHECK(block.log().empty() == !has_log());
    const auto grid = s.refusal(s.kernel, [&] { s.exec.update(s.kernel, LaunchConfig{.grid = 0}); });
    CHECK_THAT(grid.what(), ContainsSubstring("grid.x is 0"));
    const auto shared = s.refusal(s.kernel, [&] { s.exec.update(s.kernel, LaunchConfig{.shared_bytes = 1 << 20}); });
    CHECK_THAT(shared.what(),
               ContainsSubstring("1048576 bytes of dynamic shared memory") && ContainsSubstring("49152"));
}

TEST_CASE("a refused configuration does not come with the next update", "[exec][update]") {
    Sample s;
    s.refusal(s.kernel, [&] { s.exec.update(s.kernel, LaunchConfig{.block = 2048}, s.cells, 1); });
    s.exec.update(s.kernel, arg<1>(33));
    run(s.exec, s.stream);
    CHECK(read(s.cells)[0] == 33);
}

TEST_CASE("an update refuses a number that does not fit", "[exec][update]") {
    Sample s;
    const auto all = s.refusal(s.kernel, [&] { s.exec.update(s.kernel, s.cells, 1LL << 40U); });
    CHECK_THAT(all.what(), ContainsSubstring("argument 1: 1099511627776 "));
    const auto one = s.refusal(s.kernel, [&] { s.exec.update(s.kernel, arg<1>(3000000000U)); });
    CHECK_THAT(one.what(), ContainsSubstring("argument 1: 3000000000 "));
    const auto value = s.refusal(s.memset, [&] { s.exec.update(s.memset, s.part(1, 1), 1LL << 40U); });
    CHECK_THAT(value.what(), ContainsSubstring("1099511627776"));
}

TEST_CASE("a copy of other sizes is refused", "[exec][update]") {
    Sample s;
    const auto error = s.refusal(s.memcpy, [&] { s.exec.update(s.memcpy, s.part(0, 3), s.source); });
    CHECK_THAT(error.what(), ContainsSubstring("destination has 3 elements") && ContainsSubstring("source 2"));
    CHECK(error.operation().empty());
}

TEST_CASE("a copy of nothing, or of null, is refused", "[exec][update]") {
    Sample s;
    const DeviceBuffer<int> empty(0);
    CHECK_THAT(s.refusal(s.memcpy, [&] { s.exec.update(s.memcpy, empty, empty); }).what(),
               ContainsSubstring("0 elements"));
    CHECK_THAT(s.refusal(s.memcpy, [&] { s.exec.update(s.memcpy, s.cells, DeviceSpan<int>(nullptr, 4)); }).what(),
               ContainsSubstring("source is null"));
}

TEST_CASE("a copy cannot change its direction", "[exec][update]") {
    Sample s;
    const auto error = s.refusal(s.memcpy, [&] { s.exec.update(s.memcpy, s.host, s.source); });
    CHECK_THAT(error.what(), ContainsSubstring("device to device") && ContainsSubstring("device to host"));
    CHECK(error.operation().empty());
}

TEST_CASE("a memset of nothing, or of null, is refused", "[exec][update]") {
    Sample s;
    CHECK_THAT(s.refusal(s.memset, [&] { s.exec.update(s.memset, s.part(0, 0), 1); }).what(),
               ContainsSubstring("0 elements"));
    CHECK_THAT(s.refusal(s.memset, [&] { s.exec.update(s.memset, DeviceSpan<int>(nullptr, 1), 1); }).what(),
               ContainsSubstring("null"));
}

TEST_CASE("memory that CUDA does not know is refused by CUDA", "[exec][update]") {
    Sample s;
    const DeviceSpan<int> wrong(s.host.data(), 2);
    const auto copy = s.refusal(s.memcpy, [&] { s.exec.update(s.memcpy, wrong, s.source); });
    CHECK(copy.operation() == "cudaGraphExecMemcpyNodeSetParams1D");
    CHECK(copy.log().empty() == !has_log());
    const auto set = s.refusal(s.memset, [&] { s.exec.update(s.memset, wrong, 1); });
    CHECK_THAT(set.operation(), StartsWith("cudaGraphExec")); // "MemsetNodeSetParams", or "NodeSetParams"
    CHECK(set.log().empty() == !has_log());
}

TEST_CASE("a node of another graph is refused by its label", "[exec][update]") {
    Sample s;
    const Sample other;
    const auto check = [&](const cudag::Node& node, auto&& update) {
        const auto error = s.refusal(node, update);
        CHECK_THAT(error.what(), ContainsSubstring("does not belong"));
    };
    check(other.kernel, [&] { s.exec.update(other.kernel, s.cells, 1); });
    check(other.kernel, [&] { s.exec.update(other.kernel, arg<1>(1)); });
    check(other.memcpy, [&] { s.exec.update(other.memcpy, s.part(2, 2), s.source); });
    check(other.memset, [&] { s.exec.update(other.memset, s.part(1, 1), 1); });
    check(other.function, [&] { s.exec.update(other.function, [] {}); });
    check(other.kernel, [&] { s.exec.disable(other.kernel); });
    check(other.kernel, [&] { s.exec.enable(other.kernel); });
    check(other.kernel, [&] { static_cast<void>(s.exec.is_enabled(other.kernel)); });
}

TEST_CASE("an empty or dead handle is refused by an update", "[exec][update]") {
    Sample s;
    const auto dead = [] { return Sample().memset; }();
    CHECK_THAT(refused<cudag::GraphError>([&] { s.exec.update(dead, s.cells, 1); }).what(),
               ContainsSubstring("no longer exists"));
    CHECK_THAT(refused<cudag::GraphError>([&] { s.exec.update(cudag::MemsetNode(), s.cells, 1); }).what(),
               ContainsSubstring("empty node handle"));
    s.check_launch();
}
