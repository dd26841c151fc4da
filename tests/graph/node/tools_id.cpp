// The ids that tools give nodes.
#include "test.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Node;

namespace {

bool are_there_ids() {
    int driver = 0;
    cudag::check(cudaDriverGetVersion(&driver));
    return driver >= 13010;
}

} // namespace

TEST_CASE("each node has an id of its own for tools", "[graph][tools]") {
    GraphBuilder b;
    const Node first = b.kernel({}, nothing).label("first");
    b.kernel({}, nothing).after(first);
    GraphBuilder inner;
    inner.kernel({}, nothing);
    const Graph part = std::move(inner).build();
    b.child(part);
    const Graph graph = std::move(b).build();
    if (!are_there_ids()) {
        const auto error = refused<GraphError>([&] { static_cast<void>(first.tools_id()); });
        CHECK(error.code() == cuda_code(cudaErrorNotSupported));
        CHECK_THAT(error.what(), ContainsSubstring("\"first\"") && ContainsSubstring("needs a driver of CUDA 13.1"));
        return;
    }
    std::vector<Node> nodes = graph.nodes();
    const Graph clone = graph.clone();
    for (const Node& node : clone.nodes())
        nodes.push_back(node);
    std::vector<std::uint64_t> ids;
    for (const Node& node : nodes)
        ids.push_back(node.tools_id());
    std::ranges::sort(ids);
    CHECK(std::ranges::adjacent_find(ids) == ids.end());
    CHECK(ids.front() != 0);
    CHECK(first.tools_id() == first.tools_id());
}

TEST_CASE("an empty handle has no id for tools", "[graph][tools]") {
    CHECK_THROWS_AS(static_cast<void>(Node().tools_id()), GraphError);
}
