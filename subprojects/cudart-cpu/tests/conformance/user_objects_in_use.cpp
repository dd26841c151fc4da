// User objects of launches in flight, and across whole-graph updates.
#include "gate.hpp"
#include "nodes.hpp"
#include "resource.hpp"

#include <chrono>
#include <thread>

TEST_CASE("a launch in flight keeps user objects after graph and executable graph are gone", "[user_objects]") {
    Resource resource;
    Stream stream;
    Graph graph;
    Gate gate;
    add_host(graph, gate.node());
    give(graph, resource);
    Exec exec(graph);
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    gate.wait_until_entered();
    graph.destroy();
    exec.destroy();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(resource.destroyed == 0);
    gate.open();
    stream.synchronize();
    // The destructor runs on a thread of CUDA, soon after the launch is over.
    REQUIRE(resource.wait_until_destroyed());
    REQUIRE(resource.thread != std::this_thread::get_id());
}

TEST_CASE("a user object that the graph releases after instantiation stays the executable graph's", "[user_objects]") {
    Resource resource;
    Stream stream;
    Graph graph;
    Gate gate;
    add_host(graph, gate.node());
    const cudaUserObject_t object = give(graph, resource);
    Exec exec(graph);
    REQUIRE_CUDA(cudaGraphReleaseUserObject(graph, object, 1));
    graph.destroy();
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    gate.wait_until_entered();
    exec.destroy();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(resource.destroyed == 0);
    gate.open();
    stream.synchronize();
    REQUIRE(resource.wait_until_destroyed());
}

TEST_CASE("an executable graph that ran gives its user objects back soon after it is destroyed", "[user_objects]") {
    Resource resource;
    Stream stream;
    Graph graph;
    add_empty(graph);
    give(graph, resource);
    Exec exec(graph);
    graph.destroy();
    exec.run(stream);
    exec.run(stream);
    REQUIRE(resource.destroyed == 0);
    exec.destroy();
    REQUIRE(resource.wait_until_destroyed());
}

TEST_CASE("a launch in flight keeps user objects that a whole update replaced", "[user_objects][exec_update]") {
    Resource first;
    Resource second;
    Stream stream;
    Graph graph;
    Graph source;
    Gate gate;
    add_host(graph, gate.node());
    add_host(source, gate.node());
    give(graph, first);
    give(source, second);
    Exec exec(graph);
    graph.destroy();
    REQUIRE_CUDA(cudaGraphLaunch(exec, stream));
    gate.wait_until_entered();
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, source, nullptr));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(first.destroyed == 0);
    gate.open();
    stream.synchronize();
    REQUIRE(first.wait_until_destroyed());
    REQUIRE(second.destroyed == 0);
    source.destroy();
    exec.destroy();
    REQUIRE(second.wait_until_destroyed());
}

TEST_CASE("a whole update replaces the user objects of the executable graph", "[user_objects][exec_update]") {
    Resource first;
    Resource second;
    Graph graph;
    Graph source;
    add_empty(graph);
    add_empty(source);
    give(graph, first);
    give(source, second);
    Exec exec(graph);
    graph.destroy();
    REQUIRE(first.destroyed == 0);
    REQUIRE_CUDA(cudaGraphExecUpdate(exec, source, nullptr));
    REQUIRE(first.destroyed == 1);
    source.destroy();
    REQUIRE(second.destroyed == 0);
    exec.destroy();
    REQUIRE(second.destroyed == 1);
}

TEST_CASE("a refused whole update replaces no user objects", "[user_objects][exec_update]") {
    Resource first;
    Resource second;
    Graph graph;
    Graph source;
    add_empty(graph);
    give(graph, first);
    give(source, second);
    Exec exec(graph);
    graph.destroy();
    REQUIRE_CUDA_ERROR(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, source, nullptr));
    REQUIRE(first.destroyed == 0);
    source.destroy();
    REQUIRE(second.destroyed == 1);
    exec.destroy();
    REQUIRE(first.destroyed == 1);
}
