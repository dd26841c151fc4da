// What CUDA is asked about nodes, where it fails or is older: no answer is no problem, and leaves no error behind.
#include "cuda/cuda_log.hpp"
#include "fake_driver.hpp"
#include "kernels.hpp"
#include "node/allocation.hpp"
#include "node/attribute_check.hpp"
#include "node/kernel_attributes.hpp"
#include "node/launch_check.hpp"
#include "unit/faults.hpp"

#include <cudag/buffer.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/function.hpp>
#include <cudag/library.hpp>

#include <cudart_cpu/control.hpp>
#include <cudart_cpu/kernel.hpp>

#include "catch.hpp"

#include <string>

using namespace cudag::detail;
using cudag::LaunchConfig;

namespace {

struct DriverVersion {
    explicit DriverVersion(int version) { cudart_cpu::set_driver_version(version); }
    ~DriverVersion() { cudart_cpu::set_driver_version(0); }
    DriverVersion(const DriverVersion&) = delete;
    DriverVersion& operator=(const DriverVersion&) = delete;
};

struct NativeGraph {
    NativeGraph() { cudag::check(cudaGraphCreate(&graph, 0)); }
    ~NativeGraph() { static_cast<void>(cudaGraphDestroy(graph)); }
    NativeGraph(const NativeGraph&) = delete;
    NativeGraph& operator=(const NativeGraph&) = delete;

    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
};

/// A node that launches `sought`.
struct Launch : NativeGraph {
    Launch() {
        cudaFunction_t function = nullptr;
        cudag::check(cudaGetFuncBySymbol(&function, kernel_symbol(sought)));
        params.func = function;
        params.gridDimX = 2;
        params.gridDimY = params.gridDimZ = 1;
        params.blockDimX = params.blockDimY = params.blockDimZ = 1;
        REQUIRE(driver().kernels.add(&node, graph, nullptr, 0, &params) == CUDA_SUCCESS);
    }
    CUDA_KERNEL_NODE_PARAMS params{};
};

/// Whatever call of it fails, `problem` finds none.
template <class Problem>
void check_no_answer(const Problem& problem) {
    const Faults faults = for_every_call_failing([&] { CHECK(problem() == ""); });
    CHECK(faults.thrown == 0);
    CHECK(faults.ignored > 0);
}

void fill(int* cell, int value) {
    *cell = value;
}

} // namespace

TEST_CASE("a limit that CUDA does not tell is not broken, and leaves no error", "[core][limits]") {
    const void* const kernel = kernel_symbol(sought);
    const LaunchConfig config;
    check_no_answer([&] { return broken_limit(config, nullptr); });
    check_no_answer([&] { return broken_limit(config, kernel); });
    const LaunchConfig cluster{.grid = 8, .cluster = 2};
    check_no_answer([&] { return broken_cluster(cluster, kernel); });
    const LaunchConfig large{
        .grid = 16, .cluster = 16, .portable_cluster_size_mode = cudag::PortableClusterMode::allow_non_portable};
    check_no_answer([&] { return broken_cluster(large, kernel); });
    const LaunchConfig shared{.shared_bytes = 64, .shared_memory_mode = cudag::SharedMemoryMode::require_portable};
    check_no_answer([&] { return broken_shared_memory_mode(shared, kernel); });
    const LaunchConfig cooperative{.cooperative = true};
    check_no_answer([&] { return broken_cooperation(cooperative, kernel); });
    const LaunchConfig priority{.priority = 0};
    check_no_answer([&] { return broken_priority(priority, kernel); });
    const LaunchConfig map{.memory_sync_domain_map = cudag::MemorySyncDomainMap()};
    check_no_answer([&] { return broken_domain_map(map, kernel); });
}

TEST_CASE("what is above a limit that CUDA does not tell is for CUDA to refuse", "[core][limits]") {
    const LaunchConfig config{.shared_bytes = 1U << 20U,
                              .shared_memory_mode = cudag::SharedMemoryMode::require_portable};
    for (const std::uint64_t call : {1U, 2U}) { // the device, its limit
        cudart_cpu::fail_call(call, cudaErrorInvalidValue);
        CHECK(broken_shared_memory_mode(config, nullptr).empty());
        CHECK(cudaGetLastError() == cudaSuccess);
    }
    CHECK_FALSE(broken_shared_memory_mode(config, nullptr).empty());
}

TEST_CASE("a kernel that others cannot update is refused where CUDA reports that, since 13.3", "[core][attributes]") {
    const LaunchConfig config{.device_updatable = true};
    const void* const kernel = kernel_symbol(sought);
    {
        const DriverVersion newest(13030);
        CHECK(broken_device_update(config, kernel).empty()); // the CPU runtime updates all kernels
    }
    FakeDriver fake;
    fake.calls.func_get_attribute = [](int* value, CUfunction_attribute attribute, CUfunction) {
        *value = 0;
        return attribute == static_cast<CUfunction_attribute>(16) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    };
    {
        const DriverVersion older(13020); // does not know
        CHECK(broken_device_update(config, kernel).empty());
    }
    const DriverVersion newest(13030);
    CHECK_THAT(broken_device_update(config, kernel), ContainsSubstring("other kernels cannot update this one"));
    CHECK(broken_device_update(config, nullptr).empty());
    for (const std::uint64_t call : {1U, 2U}) { // the version, the function
        cudart_cpu::fail_call(call, cudaErrorInvalidValue);
        CHECK(broken_device_update(config, kernel).empty());
        CHECK(cudaGetLastError() == cudaSuccess);
    }
}

#if CUDART_VERSION >= 12050
TEST_CASE("an attribute that an exec keeps counts from the version of CUDA that brought it", "[core][attributes]") {
    const Launch launch;
    cudaLaunchAttributeValue value{};
    value.sharedMemCarveout = 50;
    constexpr auto carveout = static_cast<cudaLaunchAttributeID>(14);
    cudag::check(cudaGraphKernelNodeSetAttribute(launch.node, carveout, &value));
    CHECK(may_keep_attributes(launch.node));
    {
        const DriverVersion first_with_it(12050);
        CHECK(may_keep_attributes(launch.node));
    }
    const DriverVersion older(12040);
    CHECK_FALSE(may_keep_attributes(launch.node));
    cudaLaunchAttributeValue cluster{};
    cluster.clusterDim = {2, 1, 1};
    const Launch clustered;
    CHECK_FALSE(may_keep_attributes(clustered.node));
    cudag::check(cudaGraphKernelNodeSetAttribute(clustered.node, cudaLaunchAttributeClusterDimension, &cluster));
    CHECK(may_keep_attributes(clustered.node)); // which the oldest CUDA of all has
}
#endif

TEST_CASE("a node gets the shared memory that its mode allows once it has the mode", "[core][attributes]") {
    const DriverVersion newest(13020);
    Launch launch;
    CUDA_KERNEL_NODE_PARAMS larger = launch.params;
    larger.sharedMemBytes = 128;
    const LaunchConfig config{.shared_memory_mode = cudag::SharedMemoryMode::allow_non_portable};
    const auto shared_bytes = [&] {
        return read_native_node(launch.node, CU_GRAPH_NODE_TYPE_KERNEL).kernel.sharedMemBytes;
    };
    set_attributes(launch.node, larger, {.priority = 0}, nullptr, {"kernel sought"});
    CHECK(shared_bytes() == 0);
    set_attributes(launch.node, larger, config, nullptr, {"kernel sought"});
    CHECK(shared_bytes() == 128);
}

TEST_CASE("an alloc node is of the device that it is made for", "[core][memory]") {
    cudart_cpu::set_devices(2);
    for (const int device : {0, 1}) {
        NativeGraph graph;
        AllocParams made{};
        REQUIRE(add_native(graph.node, graph.graph, {64, 0, device, {}, {}}, made).status == cudaSuccess);
        const AllocParams read = read_alloc(graph.node);
        CHECK(read.device == device);
        CHECK(read.bytes == 64);
        CHECK(read.address == made.address);
    }
    cudart_cpu::set_devices(0);
}

#if CUDART_VERSION >= 12080
TEST_CASE("a library that has kernels is loaded without a failed call in CUDA's log", "[core][library]") {
    cudart_cpu::register_library_kernel("core_fill", fill);
    const LogPosition before = log_position();
    const cudag::Library library =
        cudag::Library::from_ptx(".version 8.0\n.target sm_52\n.address_size 64\n"
                                 ".visible .entry core_fill(.param .u64 cell, .param .u32 value) { ret; }\n");
    CHECK(log_position() == before);
    CHECK(library.kernel_names() == std::vector<std::string>{"core_fill"});
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a library is loaded though CUDA does not tell whether it has code", "[core][library]") {
    const Faults faults = for_every_call_failing(
        [] { return cudag::Library::from_ptx(".version 8.0\n.target sm_80\n.address_size 64\n"); });
    CHECK(faults.thrown == 1);  // the load
    CHECK(faults.ignored >= 2); // the number of its kernels, the question for one
}

TEST_CASE("a library without kernels leaves no error when it is loaded", "[core][library]") {
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
    const cudag::Library library = cudag::Library::from_ptx(".version 8.0\n.target sm_80\n.address_size 64\n");
    CHECK(cudaPeekAtLastError() == cudaSuccess);
}
#endif
