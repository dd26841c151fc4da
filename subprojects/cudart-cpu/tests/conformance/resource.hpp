// A user object whose destruction is noted.
#pragma once

#include "test.hpp"

#include <atomic>
#include <chrono>
#include <thread>

/// What a destructor did, and where.
struct Resource {
    std::atomic<int> destroyed = 0;
    std::thread::id thread;
    cudaError_t code = cudaErrorUnknown;

    static void CUDART_CB destroy(void* data) {
        auto& self = *static_cast<Resource*>(data);
        self.thread = std::this_thread::get_id();
        int device = 0;
        self.code = cudaGetDevice(&device);
        static_cast<void>(cudaGetLastError());
        ++self.destroyed;
    }
    bool wait_until_destroyed() const {
        for (int i = 0; i < 20000 && destroyed == 0; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return destroyed == 1;
    }
};

inline cudaUserObject_t make(Resource& resource, unsigned references = 1) {
    cudaUserObject_t object = nullptr;
    REQUIRE_CUDA(
        cudaUserObjectCreate(&object, &resource, &Resource::destroy, references, cudaUserObjectNoDestructorSync));
    return object;
}

/// Gives the only reference to `graph`.
inline cudaUserObject_t give(cudaGraph_t graph, Resource& resource) {
    const cudaUserObject_t object = make(resource);
    REQUIRE_CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    return object;
}
