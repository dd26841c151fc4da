// User objects: who holds them, when and where their destructor runs, and what it must not do.
#include "nodes.hpp"
#include "resource.hpp"

#include <thread>

TEST_CASE("a user object is destroyed with its last reference, inside that call", "[user_objects]") {
    Resource resource;
    const cudaUserObject_t object = make(resource, 2);
    REQUIRE_CUDA(cudaUserObjectRelease(object, 1));
    REQUIRE_CUDA(cudaUserObjectRetain(object, 3));
    REQUIRE_CUDA(cudaUserObjectRelease(object, 3));
    REQUIRE(resource.destroyed == 0);
    REQUIRE_CUDA(cudaUserObjectRelease(object, 1));
    REQUIRE(resource.destroyed == 1);
    REQUIRE(resource.thread == std::this_thread::get_id());
}

TEST_CASE("a graph holds its user objects", "[user_objects]") {
    Resource resource;
    Graph graph;
    give(graph, resource);
    REQUIRE(resource.destroyed == 0);
    graph.destroy();
    REQUIRE(resource.destroyed == 1);
    REQUIRE(resource.thread == std::this_thread::get_id());
}

TEST_CASE("a graph that retains without moving takes references of its own", "[user_objects]") {
    Resource resource;
    Graph graph;
    const cudaUserObject_t object = make(resource);
    REQUIRE_CUDA(cudaGraphRetainUserObject(graph, object, 2, 0));
    REQUIRE_CUDA(cudaUserObjectRelease(object, 1));
    REQUIRE(resource.destroyed == 0);
    REQUIRE_CUDA(cudaGraphReleaseUserObject(graph, object, 1));
    REQUIRE(resource.destroyed == 0);
    REQUIRE_CUDA(cudaGraphReleaseUserObject(graph, object, 1));
    REQUIRE(resource.destroyed == 1);
}

TEST_CASE("a clone holds the user objects of its original", "[user_objects][clone]") {
    Resource resource;
    Graph graph;
    Graph clone(nullptr);
    give(graph, resource);
    REQUIRE_CUDA(cudaGraphClone(clone.out(), graph));
    graph.destroy();
    REQUIRE(resource.destroyed == 0);
    clone.destroy();
    REQUIRE(resource.destroyed == 1);
}

TEST_CASE("an executable graph holds the user objects of its graph", "[user_objects]") {
    Resource resource;
    Graph graph;
    give(graph, resource);
    Exec exec(graph);
    graph.destroy();
    REQUIRE(resource.destroyed == 0);
    exec.destroy();
    REQUIRE(resource.destroyed == 1);
    REQUIRE(resource.thread == std::this_thread::get_id());
}

TEST_CASE("an executable graph does not hold what its graph retained later", "[user_objects]") {
    Resource resource;
    Graph graph;
    Exec exec(graph);
    give(graph, resource);
    graph.destroy();
    REQUIRE(resource.destroyed == 1);
}

TEST_CASE("an executable graph keeps its references when the graph releases them", "[user_objects]") {
    Resource resource;
    Graph graph;
    const cudaUserObject_t object = give(graph, resource);
    Exec exec(graph);
    REQUIRE_CUDA(cudaGraphReleaseUserObject(graph, object, 1));
    graph.destroy();
    REQUIRE(resource.destroyed == 0);
    exec.destroy();
    REQUIRE(resource.destroyed == 1);
}

TEST_CASE("a user object's destructor must not call CUDA, and is told so", "[user_objects]") {
    Resource resource;
    const cudaUserObject_t object = make(resource);
    REQUIRE_CUDA(cudaUserObjectRelease(object, 1));
    REQUIRE(resource.code == cudaErrorNotPermitted);
    int device = -1;
    REQUIRE_CUDA(cudaGetDevice(&device));
}

TEST_CASE("an error in a destructor is the last error of the thread that it ran on", "[user_objects]") {
    cudaUserObject_t object = nullptr;
    const auto destroy = [](void*) {
        int device = 0;
        static_cast<void>(cudaGetDevice(&device));
    };
    REQUIRE_CUDA(cudaUserObjectCreate(&object, nullptr, destroy, 1, cudaUserObjectNoDestructorSync));
    REQUIRE_CUDA(cudaUserObjectRelease(object, 1));
    REQUIRE(cudaGetLastError() == cudaErrorNotPermitted);
}

TEST_CASE("bad user object arguments are refused", "[user_objects]") {
    Resource resource;
    Graph graph;
    const auto flags = cudaUserObjectNoDestructorSync;
    auto object = untouched<cudaUserObject_t>();
    const auto create = [&](cudaHostFn_t destroy, unsigned references, unsigned with) {
        return cudaUserObjectCreate(&object, &resource, destroy, references, with);
    };
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, create(&Resource::destroy, 1, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, create(&Resource::destroy, 1, 3));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, create(&Resource::destroy, 0, flags));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, create(nullptr, 1, flags));
    REQUIRE(object == untouched<cudaUserObject_t>());

    object = make(resource);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaUserObjectRetain(object, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaUserObjectRelease(object, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaUserObjectRetain(nullptr, 1));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaUserObjectRelease(nullptr, 1));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphRetainUserObject(graph, object, 0, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphRetainUserObject(graph, object, 1, 2));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphRetainUserObject(nullptr, object, 1, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphRetainUserObject(graph, nullptr, 1, 0));
    REQUIRE(resource.destroyed == 0);
    REQUIRE_CUDA(cudaUserObjectRelease(object, 1));
    REQUIRE(resource.destroyed == 1);
}
