// What cudag makes of answers that the driver gives only about kernels, contexts and versions that a test cannot have.
#include "fake_driver.hpp"
#include "kernels.hpp"
#include "node/function.hpp"
#include "node/kernel_attributes.hpp"
#include "node/kernel_reader.hpp"
#include "node/owned_params.hpp"

#include <cudag/detail/kernel_call.hpp>
#include <cudag/error.hpp>

#include "catch.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

using namespace cudag::detail;
using cudag::GraphError;
using cudag::LaunchConfig;

namespace {

template <class T>
T* fake(std::uintptr_t address) {
    return reinterpret_cast<T*>(address); // only compared
}

const CUfunction clustered = fake<CUfunc_st>(8), plain = fake<CUfunc_st>(16);
cudaGraphNode_t const some_node = fake<CUgraphNode_st>(8);

const KernelSignature no_parameters{nullptr, 0, 0};
std::byte no_values{};

KernelParams launch_of(CUfunction function, const LaunchConfig* attributes = nullptr) {
    KernelParams params{function, nullptr, &no_parameters, {}, &no_values};
    params.attributes = attributes;
    return params;
}
KernelParams unread_launch_of(CUfunction function) {
    KernelParams params = launch_of(function);
    params.unread = some_node;
    return params;
}

/// A driver where `clustered` was compiled with clusters of two blocks.
struct WithClusters : FakeDriver {
    WithClusters() {
        calls.func_get_attribute = [](int* value, CUfunction_attribute name, CUfunction function) {
            *value = name == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH && function == clustered ? 2 : 0;
            return CUDA_SUCCESS;
        };
    }
};

/// A driver that tells attributes of nodes by `answer`, and is asked for those in `asked`.
struct WithAttributes : FakeDriver {
    WithAttributes() {
        asked.clear();
        answer = CUDA_SUCCESS;
        told = {};
        calls.graph_kernel_node_get_attribute = [](CUgraphNode, CUkernelNodeAttrID id, CUkernelNodeAttrValue* value) {
            asked.insert(static_cast<unsigned>(id));
            if (answer == CUDA_SUCCESS && id == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = told.priority;
            return answer;
        };
    }
    static inline std::set<unsigned> asked;
    static inline CUresult answer;
    static inline CUkernelNodeAttrValue told;
};

/// A driver whose node number i is the launch `nodes[i]`, with one primary context, and functions of one int.
struct WithNodes : FakeDriver {
    WithNodes() {
        nodes.clear();
        contexts_asked = functions_asked = 0;
        calls.graph_node_get_params = [](CUgraphNode node, CUgraphNodeParams* params) {
            CHECK(params->type == CU_GRAPH_NODE_TYPE_KERNEL);
            params->kernel = nodes[reinterpret_cast<std::uintptr_t>(node) - 1];
            return CUDA_SUCCESS;
        };
        calls.primary_ctx_get_state = [](CUdevice device, unsigned* flags, int* is_active) {
            if (device == 0) ++contexts_asked;
            *flags = 0;
            *is_active = device == 0 ? 1 : 0;
            return CUDA_SUCCESS;
        };
        calls.primary_ctx_retain = [](CUcontext* context, CUdevice) {
            *context = primary;
            return CUDA_SUCCESS;
        };
        calls.primary_ctx_release = [](CUdevice) { return CUDA_SUCCESS; };
        calls.func_get_param_count = [](CUfunction, std::size_t* count) {
            ++functions_asked;
            *count = 1;
            return CUDA_SUCCESS;
        };
        calls.func_get_param_info = [](CUfunction, std::size_t, std::size_t* offset, std::size_t* size) {
            *offset = 0;
            *size = sizeof(int);
            return CUDA_SUCCESS;
        };
    }
    static cudaGraphNode_t node(std::size_t number) { return fake<CUgraphNode_st>(number + 1); }

    static inline const CUcontext primary = fake<CUctx_st>(8), green = fake<CUctx_st>(16), other = fake<CUctx_st>(24);
    static inline std::vector<CUDA_KERNEL_NODE_PARAMS_v3> nodes;
    static inline int contexts_asked, functions_asked;
};

CUDA_KERNEL_NODE_PARAMS_v3 native(CUfunction function, CUcontext context, void** values) {
    CUDA_KERNEL_NODE_PARAMS_v3 params{};
    params.func = function;
    params.ctx = context;
    params.kernelParams = values;
    return params;
}

} // namespace

TEST_CASE("an exec keeps the cluster that a kernel was compiled with, which is named", "[core][attributes]") {
    const WithClusters driver;
    const LaunchConfig two{.cluster = 2};
    CHECK(silently_ignored(launch_of(clustered), launch_of(plain)) ==
          "cluster is (2, 1, 1), the update's is (1, 1, 1)");
    CHECK(silently_ignored(launch_of(plain), launch_of(clustered)) ==
          "cluster is (1, 1, 1), the update's is (2, 1, 1)");
    CHECK(silently_ignored(launch_of(clustered), launch_of(clustered)).empty());
    CHECK(silently_ignored(launch_of(clustered, &two), launch_of(plain, &two)).empty());
}

TEST_CASE("a cluster that is given and one that a kernel was compiled with are the same", "[core][attributes]") {
    const WithClusters driver;
    const LaunchConfig two{.cluster = 2}, four{.cluster = 4};
    CHECK(silently_ignored(launch_of(clustered, &two), launch_of(clustered)).empty());
    CHECK(silently_ignored(launch_of(clustered), launch_of(clustered, &two)).empty());
    CHECK(silently_ignored(launch_of(clustered), launch_of(clustered, &four)) ==
          "cluster is (2, 1, 1), the update's is (4, 1, 1)");
}

TEST_CASE("a launch may keep attributes that it gives, or its kernel's clusters", "[core][attributes]") {
    const WithClusters driver;
    const LaunchConfig two{.cluster = 2}, carveout{.preferred_shared_memory_carveout = 50U}, others{.priority = -1};
    std::unordered_set<CUfunction> known;
    CHECK(may_keep_attributes(launch_of(plain, &two), known));
    CHECK(may_keep_attributes(launch_of(plain, &carveout), known));
    CHECK(known.empty());
    for (int i = 0; i < 2; ++i) {
        CHECK_FALSE(may_keep_attributes(launch_of(plain, &others), known));
        CHECK(may_keep_attributes(launch_of(clustered), known));
        CHECK(known == std::unordered_set{plain});
    }
    CHECK(may_keep_attributes(launch_of(plain, &two), known));
}

TEST_CASE("of attributes that execs keep, and of no others, CUDA is asked before an update", "[core][attributes]") {
    const WithAttributes driver;
    CHECK_FALSE(may_keep_attributes(some_node));
    CHECK(driver.asked.contains(cudaLaunchAttributeClusterDimension));
    CHECK_FALSE(driver.asked.contains(cudaLaunchAttributePriority));
    CHECK(driver.asked.size() <= 2);
}

TEST_CASE("a node that cudag did not make is asked for what nodes can have, once", "[core][attributes]") {
    const WithAttributes driver;
    driver.told.priority = -2;
    std::pmr::monotonic_buffer_resource arena;
    const KernelParams unread = unread_launch_of(plain);
    OwnedParams params(arena, NodeParams(&unread));
    KernelParams& kernel = *params.find<KernelParams>();
    CHECK(full_config(kernel).priority == -2);
    for (const LaunchAttribute& attribute : launch_attributes()) {
        CAPTURE(attribute.name);
        if (attribute.rules.only_launches != nullptr) CHECK_FALSE(driver.asked.contains(attribute.id));
    }
    CHECK(driver.asked.contains(cudaLaunchAttributeCooperative));
    complete_config(kernel);
    driver.asked.clear();
    CHECK(full_config(kernel).priority == -2);
    complete_config(kernel);
    CHECK(config_of(kernel).priority == -2);
    CHECK(driver.asked.empty());
}

TEST_CASE("an attribute that CUDA does not know is none, and any other failure is an error", "[core][attributes]") {
    const WithAttributes driver;
    const KernelParams kernel = unread_launch_of(plain);
    for (const CUresult unknown : {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_SUPPORTED}) {
        driver.answer = unknown;
        CHECK_FALSE(full_config(kernel).priority);
        CHECK_FALSE(full_config(kernel).preferred_shared_memory_carveout);
        CHECK_FALSE(is_device_updatable(kernel));
    }
    driver.answer = CUDA_ERROR_OUT_OF_MEMORY;
    CHECK_THROWS_AS(full_config(kernel), GraphError);
    CHECK_THROWS_AS(is_device_updatable(kernel), GraphError);
}

TEST_CASE("a driver that counts parameters is believed, and its failure is an error", "[core][function]") {
    WithNodes driver;
    const std::vector<Parameter> found = parameters_of(plain);
    REQUIRE(found.size() == 1);
    CHECK(found[0].size == sizeof(int));
    driver.calls.func_get_param_info = [](CUfunction, std::size_t, std::size_t*, std::size_t*) {
        return CUDA_ERROR_INVALID_VALUE;
    };
    CHECK_THROWS_AS(parameters_of(plain), GraphError);
    driver.calls.func_get_param_count = [](CUfunction, std::size_t*) { return CUDA_ERROR_NOT_INITIALIZED; };
    CHECK_THROWS_AS(parameters_of(plain), GraphError);
}

TEST_CASE("nodes are read with contexts of their own, and each function once", "[core][read]") {
    const WithNodes driver;
    int value = 5;
    void* values[] = {&value};
    const std::vector<CUcontext> contexts{driver.green,   driver.green, driver.primary, driver.primary,
                                          driver.primary, driver.other, nullptr,        driver.green};
    for (std::size_t i = 0; i < contexts.size(); ++i)
        driver.nodes.push_back(native(i % 3 == 0 ? clustered : plain, contexts[i], values));
    std::pmr::monotonic_buffer_resource arena;
    KernelReader reader(arena);
    for (std::size_t i = 0; i < contexts.size(); ++i) {
        CAPTURE(i);
        const KernelParams& read = *reader.read(driver.node(i));
        CHECK(read.context == (contexts[i] == driver.primary ? nullptr : contexts[i]));
        CHECK(read.function == driver.nodes[i].func);
        REQUIRE(read.signature->count == 1);
        CHECK(std::memcmp(read.values, &value, sizeof value) == 0);
    }
    CHECK(driver.functions_asked == 2);
    CHECK(driver.contexts_asked == 5); // where it changes
}

TEST_CASE("arguments in one block are read as far as the block reaches", "[core][read]") {
    const WithNodes driver;
    const int block = 0x01020304;
    std::size_t size = sizeof block;
    const auto value_with = [&](std::vector<void*> extra) {
        extra.push_back(CU_LAUNCH_PARAM_END);
        driver.nodes = {native(plain, driver.primary, nullptr)};
        driver.nodes[0].extra = extra.data();
        std::pmr::monotonic_buffer_resource arena;
        int value = 0;
        std::memcpy(&value, KernelReader(arena).read(driver.node(0))->values, sizeof value);
        return value;
    };
    void* const pointer = const_cast<int*>(&block); // only read
    CHECK(value_with({CU_LAUNCH_PARAM_BUFFER_POINTER, pointer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size}) == block);
    CHECK(value_with({CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_BUFFER_POINTER, pointer}) == block);
    size = 2;
    int half = 0;
    std::memcpy(&half, &block, 2);
    CHECK(value_with({CU_LAUNCH_PARAM_BUFFER_POINTER, pointer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size}) == half);
    CHECK(value_with({CU_LAUNCH_PARAM_BUFFER_POINTER, pointer}) == 0);
    CHECK(value_with({}) == 0);
}
