// Dynamic shared memory beyond what 32 bits can say.
#include "scenario.hpp"

using cudag::Error;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::LaunchConfig;
using cudag::Stream;
using cudag::UpdateError;

namespace {

constexpr std::size_t bytes = (std::size_t{1} << 32U) + 16;

void check_text(const Error& error) {
    CHECK_THAT(error.what(), ContainsSubstring("4294967312 bytes of dynamic shared memory") &&
                                 ContainsSubstring("this kernel allows"));
}

} // namespace

TEST_CASE("shared_bytes of 4 GiB and more are refused, not cut", "[arguments][limits]") {
    const auto cell = device({0});
    const Stream stream;
    GraphBuilder b;
    check_text(refused<GraphError>([&] { b.kernel({.shared_bytes = bytes}, store, cell, 1); }));
    check_text(refused<GraphError>([&] { b.kernel({.shared_bytes = bytes, .priority = 0}, store, cell, 1); }));
    const auto node = b.kernel({}, store, cell, 1);
    Graph graph = std::move(b).build();
    Exec exec = graph.instantiate();
    check_text(refused<UpdateError>([&] { exec.update(node, LaunchConfig{.shared_bytes = bytes}); }));
    check_text(refused<UpdateError>([&] { graph.update(node, LaunchConfig{.shared_bytes = bytes}); }));
    check_text(refused<UpdateError>([&] { exec.update(node, LaunchConfig{.shared_bytes = bytes}, cell, 2); }));
    check_text(refused<Error>([&] { cudag::launch(stream, {.shared_bytes = bytes}, store, cell, 1); }));
    check_text(refused<Error>([&] { cudag::launch(stream, {.shared_bytes = bytes, .priority = 0}, store, cell, 1); }));
    run(exec, stream);
    CHECK(read(cell) == std::vector{1});
    CHECK(node.kernel_info().config.shared_bytes == 0);
}
