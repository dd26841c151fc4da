// After the update of a whole graph a node may launch another kernel: its types are looked at, not only its sizes.
#include "scenario.hpp"

#include "type_kernels.hpp"

using cudag::DynamicParam;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;
using cudag::UpdateError;

namespace {

struct Sample {
    cudag::DeviceBuffer<int> number = device({0});
    cudag::DeviceBuffer<float> real = device({0.0F});
    Stream stream;
    DynamicParam<int> value{1};
    cudag::KernelNode<int*, int> node;
    Graph graph = build();
    Exec exec = graph.instantiate();
    cudag::KernelNode<float*, float> other_node;
    Graph other = build_other();

    float result() {
        run(exec, stream);
        return read(real).front();
    }

  private:
    Graph build() {
        GraphBuilder b;
        node = b.kernel({}, store, number, value).label("number");
        return std::move(b).build();
    }
    Graph build_other() {
        GraphBuilder b;
        other_node = b.kernel({}, store_float, real, 2.0F).label("real");
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("after an update to a kernel of other types the former handle is refused", "[exec][update]") {
    Sample s;
    REQUIRE(s.exec.update(s.other).updated());
    for (const auto& update : std::vector<std::function<void()>>{
             [&] { s.exec.update(s.node, cudag::arg<1>(5)); }, [&] { s.exec.update(s.node, s.number, 5); },
             [&] { s.exec.update(s.node, cudag::arg<0>(s.number)); }}) {
        const auto error = refused<UpdateError>(update);
        CHECK_THAT(error.what(), ContainsSubstring("\"number\"") && ContainsSubstring("store_float"));
        CHECK(error.labels() == Labels{"number"});
    }
    CHECK(s.result() == 2.0F);
}

TEST_CASE("a DynamicParam is not set in a kernel of other types", "[exec][update][dynamic]") {
    Sample s;
    REQUIRE(s.exec.update(s.other).updated());
    const auto error = refused<UpdateError>([&] { s.value.set(5, s.exec); });
    CHECK_THAT(error.what(),
               ContainsSubstring("\"number\"") && ContainsSubstring("argument 1") && ContainsSubstring("store_float"));
    CHECK(s.value.value() == 1);
    CHECK(s.result() == 2.0F);
}

TEST_CASE("what the refusal advises can be done", "[exec][update]") {
    Sample s;
    REQUIRE(s.exec.update(s.other).updated());
    const auto error = refused<UpdateError>([&] { s.exec.update(s.node, cudag::arg<1>(5)); });
    CHECK_THAT(
        error.what(),
        ContainsSubstring("change the node in the graph that the update came from and update the Exec from it again") &&
            ContainsSubstring("or instantiate that graph and use its handles") && !ContainsSubstring("as(kernel)"));
    s.other.update(s.other_node, cudag::arg<1>(3.0F));
    REQUIRE(s.exec.update(s.other).updated());
    CHECK(s.result() == 3.0F);
    Exec fresh = s.other.instantiate();
    fresh.update(s.other_node, cudag::arg<1>(4.0F));
    run(fresh, s.stream);
    CHECK(read(s.real).front() == 4.0F);
}

TEST_CASE("the former handle remains good for another kernel of the same types", "[exec][update]") {
    Sample s;
    GraphBuilder b;
    b.kernel({}, store_negative, s.number, 2);
    REQUIRE(s.exec.update(std::move(b).build()).updated());
    s.exec.update(s.node, cudag::arg<1>(5));
    CHECK(s.value.set(6, s.exec) == 1);
    run(s.exec, s.stream);
    CHECK(read(s.number) == std::vector{-6});
    REQUIRE(s.exec.update(s.graph).updated());
    s.exec.update(s.node, cudag::arg<1>(5));
    run(s.exec, s.stream);
    CHECK(read(s.number) == std::vector{5});
}

TEST_CASE("of captured kernels CUDA tells no types: another one is refused, the same one taken", "[exec][update]") {
    Sample s;
    const auto record = [&](bool other) {
        return cudag::capture(s.stream, [&](cudaStream_t stream) {
            if (other)
                cudag::launch(stream, {}, store_float, s.real, 2.0F);
            else
                cudag::launch(stream, {}, store, s.number, 2);
        });
    };
    const Graph first = record(false);
    const auto node = first.find(store).at(0);
    Exec exec = first.instantiate();
    REQUIRE(exec.update(record(false)).updated());
    exec.update(node, cudag::arg<1>(3));
    run(exec, s.stream);
    CHECK(read(s.number) == std::vector{3});
    REQUIRE(exec.update(record(true)).updated());
    static_cast<void>(refused<UpdateError>([&] { exec.update(node, cudag::arg<1>(4)); }));
    run(exec, s.stream);
    CHECK(read(s.real).front() == 2.0F);
    REQUIRE(s.exec.update(record(false)).updated()); // from a built one to a captured one and back
    s.exec.update(s.node, cudag::arg<1>(4));
    run(s.exec, s.stream);
    CHECK(read(s.number) == std::vector{4});
}
