// Updates of 2D and 3D copies and fills: what CUDA cannot do is refused by name.
#include "test.hpp"

using cudag::DeviceBuffer;
using cudag::DeviceSpan2D;
using cudag::DeviceSpan3D;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::HostSpan2D;
using cudag::Stream;
using cudag::UpdateError;

namespace {

constexpr std::size_t pitch = 4 * sizeof(int);

/// Two rows of two ints copied, two rows of two and one row of four filled.
struct Sample {
    DeviceBuffer<int> from = device({1, 2, 3, 4});
    DeviceBuffer<int> to = device(std::vector<int>(8, 0));
    DeviceBuffer<int> filled = device(std::vector<int>(8, 0));
    DeviceBuffer<int> row = device(std::vector<int>(4, 0));
    cudag::MemcpyNode block;
    cudag::MemcpyNode range;
    cudag::MemsetNode rows;
    cudag::MemsetNode one;
    Graph graph = build();
    Exec exec = graph.instantiate();
    Stream stream;

    DeviceSpan2D<int> source() const { return {from, 2, 2}; }
    DeviceSpan2D<int> target() const { return {to, 2, 2, pitch}; }

    template <class Update>
    UpdateError refusal(const cudag::Node& node, Update&& update) {
        const auto error = refused<UpdateError>(update);
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK(error.labels() == Labels{std::string(node.label())});
        CHECK_THAT(error.what(), ContainsSubstring("\"" + std::string(node.label()) + "\""));
        CHECK(error.operation().empty());
        check_launch();
        return error;
    }

    void check_launch() {
        for (const DeviceBuffer<int>* memory : {&to, &filled, &row})
            cudag::check(cudaMemset(memory->data(), 0, memory->size_bytes()));
        cudag::check(cudaDeviceSynchronize());
        run(exec, stream);
        CHECK(read(to) == std::vector{1, 2, 0, 0, 3, 4, 0, 0});
        CHECK(read(filled) == std::vector{5, 5, 0, 0, 5, 5, 0, 0});
        CHECK(read(row) == std::vector{6, 6, 1, 2});
    }

  private:
    Graph build() {
        GraphBuilder b;
        block = b.memcpy2d(target(), source()).label("block");
        range = b.memcpy(row.span().subspan(2, 2), from.span().subspan(0, 2)).label("range").after(block);
        rows = b.memset2d(DeviceSpan2D<int>(filled, 2, 2, pitch), 5).label("rows");
        one = b.memset(row.span().subspan(0, 2), 6).label("one");
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("an exec refuses to update a 2D copy, as CUDA does", "[exec][update][2d]") {
    Sample s;
    const auto error = s.refusal(s.block, [&] { s.exec.update(s.block, s.source(), s.target()); });
    CHECK_THAT(error.what(), ContainsSubstring("CUDA updates 1D copies only") && ContainsSubstring("Graph::update"));
    const auto range = s.refusal(s.block, [&] { s.exec.update(s.block, s.to, s.filled); });
    CHECK_THAT(range.what(), ContainsSubstring("CUDA updates 1D copies only"));
}

TEST_CASE("an exec refuses to make a 1D copy a 2D or 3D one", "[exec][update][2d]") {
    Sample s;
    const auto two = s.refusal(s.range, [&] { s.exec.update(s.range, s.target(), s.source()); });
    CHECK_THAT(two.what(), ContainsSubstring("CUDA updates 1D copies only"));
    const DeviceSpan3D<int> box(s.to, 2, 2, 2);
    const auto three = s.refusal(s.range, [&] { s.exec.update(s.range, box, box); });
    CHECK_THAT(three.what(), ContainsSubstring("CUDA updates 1D copies only"));
}

TEST_CASE("an update to regions that are no copy is refused for what is wrong with them", "[exec][update][2d]") {
    Sample s;
    const auto error = s.refusal(s.block, [&] { s.exec.update(s.block, s.target(), DeviceSpan2D<int>(s.from, 2, 1)); });
    CHECK_THAT(error.what(), ContainsSubstring("the destination is 2 x 2 x 1 elements, the source 2 x 1 x 1"));
    const auto graph =
        s.refusal(s.block, [&] { s.graph.update(s.block, DeviceSpan2D<int>(s.to, 2, 2, 1), s.source()); });
    CHECK_THAT(graph.what(), ContainsSubstring("the destination's pitch is 1 bytes"));
}

TEST_CASE("a graph's 2D copy gets other regions, for execs made from now on", "[graph][update][2d]") {
    Sample s;
    s.graph.update(s.block, DeviceSpan2D<int>(s.to, 1, 2), DeviceSpan2D<int>(s.from, 2, 2).subspan(1, 0, 1, 2));
    s.check_launch();
    Exec later = s.graph.instantiate();
    cudag::check(cudaMemset(s.to.data(), 0, s.to.size_bytes()));
    cudag::check(cudaDeviceSynchronize());
    run(later, s.stream);
    CHECK(read(s.to) == std::vector{2, 4, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("a graph's 2D copy may change its direction and become a 3D one", "[graph][update][2d][3d]") {
    Sample s;
    std::vector<int> host(4, 9);
    s.graph.update(s.block, HostSpan2D<int>(host, 2, 2), s.source());
    Exec down = s.graph.instantiate();
    run(down, s.stream);
    CHECK(host == std::vector{1, 2, 3, 4});
    s.graph.update(s.block, DeviceSpan3D<int>(s.to, 1, 2, 2), DeviceSpan3D<int>(s.from, 1, 2, 2));
    Exec box = s.graph.instantiate();
    run(box, s.stream);
    CHECK(read(s.to) == std::vector{1, 2, 3, 4, 0, 0, 0, 0});
}

TEST_CASE("apply refuses a changed 2D copy by its label, and applies nothing", "[exec][apply][2d]") {
    Sample s;
    s.graph.update(s.one, s.row.span().subspan(0, 1), 7);
    s.graph.update(s.block, s.source(), s.target());
    const auto error = s.refusal(s.block, [&] { s.exec.apply(s.graph); });
    CHECK_THAT(error.what(),
               ContainsSubstring("apply: memcpy \"block\"") && ContainsSubstring("CUDA updates 1D copies only"));
}

TEST_CASE("a graph's copies of ranges and of regions stay what they are", "[graph][update][2d]") {
    Sample s;
    const auto regions = s.refusal(s.range, [&] { s.graph.update(s.range, s.target(), s.source()); });
    CHECK_THAT(regions.what(),
               ContainsSubstring("the node copies a range, the update gives regions") && ContainsSubstring("memcpy2d"));
    const auto range = s.refusal(s.block, [&] { s.graph.update(s.block, s.to, s.filled); });
    CHECK_THAT(range.what(), ContainsSubstring("the node copies regions, the update gives ranges"));
    CHECK(s.exec.apply(s.graph) == 0);
}

TEST_CASE("a 2D copy that was changed back is no change to apply", "[exec][apply][2d]") {
    Sample s;
    s.graph.update(s.block, s.source(), s.target());
    s.graph.update(s.block, s.target(), s.source());
    CHECK_NOTHROW(s.exec.apply(s.graph));
    s.check_launch();
}

TEST_CASE("the update of a whole graph refuses other regions by field, with both values", "[exec][update][whole][2d]") {
    Sample s;
    Graph other = s.graph.clone();
    other.update(other.counterpart(s.block), DeviceSpan2D<int>(s.to, 1, 2), DeviceSpan2D<int>(s.from, 1, 2, 8));
    const auto report = s.exec.update(other);
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.to_string(), ContainsSubstring("memcpy \"block\"") &&
                                       ContainsSubstring("destination pitch: 16 -> 4") &&
                                       ContainsSubstring("extent: 8 x 2 x 1 -> 4 x 2 x 1"));
    CHECK_THAT(report.to_string(), !ContainsSubstring("source"));
    s.check_launch();
}

TEST_CASE("the update of a whole graph takes equal regions beside what changed", "[exec][update][whole][2d]") {
    Sample s;
    Graph other = s.graph.clone();
    other.update(other.counterpart(s.rows), DeviceSpan2D<int>(s.filled, 2, 2, pitch), 9);
    CHECK(s.exec.update(other).updated());
    run(s.exec, s.stream);
    CHECK(read(s.to) == std::vector{1, 2, 0, 0, 3, 4, 0, 0});
    CHECK(read(s.filled) == std::vector{9, 9, 0, 0, 9, 9, 0, 0});
}

TEST_CASE("the update of a whole graph refuses another shape of a 2D memset by field", "[exec][update][whole][2d]") {
    Sample s;
    Graph other = s.graph.clone();
    other.update(other.counterpart(s.rows), DeviceSpan2D<int>(s.filled, 1, 2, 8), 5);
    const auto report = s.exec.update(other);
    CHECK(report.needs_instantiate());
    CHECK_THAT(report.to_string(), ContainsSubstring("memset \"rows\"") && ContainsSubstring("elements: 2 -> 1") &&
                                       ContainsSubstring("pitch: 16 -> 8"));
    s.check_launch();
}

TEST_CASE("the update of a whole graph that changes a 2D copy's direction is refused by name",
          "[exec][update][whole][2d]") {
    Sample s;
    Graph other = s.graph.clone();
    std::vector<int> host(4);
    other.update(other.counterpart(s.block), HostSpan2D<int>(host, 2, 2), s.source());
    const auto report = s.exec.update(other);
    CHECK_FALSE(report.updated());
    CHECK_THAT(report.to_string(), ContainsSubstring("memcpy \"block\"") && ContainsSubstring("direction") &&
                                       ContainsSubstring("device to host"));
    s.check_launch();
}

TEST_CASE("the update of a whole graph from a range to regions is taken or refused as one",
          "[exec][update][whole][2d]") {
    const auto from = device({1, 2, 3, 4});
    const auto to = device(std::vector<int>(4, 0));
    GraphBuilder first;
    const auto node = first.memcpy(to.span().subspan(0, 1), from.span().subspan(0, 1)).label("copy");
    GraphBuilder second;
    second.memcpy2d(DeviceSpan2D<int>(to, 1, 2, 8), DeviceSpan2D<int>(from, 1, 2, 8));
    const Graph graph = std::move(first).build();
    Exec exec = graph.instantiate();
    const bool taken = exec.update(std::move(second).build()).updated();
    const Stream stream;
    run(exec, stream);
    CHECK(read(to) == (taken ? std::vector{1, 0, 3, 0} : std::vector{1, 0, 0, 0}));
    if (taken)
        CHECK_THROWS_AS(exec.update(node, to, from), UpdateError);
    else
        CHECK_NOTHROW(exec.update(node, to, from));
}

TEST_CASE("a 2D memset gets another address and value", "[exec][update][2d]") {
    Sample s;
    s.exec.update(s.rows, DeviceSpan2D<int>(s.filled, 4, 2).subspan(2, 0, 2, 2), 7);
    run(s.exec, s.stream);
    CHECK(read(s.filled) == std::vector{0, 0, 7, 7, 0, 0, 7, 7});
}

TEST_CASE("a 2D memset keeps its height, width and pitch in an exec", "[exec][update][2d]") {
    Sample s;
    const auto with = [&](std::size_t width, std::size_t height, std::size_t with_pitch) {
        const DeviceSpan2D<int> rows(s.filled.data(), width, height, with_pitch);
        return std::string(s.refusal(s.rows, [&] { s.exec.update(s.rows, rows, 7); }).what());
    };
    CHECK_THAT(with(2, 1, pitch), ContainsSubstring("the memset has 2 rows, the update 1"));
    CHECK_THAT(with(1, 2, pitch), ContainsSubstring("the width of the 2D memset is 2, the update's 1"));
    CHECK_THAT(with(2, 2, 8), ContainsSubstring("the pitch of the 2D memset is 16, the update's 8"));
    const auto range = s.refusal(s.rows, [&] { s.exec.update(s.rows, s.filled, 7); });
    CHECK_THAT(range.what(), ContainsSubstring("the memset has 2 rows, the update 1"));
}

TEST_CASE("a 2D memset keeps the size of its elements in an exec", "[exec][update][2d]") {
    Sample s;
    const auto bytes = reinterpret_cast<unsigned char*>(s.filled.data());
    const DeviceSpan2D<unsigned char> rows(bytes, 2, 2, pitch);
    const auto error = s.refusal(s.rows, [&] { s.exec.update(s.rows, rows, 7); });
    CHECK_THAT(error.what(), ContainsSubstring("the element size of the 2D memset is 4, the update's 1"));
}

TEST_CASE("a memset of one row stays one in an exec, of any width", "[exec][update][2d]") {
    Sample s;
    const auto error = s.refusal(s.one, [&] { s.exec.update(s.one, DeviceSpan2D<int>(s.row, 2, 2), 7); });
    CHECK_THAT(error.what(), ContainsSubstring("the memset has 1 rows, the update 2"));
    s.exec.update(s.one, DeviceSpan2D<int>(s.row, 1, 1), 7);
    run(s.exec, s.stream);
    CHECK(read(s.row) == std::vector{7, 6, 1, 2});
}

TEST_CASE("an update of a 2D memset to a pitch that is none is refused", "[exec][update][2d]") {
    Sample s;
    const auto narrow = s.refusal(s.rows, [&] { s.exec.update(s.rows, DeviceSpan2D<int>(s.filled, 2, 2, 4), 7); });
    CHECK_THAT(narrow.what(), ContainsSubstring("the pitch is 4 bytes"));
}

TEST_CASE("a graph's memset may change its shape; apply then refuses by name", "[graph][update][2d]") {
    Sample s;
    s.graph.update(s.rows, DeviceSpan2D<int>(s.filled, 3, 2), 7);
    const auto error = s.refusal(s.rows, [&] { s.exec.apply(s.graph); });
    CHECK_THAT(error.what(), ContainsSubstring("apply: ") && ContainsSubstring("the width of the 2D memset is 2"));
    s.graph.update(s.rows, s.filled, 8);
    Exec later = s.graph.instantiate();
    run(later, s.stream);
    CHECK(read(s.filled) == std::vector<int>(8, 8));
}

TEST_CASE("a changed value of a 2D memset is applied", "[exec][apply][2d]") {
    Sample s;
    s.graph.update(s.rows, DeviceSpan2D<int>(s.filled, 2, 2, pitch), 9);
    CHECK(s.exec.apply(s.graph) == 1);
    run(s.exec, s.stream);
    CHECK(read(s.filled) == std::vector{9, 9, 0, 0, 9, 9, 0, 0});
}

TEST_CASE("a 2D copy is enabled and disabled", "[exec][enable][2d]") {
    Sample s;
    s.exec.disable(s.block);
    run(s.exec, s.stream);
    CHECK(read(s.to) == std::vector<int>(8, 0));
    s.exec.enable(s.block);
    s.check_launch();
}
