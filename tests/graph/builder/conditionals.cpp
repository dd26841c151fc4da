// Conditionals: which bodies run, and how often.
#include <functional>
#include <optional>

#include "conditional_kernels.hpp"
#include "cuda_version.hpp"
#include "native.hpp"

using cudag::Condition;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::IfNode;
using cudag::Node;
using cudag::Stream;
using cudag::SwitchNode;
using cudag::WhileNode;

namespace {

/// A body that adds `value` to *cell.
auto adds(int* cell, int value) {
    return [=](GraphBuilder& body) { body.kernel({}, add, cell, cell, value); };
}

} // namespace

TEST_CASE("an if runs its body if its condition is not 0", "[conditional][if]") {
    const auto value = GENERATE(0, 1, 7);
    const auto cells = device({value, 0});
    GraphBuilder b;
    const Condition condition = b.condition(0);
    const auto set = b.kernel({}, set_from, condition, cells.data());
    const auto node = b.if_(condition, adds(cells.data() + 1, 10)).after(set);
    b.kernel({}, add, cells.data() + 1, cells.data() + 1, 100).after(node);
    run(std::move(b));
    CHECK(read(cells) == std::vector{value, value != 0 ? 110 : 100});
}

TEST_CASE("an if with an else runs one of them", "[conditional][if]") {
    if (older_than(12080)) return;
    const auto value = GENERATE(0, 1);
    const auto cell = device({0});
    GraphBuilder b;
    const Condition condition = b.condition();
    const auto set = b.kernel({}, set_condition, condition, value);
    const auto node = b.if_(condition, adds(cell.data(), 10), adds(cell.data(), 20)).after(set);
    CHECK(node.has_else());
    run(std::move(b));
    CHECK(read(cell) == std::vector{value != 0 ? 10 : 20});
}

TEST_CASE("a condition is its initial value at each launch", "[conditional]") {
    const auto cell = device({0});
    GraphBuilder b;
    const Condition condition = b.condition(1);
    const auto node = b.if_(condition, adds(cell.data(), 1));
    b.kernel({}, set_condition, condition, 0).after(node);
    Exec exec = std::move(b).build().instantiate();
    const Stream stream;
    run(exec, stream);
    run(exec, stream);
    CHECK(read(cell) == std::vector{2});
}

TEST_CASE("a while runs its body as long as its condition is not 0", "[conditional][while]") {
    const auto turns = GENERATE(1, 2, 10);
    const auto cells = device({turns, 0});
    GraphBuilder b;
    const Condition more = b.condition(1);
    const auto loop = b.while_(more, [&](GraphBuilder& body) {
        const auto step = body.kernel({}, add, cells.data() + 1, cells.data() + 1, 3);
        body.kernel({}, count_down, cells, more).after(step);
    });
    b.kernel({}, add, cells.data() + 1, cells.data() + 1, 1000).after(loop);
    run(std::move(b));
    CHECK(read(cells) == std::vector{0, 3 * turns + 1000});
}

TEST_CASE("a while whose condition starts at 0 runs no time", "[conditional][while]") {
    const auto cell = device({5});
    GraphBuilder b;
    const Condition more = b.condition(0);
    b.while_(more, [&](GraphBuilder& body) { body.kernel({}, count_down, cell, more); });
    run(std::move(b));
    CHECK(read(cell) == std::vector{5});
}

TEST_CASE("a switch runs the body of its condition's number, or none", "[conditional][switch]") {
    if (older_than(12080)) return;
    const auto value = GENERATE(0, 1, 2, 3, 1000);
    const auto cells = device({value, 0});
    GraphBuilder b;
    const Condition choice = b.condition();
    const auto set = b.kernel({}, set_from, choice, cells.data());
    int* out = cells.data() + 1;
    const auto node = b.switch_(choice, {adds(out, 10), adds(out, 20), adds(out, 30)}).after(set);
    CHECK(node.body_count() == 3);
    run(std::move(b));
    CHECK(read(cells) == std::vector{value, value < 3 ? 10 * (value + 1) : 0});
}

TEST_CASE("a switch takes any range of functions", "[conditional][switch]") {
    if (older_than(12080)) return;
    const auto cell = device({0});
    GraphBuilder b;
    const Condition choice = b.condition(4);
    std::vector<std::function<void(GraphBuilder&)>> bodies;
    for (int i = 0; i < 6; ++i)
        bodies.emplace_back(adds(cell.data(), 1 << i));
    const auto node = b.switch_(choice, bodies);
    CHECK(node.body_count() == 6);
    run(std::move(b));
    CHECK(read(cell) == std::vector{16});
}

namespace {
int* plain_cell = nullptr;
void plain_body(GraphBuilder& body) {
    body.kernel({}, store, plain_cell, 3);
}
} // namespace

TEST_CASE("a plain function can be a body", "[conditional]") {
    const auto cell = device({0});
    plain_cell = cell.data();
    GraphBuilder b;
    b.if_(b.condition(1), plain_body);
    b.if_(b.condition(0), &plain_body);
    run(std::move(b));
    CHECK(read(cell) == std::vector{3});
}

TEST_CASE("edges order the nodes of a body", "[conditional][edges]") {
    const auto cells = device({0, 0, 0});
    GraphBuilder b;
    const auto node = b.if_(b.condition(1), [&](GraphBuilder& body) {
        const auto last = body.kernel({}, add, cells.data() + 2, cells.data() + 1, 1);
        const auto middle = body.kernel({}, add, cells.data() + 1, cells.data(), 1);
        const auto first = body.kernel({}, store, cells, 1);
        last.after(body.join(middle));
        middle.after(first);
    });
    const Graph graph = std::move(b).build();
    CHECK(node.body().edge_count() == 3);
    Exec exec = graph.instantiate();
    run(exec, Stream());
    CHECK(read(cells) == std::vector{1, 2, 3});
}

TEST_CASE("a body takes copies, fills and children", "[conditional]") {
    const auto cells = device({0, 0, 0});
    const cudag::PinnedBuffer<int> host(3);
    const cudag::PinnedBuffer<int> up(1);
    up[0] = 9;
    GraphBuilder inner;
    inner.kernel({}, store, cells.data() + 2, 5);
    const Graph child = std::move(inner).build();
    GraphBuilder b;
    const auto node = b.if_(b.condition(1), [&](GraphBuilder& body) {
        const auto fill = body.memset(cudag::DeviceSpan<int>(cells.data(), 1), 4);
        const auto copy = body.memcpy(cudag::DeviceSpan<int>(cells.data() + 1, 1), up);
        const auto part = body.child(child);
        body.memcpy(host, cells).after(fill, copy, part);
    });
    static_cast<void>(node);
    run(std::move(b));
    CHECK(std::vector<int>(host.begin(), host.end()) == std::vector{4, 9, 5});
}

TEST_CASE("empty bodies do nothing", "[conditional]") {
    if (older_than(12080)) return;
    const auto cell = device({0});
    const auto nothing_at_all = [](GraphBuilder&) {};
    GraphBuilder b;
    const auto one = b.if_(b.condition(1), nothing_at_all, nothing_at_all);
    const auto two = b.while_(b.condition(0), nothing_at_all).after(one);
    const auto three = b.switch_(b.condition(0), {nothing_at_all}).after(two);
    b.kernel({}, store, cell, 1).after(three);
    run(std::move(b));
    CHECK(read(cell) == std::vector{1});
}

TEST_CASE("conditionals are nodes with bodies to look at", "[conditional][nodes]") {
    if (older_than(12080)) return;
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const Condition first = b.condition(1);
    const Condition second = b.condition(0);
    Node inside;
    const auto branch = b.if_(first, [&](GraphBuilder& body) {
                             inside = body.kernel({}, store, cell, 1).label("then");
                         }).label("branch");
    const auto loop = b.while_(second, [](GraphBuilder&) {}).label("loop").after(branch);
    const Graph graph = std::move(b).build();
    CHECK(graph.node_count() == 2);
    CHECK(branch.kind() == cudag::NodeKind::conditional);
    CHECK(native_type(branch) == cudaGraphNodeTypeConditional);
    CHECK(graph.nodes()[0].as<IfNode>() == branch);
    CHECK(graph.nodes()[1].as<WhileNode>() == loop);
    CHECK_FALSE(branch.has_else());
    CHECK(branch.body().nodes() == std::vector{inside});
    CHECK(loop.body().node_count() == 0);
    CHECK(graph.find("then") == std::vector{inside});
    CHECK(graph.find(store).size() == 1);
    CHECK(native_nodes(branch.body().native()) == std::vector{inside.native()});

    const auto wrong = refused<cudag::GraphError>([&] { static_cast<void>(graph.nodes()[0].as<SwitchNode>()); });
    CHECK_THAT(wrong.what(), ContainsSubstring("if \"branch\"") && ContainsSubstring("it is no switch node"));
    const auto none = refused<cudag::GraphError>([&] { static_cast<void>(branch.else_body()); });
    CHECK_THAT(none.what(), ContainsSubstring("there is no graph 1 inside it"));
}

TEST_CASE("DOT text draws the bodies of conditionals as clusters", "[conditional][dot]") {
    if (older_than(12080)) return;
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const auto body = adds(cell.data(), 1);
    const auto branch = b.if_(b.condition(1), body, body);
    const auto choice = b.switch_(b.condition(1), {body, body}).after(branch);
    b.while_(b.condition(0), body).after(choice);
    const std::string dot = std::move(b).build().dot();
    for (const char* label : {"\"then\"", "\"else\"", "\"case 0\"", "\"case 1\"", "\"body\"", "label=\"while\"",
                              "label=\"if\"", "label=\"switch\"", "subgraph cluster_n0_1", "n0 -> n1;"})
        CHECK_THAT(dot, ContainsSubstring(label));
}

TEST_CASE("a cluster in DOT text has a title of its own, or none", "[conditional][dot]") {
    if (older_than(12080)) return;
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    b.if_(b.condition(1), [&](GraphBuilder& then) {
        then.switch_(then.condition(0), {adds(cell.data(), 1), [&](GraphBuilder& second) {
                                             GraphBuilder inner;
                                             inner.kernel({}, store, cell, 1);
                                             const Graph child = std::move(inner).build();
                                             second.child(child);
                                         }});
    });
    const std::string dot = std::move(b).build().dot();
    std::size_t clusters = 0;
    for (std::size_t at = dot.find("subgraph"); at != std::string::npos; at = dot.find("subgraph", at + 1)) {
        const std::size_t next_line = dot.find('\n', at) + 1;
        CHECK_THAT(dot.substr(dot.find_first_not_of(' ', next_line), 6), Equals("label="));
        ++clusters;
    }
    CHECK(clusters == 7); // of three nodes, and of the graphs inside: one, two and one
}

TEST_CASE("an exec updates, disables and enables nodes of bodies", "[conditional][exec]") {
    const auto cells = device({3, 0});
    GraphBuilder b;
    const Condition more = b.condition(1);
    std::optional<cudag::KernelNode<int*, const int*, int>> step;
    b.while_(more, [&](GraphBuilder& body) {
        step = body.kernel({}, add, cells.data() + 1, cells.data() + 1, 1);
        body.kernel({}, count_down, cells, more).after(*step);
    });
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    exec.update(*step, cudag::arg<2>(10));
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 30});

    write(cells.span(), {2, 0});
    exec.disable(*step);
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 0});

    write(cells.span(), {2, 0});
    exec.enable(*step);
    graph.update(*step, cudag::arg<2>(7));
    CHECK(exec.apply(graph) == 1);
    run(exec, stream);
    CHECK(read(cells) == std::vector{0, 14});
}

TEST_CASE("owners of a body's nodes live as long as the exec", "[conditional][owners]") {
    const auto result = device({0});
    const Stream stream;
    std::weak_ptr<void> watch;
    std::optional<Exec> exec;
    {
        const auto cell = device({21});
        watch = cell.owner();
        GraphBuilder b;
        b.if_(b.condition(1), [&](GraphBuilder& body) { body.kernel({}, add, result.data(), cell, 21); });
        exec = std::move(b).build().instantiate();
    }
    CHECK_FALSE(watch.expired());
    run(*exec, stream);
    CHECK(read(result) == std::vector{42});
    exec.reset();
    for (int i = 0; i < 2000 && !watch.expired(); ++i)
        run(*(exec = GraphBuilder().build().instantiate()), stream);
    CHECK(watch.expired());
}
