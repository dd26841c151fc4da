// Every runtime call that fails around graphs that kernels launch or change.
#include "faults.hpp"
#include "kernels.hpp"
#include "live_counts.hpp"

#include <catch.hpp>
#include <cudag/cudag.hpp>

#include <vector>

namespace {

using Kernel = cudag::KernelNode<int*, const int*, int, int>;

/// x = x * 3 + x, of one device-updatable node.
struct Updatable {
    cudag::DeviceBuffer<int> x{1};
    Kernel node;
    cudag::Graph graph = build();
    cudag::Stream stream;

    int run(cudag::Exec& exec) {
        exec.launch(stream);
        stream.synchronize();
        return value();
    }
    int value() const {
        int result = 0;
        cudag::check(cudaMemcpy(&result, x.data(), sizeof result, cudaMemcpyDeviceToHost));
        return result;
    }
    void set(int value) const {
        cudag::check(cudaMemcpy(x.data(), &value, sizeof value, cudaMemcpyHostToDevice));
        cudag::check(cudaStreamSynchronize(cudaStreamLegacy));
    }

  private:
    cudag::Graph build() {
        cudag::GraphBuilder b;
        node = b.kernel({.device_updatable = true}, multiply_add, x.data(), x.data(), 1, 3);
        return std::move(b).build();
    }
};

} // namespace

TEST_CASE("a launch whose upload fails runs nothing", "[unit][faults]") {
    const NothingLeft check;
    Updatable updatable;
    cudag::Exec exec = updatable.graph.instantiate();
    updatable.set(1);
    const Faults faults = for_every_call_failing([&] { exec.launch(updatable.stream); },
                                                 [&] {
                                                     updatable.stream.synchronize();
                                                     CHECK(updatable.value() == 1);
                                                     CHECK(exec.replays() == 0);
                                                 });
    CHECK(faults.thrown == 2); // the upload, or the launch
    CHECK(faults.ignored == 0);
    updatable.stream.synchronize();
    CHECK(updatable.value() == 4);
    exec.update(updatable.node, cudag::arg<3>(10)); // to be uploaded again
    CHECK(updatable.run(exec) == 44);
}

TEST_CASE("a handle for kernels that fails is an error", "[unit][faults]") {
    const NothingLeft check;
    Updatable updatable;
    const Faults faults = for_every_call_failing([&] { return updatable.node.on_device(); });
    CHECK(faults.thrown == 1);
    CHECK(faults.ignored == 0);
}

TEST_CASE("an exec whose upload fails has no handle for kernels", "[unit][faults]") {
    const NothingLeft check;
    Updatable updatable;
    cudag::GraphBuilder b;
    b.kernel({}, multiply_add, updatable.x.data(), updatable.x.data(), 1, 3);
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate({.device_launch = true});
    const Faults faults = for_every_call_failing([&] { exec.upload(updatable.stream); },
                                                 [&] { CHECK_THROWS_AS(exec.on_device(), cudag::GraphError); });
    CHECK(faults.thrown == 1);
    CHECK(exec.on_device());
    updatable.stream.synchronize();
}

TEST_CASE("a graph for launches by kernels that fails to instantiate leaves nothing behind", "[unit][faults]") {
    const NothingLeft check;
    const cudag::DeviceBuffer<int> x(4);
    const cudag::DeviceBuffer<int> y(4);
    cudag::GraphBuilder b;
    b.memcpy(y, x);
    const cudag::Graph graph = std::move(b).build();
    const Faults faults = for_every_call_failing([&] { return graph.instantiate({.device_launch = true}); });
    CHECK(faults.thrown >= 2); // the copy's parameters, or the instantiation
}
