// Handles for kernels that a node does not have.
#include "test.hpp"

using cudag::GraphBuilder;
using cudag::GraphError;

TEST_CASE("a node that is not device-updatable has no handle for kernels", "[graph][device]") {
    GraphBuilder b;
    const auto plain = b.kernel({}, nothing).label("plain");
    const auto error = refused<GraphError>([&] { static_cast<void>(plain.on_device()); });
    CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
    CHECK(error.labels() == Labels{"plain"});
    CHECK_THAT(error.what(), ContainsSubstring("\"plain\"") && ContainsSubstring(".device_updatable = true"));
}

TEST_CASE("a node whose graph is gone has no handle for kernels", "[graph][device]") {
    cudag::KernelNode<> node;
    CHECK_THROWS_AS(node.on_device(), GraphError);
    {
        GraphBuilder b;
        node = b.kernel({}, nothing);
    }
    CHECK_THROWS_AS(node.on_device(), GraphError);
}
