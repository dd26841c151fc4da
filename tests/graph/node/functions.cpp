// Functions: kernels of run time in graphs and streams.
#include "functions.hpp"

#include <cudag/format.hpp>

#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "conditional_kernels.hpp"
#include "type_kernels.hpp"
#include "watched.hpp"

using cudag::arg;
using cudag::DeviceBuffer;
using cudag::Error;
using cudag::Exec;
using cudag::Function;
using cudag::FunctionNode;
using cudag::FunctionParameter;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::KernelNode;
using cudag::LaunchConfig;
using cudag::PackedArguments;
using cudag::Stream;
using cudag::UpdateError;

namespace {

using Cells = std::vector<int>;

/// *to = *from + value, for packed arguments.
struct Add {
    int* to;
    const int* from;
    int value;
};

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

} // namespace

TEST_CASE("a Function tells its name and where its parameters are", "[graph][function]") {
    const Function function = GENERATE(true, false) ? function_of(add) : device_function_of(add);
    CHECK(function.name() == "add");
    CHECK(function.parameters() == std::vector<FunctionParameter>{{0, 8}, {8, 8}, {16, 4}});
    CHECK(to_string(function) == "add of 3 parameters (8, 8 and 4 bytes)");
    CHECK(to_string(function_of(nothing)) == "nothing of no parameters");
    CHECK(fmt::format("{}", function_of(store)) == "store of 2 parameters (8 and 4 bytes)");
    CHECK(function == device_function_of(add));
    CHECK_FALSE(function == function_of(subtract));
}

TEST_CASE("a Function that was moved from is as it was", "[graph][function]") {
    Function from = function_of(add);
    const Function to = std::move(from);
    CHECK(from == to); // NOLINT: moved from
    CHECK(from.name() == "add");
}

TEST_CASE("a Function needs a kernel", "[graph][function]") {
    CHECK_THAT(refused<GraphError>([] { Function{cudaKernel_t()}; }).what(), ContainsSubstring("the kernel is null"));
    CHECK_THAT(refused<GraphError>([] { Function{cudaFunction_t()}; }).what(),
               ContainsSubstring("the function is null"));
}

/// As many bytes as an int, and no number.
struct Half {
    short low, high;
};

TEST_CASE("a Function's launch takes arguments as what they are", "[graph][function]") {
    const Function function = GENERATE(true, false) ? function_of(add) : device_function_of(add);
    const auto from = device({5, 6});
    const auto to = std::make_shared<DeviceBuffer<int>>(1);
    GraphBuilder b;
    SECTION("owners and pointers") {
        b.kernel({.grid = 1}, function, to, from.data(), 7);
    }
    SECTION("spans, and a configuration with a name") {
        const LaunchConfig config{.block = 1};
        b.kernel(config, function, to->span(), from.span().subspan(0, 1), 7);
    }
    SECTION("an object") {
        b.kernel({}, function, to, from, Half{7, 0});
    }
    SECTION("nothing but their bytes") {
        const Add arguments{to->data(), from.data(), 7};
        b.kernel({}, function, PackedArguments(bytes_of(arguments)));
    }
    SECTION("bytes in another order") {
        const struct {
            int value;
            const int* from;
            int* to;
        } arguments{7, from.data(), to->data()};
        const std::array<std::size_t, 3> offsets{16, 8, 0};
        b.kernel({}, function, PackedArguments(bytes_of(arguments), offsets));
    }
    SECTION("pointers to values") {
        Add arguments{to->data(), from.data(), 7};
        const std::array<void*, 3> values{&arguments.to, &arguments.from, &arguments.value};
        b.kernel({}, function, PackedArguments(values));
    }
    run(std::move(b));
    CHECK(read(*to) == Cells{12});
}

TEST_CASE("a Function's wrong arguments are refused, and nothing is added", "[graph][function]") {
    const Function function = function_of(add);
    const DeviceBuffer<int> cell(1);
    GraphBuilder b;
    const auto why = [&](const auto&... arguments) {
        return std::string(refused<GraphError>([&] { b.kernel({}, function, arguments...); }).what());
    };
    CHECK_THAT(why(cell, cell), ContainsSubstring("kernel add at ") && ContainsSubstring("functions.cpp:") &&
                                    ContainsSubstring("2 arguments are given; the kernel has 3 parameters (8, 8 and 4 "
                                                      "bytes)"));
    CHECK_THAT(why(cell, cell, 1.0), ContainsSubstring("argument 2 has 8 bytes; the kernel has 3 parameters (8, 8 and "
                                                       "4 bytes): pass a value of the parameter's own type"));
    CHECK_THAT(why(PackedArguments(bytes_of(1))),
               ContainsSubstring("argument 0 of 8 bytes at offset 0 does not lie in the block of 4 bytes"));
    const Add arguments{};
    const std::array<std::size_t, 2> few{0, 8};
    const std::array<std::size_t, 3> far{0, 8, 21}, beyond{0, 8, 100};
    CHECK_THAT(why(PackedArguments(bytes_of(arguments), few)), ContainsSubstring("2 offsets are given; the kernel"));
    CHECK_THAT(why(PackedArguments(bytes_of(arguments), far)),
               ContainsSubstring("argument 2 of 4 bytes at offset 21 does not lie in the block of 24 bytes"));
    CHECK_THAT(why(PackedArguments(bytes_of(arguments), beyond)),
               ContainsSubstring("argument 2 of 4 bytes at offset 100 does not lie in the block of 24 bytes"));
    int value = 1;
    const std::array<void*, 3> hole{&value, nullptr, &value};
    CHECK_THAT(why(PackedArguments(std::span(hole).first(1))), ContainsSubstring("1 argument is given"));
    CHECK_THAT(why(PackedArguments(hole)), ContainsSubstring("the pointer to argument 1 is null"));
    const std::vector<std::byte> empty;
    CHECK_THAT(why(PackedArguments(empty, few)), ContainsSubstring("2 offsets are given"));
    CHECK(std::move(b).build().node_count() == 0);
}

TEST_CASE("what a Function's launch and its updates own lives as long as it may be used", "[owners][function]") {
    Watched first, other;
    const Stream stream;
    std::optional<Graph> graph;
    FunctionNode node;
    {
        GraphBuilder b;
        node = b.kernel({}, function_of(store), first.take(), 7).label("store it");
        graph = std::move(b).build();
    }
    Exec exec = graph->instantiate();
    run(exec, stream);
    CHECK(first.value() == 7);
    exec.update(node, arg(0, other.take()));
    run(exec, stream);
    CHECK(other.value() == 7);
    exec.update(node, arg(1, 8));
    CHECK(other.alive());
    run(exec, stream);
    CHECK(other.value() == 8);
    CHECK(first.alive()); // by the graph
    exec.update(node, static_cast<int*>(first.watch().lock().get()), 9);
    CHECK(released(other, stream));
}

TEST_CASE("the launch of a Function is updated wholly, by position, and with a configuration", "[exec][function]") {
    const auto cells = device({0, 0});
    GraphBuilder b;
    const FunctionNode node = b.kernel({}, function_of(add), cells.data(), cells.data() + 1, 1);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const Stream stream;
    const auto result = [&] {
        write(cells.span(), {0, 10});
        run(exec, stream);
        return read(cells).at(0);
    };
    CHECK(result() == 11);
    exec.update(node, cells, cells.data() + 1, 2);
    CHECK(result() == 12);
    exec.update(node, arg(2, 3));
    CHECK(result() == 13);
    const int four = 4;
    exec.update(node, arg(2, bytes_of(four)));
    CHECK(result() == 14);
    exec.update(node, arg<2>(5), arg(1, cells.data() + 1));
    CHECK(result() == 15);
    exec.update(node, LaunchConfig{.block = 1}, arg(2, 6));
    CHECK(result() == 16);
    exec.update(node, LaunchConfig{.grid = 1});
    CHECK(result() == 16);
    const Add all{cells.data(), cells.data() + 1, 7};
    exec.update(node, PackedArguments(bytes_of(all)));
    CHECK(result() == 17);
    graph.update(node, arg(2, 8));
    CHECK(result() == 17);
    CHECK(exec.apply(graph) == 1);
    CHECK(result() == 18);
}

TEST_CASE("a refused update of a Function's launch changes nothing", "[exec][function]") {
    const auto cells = device({0, 10});
    GraphBuilder b;
    const FunctionNode node = b.kernel({}, function_of(add), cells.data(), cells.data() + 1, 1).label("add it");
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    const auto why = [&](const auto&... arguments) {
        return std::string(refused<UpdateError>([&] { exec.update(node, arguments...); }).what());
    };
    CHECK_THAT(why(1), ContainsSubstring("update of kernel \"add it\"") && ContainsSubstring("1 argument is given"));
    const int value = 3;
    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, arg(3, value)); }).what(),
               ContainsSubstring("there is no argument 3: the kernel has 3 parameters"));
    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, arg(2, 1.5)); }).what(),
               ContainsSubstring("argument 2 has 8 bytes"));
    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, arg(2, value), arg<2>(value)); }).what(),
               ContainsSubstring("argument 2 is given twice"));
    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, LaunchConfig{.grid = 0}, arg(2, value)); }).what(),
               ContainsSubstring("grid.x is 0"));
    run(exec, Stream());
    CHECK(read(cells) == Cells{11, 10});
}

TEST_CASE("a launch that the update of a whole graph has given another kernel takes arguments of its own kernel only",
          "[exec][function]") {
    const auto cells = device({0});
    const DeviceBuffer<float> other(1);
    const auto build = [](const Function& function, const auto& memory, auto value) {
        GraphBuilder b;
        b.kernel({}, function, memory, value);
        return std::move(b).build();
    };
    const Graph graph = build(function_of(store), cells, 1);
    const auto node = graph.nodes().at(0).as<FunctionNode>();
    Exec exec = graph.instantiate();
    REQUIRE(exec.update(build(function_of(store_negative), cells, 2)).updated());
    exec.update(node, arg(1, 3)); // of the same types, as its name says
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells) == Cells{-3});
    REQUIRE(exec.update(build(function_of(store_float), other, 2.0f)).updated());
    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, arg(1, 3)); }).what(), ContainsSubstring("store_float"));
    run(exec, stream);
    CHECK(read(other) == std::vector{2.0f});
}

TEST_CASE("a Function whose types are known makes typed nodes", "[graph][function]") {
    const Function function = GENERATE(true, false) ? function_of(add) : device_function_of(add);
    const auto typed = function.typed<int*, const int*, int>();
    const auto cells = device({0, 10});
    GraphBuilder b;
    const KernelNode<int*, const int*, int> node = b.kernel({.grid = 1}, typed, cells, cells.data() + 1, 1);
    const Graph graph = std::move(b).build();
    CHECK(node.get<2>() == 1);
    Exec exec = graph.instantiate();
    exec.update(node, arg<2>(2));
    const Stream stream;
    run(exec, stream);
    CHECK(read(cells).at(0) == 12);
    exec.update(graph.find_one(typed), cells, cells, 5);
    run(exec, stream);
    CHECK(read(cells).at(0) == 17);
    CHECK_THAT(refused<UpdateError>([&] { exec.update(node, arg<2>(3'000'000'000)); }).what(),
               ContainsSubstring("argument 2: 3000000000 does not fit the parameter type int"));
    GraphBuilder other;
    CHECK_THAT(refused<GraphError>([&] { other.kernel({}, typed, cells, cells, 3'000'000'000); }).what(),
               ContainsSubstring("kernel add at ") && ContainsSubstring("does not fit the parameter type int"));
}

TEST_CASE("types that are not a Function's are refused", "[graph][function]") {
    const Function function = function_of(add);
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(function.typed<int*>()); }).what(),
               ContainsSubstring("typed: kernel add: 1 type is given; it has 3 parameters (8, 8 and 4 bytes)"));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(function.typed<int*, int*, double>()); }).what(),
               ContainsSubstring("type 2 has 8 bytes at offset 16, the parameter 4 at offset 16"));
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(function.typed<int*, int, int>()); }).what(),
               ContainsSubstring("type 1 has 4 bytes at offset 8, the parameter 8 at offset 8"));
    struct EightChars { // stands where a double does not
        char chars[8];
    };
    const auto of_chars = [](const Function& numbers) {
        static_cast<void>(numbers.typed<Numbers*, signed char, unsigned char, short, unsigned short, int, unsigned,
                                        long long, unsigned long long, float, EightChars>());
    };
    CHECK_THAT(refused<GraphError>([&] { of_chars(function_of(write_numbers)); }).what(),
               ContainsSubstring("type 10 has 8 bytes at offset 44, the parameter 8 at offset 48"));
}

TEST_CASE("a Function is launched in a stream, and captured there", "[stream][function]") {
    const Function function = GENERATE(true, false) ? function_of(add) : device_function_of(add);
    const auto typed = function.typed<int*, const int*, int>();
    const auto cells = device({0, 10});
    const Stream stream;
    cudag::launch(stream, {.grid = 1}, function, cells, cells.data() + 1, 1);
    cudag::launch(stream, {.block = 1, .priority = 0}, function, cells, cells, 2);
    cudag::launch(stream, {}, typed, cells, cells, 4);
    stream.synchronize();
    CHECK(read(cells).at(0) == 17);
    CHECK_THAT(refused<Error>([&] { cudag::launch(stream, {}, function, cells); }).what(),
               ContainsSubstring("launch of add: 1 argument is given"));
    CHECK_THAT(refused<Error>([&] { cudag::launch(stream, {.grid = 0}, function, cells, cells, 1); }).what(),
               ContainsSubstring("launch of add: grid.x is 0"));

    Graph graph = cudag::capture(
        stream, [&](cudaStream_t s) { cudag::launch(s, {}, function, cells.data(), cells.data() + 1, 3); });
    const FunctionNode node = graph.find_one(function);
    CHECK(node == graph.find_one(add));
    Exec exec = graph.instantiate();
    exec.update(node, arg(2, 5));
    run(exec, stream);
    CHECK(read(cells).at(0) == 15);
}

TEST_CASE("a launch of a Function keeps what it owns with its capture", "[capture][function]") {
    Watched cell;
    const Stream stream;
    const Function function = function_of(store);
    std::optional<Graph> graph =
        cudag::capture(stream, [&](cudaStream_t s) { cudag::launch(s, {}, function, cell.take(), 5); });
    CHECK(cell.alive());
    Exec exec = graph->instantiate();
    run(exec, stream);
    CHECK(cell.value() == 5);
}

TEST_CASE("nodes are found by a Function, whoever made them", "[graph][function]") {
    const DeviceBuffer<int> cell(1);
    const Function stores = function_of(store), device_stores = device_function_of(store);
    GraphBuilder b;
    const auto plain = b.kernel({}, store, cell, 1);
    const auto of_kernel = b.kernel({}, stores, cell, 2).after(plain);
    const auto of_device = b.kernel({}, device_stores, cell, 3).after(of_kernel);
    b.kernel({}, function_of(nothing)).after(of_device);
    const Graph graph = std::move(b).build();
    for (const Function& function : {stores, device_stores}) {
        const std::vector<FunctionNode> found = graph.find(function);
        REQUIRE(found.size() == 3);
        CHECK(found[0] == plain);
        CHECK(found[1] == of_kernel);
        CHECK(found[2] == of_device);
    }
    CHECK(graph.find(store).size() == 3);
    CHECK(graph.find(stores.typed<int*, int>()).size() == 3);
    CHECK(graph.find(function_of(add)).empty());
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(graph.find_one(function_of(add))); }).what(),
               ContainsSubstring("find_one: no node launches add; the kernels are store, nothing"));
    const cudag::Node any = of_kernel;
    CHECK(any.as(store) == of_kernel);
    CHECK(any.as(stores.typed<int*, int>()) == of_kernel);
    CHECK(any.as<FunctionNode>() == of_kernel);
    CHECK_THAT(
        refused<GraphError>([&] { static_cast<void>(any.as(function_of(add).typed<int*, const int*, int>())); }).what(),
        ContainsSubstring("it does not launch add"));
}

TEST_CASE("a clone of a Function's launch outlives it", "[graph][function]") {
    const auto cell = device({0});
    std::optional<Graph> clone;
    FunctionNode node;
    {
        GraphBuilder b;
        const FunctionNode original = b.kernel({}, function_of(store), cell, 7);
        const Graph graph = std::move(b).build();
        clone = graph.clone();
        node = clone->counterpart(original);
    }
    CHECK_THAT(refused<UpdateError>([&] { clone->update(node, 1); }).what(),
               ContainsSubstring("the kernel has 2 parameters (8 and 4 bytes)"));
    clone->update(node, arg(1, 8));
    Exec exec = clone->instantiate();
    clone.reset();
    exec.update(node, arg(1, 9));
    run(exec, Stream());
    CHECK(read(cell) == Cells{9});
}

TEST_CASE("graphs of Functions are compared, and update execs", "[graph][function]") {
    const auto cell = device({0});
    const auto build = [&](const Function& function, int value) {
        GraphBuilder b;
        b.kernel({}, function, cell.data(), value);
        return std::move(b).build();
    };
    const Graph first = build(function_of(store), 7), second = build(device_function_of(store), 8);
    const auto differences = diff(first, second);
    REQUIRE(differences.size() == 1);
    CHECK_THAT(to_string(differences[0]), ContainsSubstring("argument 1: 7 -> 8"));
    Exec exec = first.instantiate();
    CHECK(exec.update(second).updated());
    run(exec, Stream());
    CHECK(read(cell) == Cells{8});
}

TEST_CASE("a Function takes a condition, and one of its own graph only", "[conditional][function]") {
    const auto cell = device({3});
    GraphBuilder b, other;
    const cudag::Condition condition = b.condition(1), foreign = other.condition();
    b.while_(condition, [&](GraphBuilder& body) { body.kernel({}, function_of(count_down), cell, condition); });
    CHECK_THAT(refused<GraphError>([&] { b.kernel({}, function_of(count_down), cell, foreign); }).what(),
               ContainsSubstring("kernel count_down at ") && ContainsSubstring("argument 1: the condition belongs to "
                                                                               "another graph"));
    run(std::move(b));
    CHECK(read(cell) == Cells{0});
}

TEST_CASE("a Function may end a loop by CUDA's handle of its condition", "[conditional][function]") {
    const auto cell = device({3});
    GraphBuilder b;
    const cudag::Condition condition = b.condition(1);
    b.while_(condition,
             [&](GraphBuilder& body) { body.kernel({}, function_of(count_down_raw), cell, condition.native()); });
    run(std::move(b));
    CHECK(read(cell) == Cells{0});
}

TEST_CASE("a Function's argument follows a DynamicParam", "[exec][function]") {
    const auto cell = device({0});
    cudag::DynamicParam<int> value(4);
    GraphBuilder b;
    b.kernel({}, function_of(store), cell, value);
    const Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    CHECK(value.set(5, exec) == 1);
    run(exec, Stream());
    CHECK(read(cell) == Cells{5});
}

TEST_CASE("a function of one device is refused on another, and a kernel of all is not", "[graph][function][device]") {
    int count = 0;
    cudag::check(cudaGetDeviceCount(&count));
    if (count < 2) {
        WARN("skipped: it needs two devices, and there is one");
        return;
    }
    const Function of_all = function_of(nothing), of_one = device_function_of(nothing);
    GraphBuilder b;
    b.on(1).kernel({}, of_all);
    CHECK_THAT(refused<GraphError>([&] { b.on(1).kernel({}, of_one); }).what(),
               ContainsSubstring("kernel nothing at ") && ContainsSubstring("the function is of another device"));
    run(std::move(b));
}

TEST_CASE("a body's kernels may be Functions", "[conditional][function]") {
    const auto cell = device({0});
    GraphBuilder b;
    const Function function = function_of(add);
    b.if_(b.condition(1),
          [&](GraphBuilder& body) { body.kernel({}, function.typed<int*, const int*, int>(), cell, cell, 2); });
    run(std::move(b));
    CHECK(read(cell) == Cells{2});
}
