// External semaphores of both kinds, in streams and in graphs.
#include "check.hpp"
#include "gate.hpp"

#include <cudart_cpu/control.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <vector>

namespace {

int new_file() {
    const int fd = memfd_create("semaphore", 0);
    CHECK(fd >= 0);
    return fd;
}

cudaExternalSemaphoreHandleDesc description(cudaExternalSemaphoreHandleType type, int fd) {
    cudaExternalSemaphoreHandleDesc result{};
    result.type = type;
    result.handle.fd = fd;
    return result;
}

cudaExternalSemaphore_t import(int fd, cudaExternalSemaphoreHandleType type) {
    const cudaExternalSemaphoreHandleDesc imported = description(type, fd);
    cudaExternalSemaphore_t semaphore = nullptr;
    CHECK_OK(cudaImportExternalSemaphore(&semaphore, &imported));
    return semaphore;
}

cudaExternalSemaphore_t new_timeline() {
    return import(new_file(), cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd);
}

void signal(cudaExternalSemaphore_t semaphore, unsigned long long value, cudaStream_t stream) {
    cudaExternalSemaphoreSignalParams params{};
    params.params.fence.value = value;
    CHECK_OK(cudaSignalExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

void wait(cudaExternalSemaphore_t semaphore, unsigned long long value, cudaStream_t stream) {
    cudaExternalSemaphoreWaitParams params{};
    params.params.fence.value = value;
    CHECK_OK(cudaWaitExternalSemaphoresAsync(&semaphore, &params, 1, stream));
}

struct Streams {
    Streams() {
        CHECK_OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
        CHECK_OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    }
    ~Streams() {
        CHECK_OK(cudaStreamDestroy(a));
        CHECK_OK(cudaStreamDestroy(b));
    }
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    cudaStream_t a = nullptr;
    cudaStream_t b = nullptr;
};

/// Node parameters, and the arrays that they point to.
template <class NodeParams, class Params>
struct Parameters {
    Parameters(std::vector<cudaExternalSemaphore_t> of, const std::vector<unsigned long long>& values)
        : semaphores(std::move(of)), params(values.size()) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            params[i].params.fence.value = values[i];
        }
    }

    NodeParams node() {
        NodeParams result{};
        result.extSemArray = semaphores.data();
        result.paramsArray = params.data();
        result.numExtSems = static_cast<unsigned>(semaphores.size());
        return result;
    }

    std::vector<cudaExternalSemaphore_t> semaphores;
    std::vector<Params> params;
};

using Signal = Parameters<cudaExternalSemaphoreSignalNodeParams, cudaExternalSemaphoreSignalParams>;
using Wait = Parameters<cudaExternalSemaphoreWaitNodeParams, cudaExternalSemaphoreWaitParams>;

void a_wait_is_over_when_the_timeline_has_reached_its_value() {
    const Streams streams;
    cudaExternalSemaphore_t timeline = new_timeline();
    wait(timeline, 5, streams.a);
    signal(timeline, 4, streams.b);
    CHECK_OK(cudaStreamSynchronize(streams.b));
    CHECK(cudart_cpu::external_semaphore_value(timeline) == 4);
    CHECK_CODE(cudaErrorNotReady, cudaStreamQuery(streams.a));
    signal(timeline, 6, streams.b);
    CHECK_OK(cudaStreamSynchronize(streams.a));
    wait(timeline, 6, streams.a);
    CHECK_OK(cudaStreamSynchronize(streams.a));
    CHECK_OK(cudaDestroyExternalSemaphore(timeline));
}

void imports_of_one_file_are_one_semaphore() {
    const Streams streams;
    const int file = new_file();
    const int copy = dup(file);
    cudaExternalSemaphore_t first = import(file, cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd);
    cudaExternalSemaphore_t second = import(copy, cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd);
    cudaExternalSemaphore_t other = new_timeline();
    signal(first, 3, streams.a);
    wait(second, 3, streams.b);
    CHECK_OK(cudaStreamSynchronize(streams.b));
    CHECK(cudart_cpu::external_semaphore_value(other) == 0);
    for (cudaExternalSemaphore_t semaphore : {first, second, other}) {
        CHECK_OK(cudaDestroyExternalSemaphore(semaphore));
    }
}

void a_binary_semaphore_is_taken_by_one_wait() {
    const Streams streams;
    cudaExternalSemaphore_t binary = import(new_file(), cudaExternalSemaphoreHandleTypeOpaqueFd);
    signal(binary, 0, streams.a);
    wait(binary, 0, streams.a);
    CHECK_OK(cudaStreamSynchronize(streams.a));
    CHECK(cudart_cpu::external_semaphore_value(binary) == 0);
    wait(binary, 0, streams.a);
    CHECK_CODE(cudaErrorNotReady, cudaStreamQuery(streams.a));
    signal(binary, 0, streams.b);
    CHECK_OK(cudaStreamSynchronize(streams.a));
    CHECK_OK(cudaDestroyExternalSemaphore(binary));
}

void nodes_signal_and_wait(bool generic) {
    const Streams streams;
    cudaExternalSemaphore_t go = new_timeline();
    cudaExternalSemaphore_t done = new_timeline();
    Wait waits({go, go}, {1, 2});
    Signal signals({done}, {7});
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t waiting = nullptr;
    cudaGraphNode_t signalling = nullptr;
    const auto wait_node = waits.node();
    const auto signal_node = signals.node();
    if (generic) {
        cudaGraphNodeParams params{};
        params.type = cudaGraphNodeTypeExtSemaphoreWait;
        params.extSemWait = {wait_node.extSemArray, wait_node.paramsArray, wait_node.numExtSems};
        CHECK_OK(cudaGraphAddNode(&waiting, graph, nullptr, nullptr, 0, &params));
        params = {};
        params.type = cudaGraphNodeTypeExtSemaphoreSignal;
        params.extSemSignal = {signal_node.extSemArray, signal_node.paramsArray, signal_node.numExtSems};
        CHECK_OK(cudaGraphAddNode(&signalling, graph, &waiting, nullptr, 1, &params));
    } else {
        CHECK_OK(cudaGraphAddExternalSemaphoresWaitNode(&waiting, graph, nullptr, 0, &wait_node));
        CHECK_OK(cudaGraphAddExternalSemaphoresSignalNode(&signalling, graph, &waiting, 1, &signal_node));
    }
    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_OK(cudaGraphLaunch(exec, streams.a));
    signal(go, 1, streams.b);
    CHECK_OK(cudaStreamSynchronize(streams.b));
    CHECK_CODE(cudaErrorNotReady, cudaStreamQuery(streams.a));
    CHECK(cudart_cpu::external_semaphore_value(done) == 0);
    signal(go, 2, streams.b);
    CHECK_OK(cudaStreamSynchronize(streams.a));
    CHECK(cudart_cpu::external_semaphore_value(done) == 7);
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK_OK(cudaGraphDestroy(graph));
    CHECK_OK(cudaDestroyExternalSemaphore(go));
    CHECK_OK(cudaDestroyExternalSemaphore(done));
}

void parameters_are_read_and_replaced() {
    cudaExternalSemaphore_t first = new_timeline();
    cudaExternalSemaphore_t second = new_timeline();
    Signal one({first}, {1});
    Signal two({first, second}, {2, 3});
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t node = nullptr;
    const auto params = one.node();
    CHECK_OK(cudaGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &params));
    const auto more = two.node();
    CHECK_OK(cudaGraphExternalSemaphoresSignalNodeSetParams(node, &more));
    cudaExternalSemaphoreSignalNodeParams read{};
    CHECK_OK(cudaGraphExternalSemaphoresSignalNodeGetParams(node, &read));
    CHECK(read.numExtSems == 2 && read.extSemArray != two.semaphores.data());
    CHECK(read.extSemArray[0] == first && read.extSemArray[1] == second);
    CHECK(read.paramsArray[0].params.fence.value == 2 && read.paramsArray[1].params.fence.value == 3);
    cudaExternalSemaphoreWaitNodeParams of_a_wait{};
    CHECK_CODE(cudaErrorInvalidValue, cudaGraphExternalSemaphoresWaitNodeGetParams(node, &of_a_wait));
    CHECK_OK(cudaGraphDestroy(graph));
    CHECK_OK(cudaDestroyExternalSemaphore(first));
    CHECK_OK(cudaDestroyExternalSemaphore(second));
}

void an_update_keeps_the_number_of_semaphores() {
    cudaExternalSemaphore_t first = new_timeline();
    cudaExternalSemaphore_t second = new_timeline();
    Signal one({first}, {1});
    Signal other({second}, {5});
    Signal two({first, second}, {8, 9});
    cudaGraph_t graph = nullptr;
    cudaGraph_t changed = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    CHECK_OK(cudaGraphCreate(&changed, 0));
    cudaGraphNode_t node = nullptr;
    cudaGraphNode_t changed_node = nullptr;
    const auto params = one.node();
    const auto others = other.node();
    const auto twos = two.node();
    CHECK_OK(cudaGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &params));
    CHECK_OK(cudaGraphAddExternalSemaphoresSignalNode(&changed_node, changed, nullptr, 0, &twos));
    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_CODE(cudaErrorInvalidValue, cudaGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, &twos));
    cudaGraphExecUpdateResultInfo info{};
    CHECK_CODE(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, changed, &info));
    CHECK(info.result == cudaGraphExecUpdateErrorParametersChanged && info.errorNode == changed_node);
    CHECK_OK(cudaGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, &others));
    CHECK_OK(cudaGraphLaunch(exec, nullptr));
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(cudart_cpu::external_semaphore_value(first) == 0 && cudart_cpu::external_semaphore_value(second) == 5);
    CHECK_OK(cudaGraphExecDestroy(exec));
    CHECK_OK(cudaGraphDestroy(graph));
    CHECK_OK(cudaGraphDestroy(changed));
    CHECK_OK(cudaDestroyExternalSemaphore(first));
    CHECK_OK(cudaDestroyExternalSemaphore(second));
}

void work_in_flight_keeps_a_destroyed_semaphore() {
    const Streams streams;
    cudaExternalSemaphore_t timeline = new_timeline();
    Gate gate;
    gate.close(streams.a);
    signal(timeline, 1, streams.a);
    wait(timeline, 1, streams.b);
    CHECK_OK(cudaDestroyExternalSemaphore(timeline));
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaDestroyExternalSemaphore(timeline));
    CHECK(cudart_cpu::live().external_semaphores == 0);
    gate.open();
    CHECK_OK(cudaStreamSynchronize(streams.b));
}

void bad_imports_are_refused_and_leave_the_file_alone() {
    const int file = new_file();
    cudaExternalSemaphore_t semaphore = nullptr;
    cudaExternalSemaphoreHandleDesc bad = description(cudaExternalSemaphoreHandleTypeOpaqueWin32, file);
    CHECK_CODE(cudaErrorNotSupported, cudaImportExternalSemaphore(&semaphore, &bad));
    bad = description(cudaExternalSemaphoreHandleTypeOpaqueFd, file);
    bad.flags = 1;
    CHECK_CODE(cudaErrorInvalidValue, cudaImportExternalSemaphore(&semaphore, &bad));
    bad = description(cudaExternalSemaphoreHandleTypeOpaqueFd, -1);
    CHECK_CODE(cudaErrorOperatingSystem, cudaImportExternalSemaphore(&semaphore, &bad));
    CHECK(semaphore == nullptr);
    CHECK(close(file) == 0);
    const cudaExternalSemaphoreSignalParams params{};
    CHECK_CODE(cudaErrorInvalidResourceHandle, cudaSignalExternalSemaphoresAsync(&semaphore, &params, 1, nullptr));
    CHECK_CODE(cudaErrorInvalidValue, cudaSignalExternalSemaphoresAsync(nullptr, &params, 1, nullptr));
}

void the_file_is_closed_with_the_semaphore() {
    const int file = new_file();
    cudaExternalSemaphore_t semaphore = import(file, cudaExternalSemaphoreHandleTypeOpaqueFd);
    CHECK_OK(cudaDestroyExternalSemaphore(semaphore));
    CHECK(close(file) == -1);
}

} // namespace

int main() {
    a_wait_is_over_when_the_timeline_has_reached_its_value();
    imports_of_one_file_are_one_semaphore();
    a_binary_semaphore_is_taken_by_one_wait();
    nodes_signal_and_wait(false);
    nodes_signal_and_wait(true);
    parameters_are_read_and_replaced();
    an_update_keeps_the_number_of_semaphores();
    work_in_flight_keeps_a_destroyed_semaphore();
    bad_imports_are_refused_and_leave_the_file_alone();
    the_file_is_closed_with_the_semaphore();
    CHECK(cudart_cpu::live().external_semaphores == 0);
}
