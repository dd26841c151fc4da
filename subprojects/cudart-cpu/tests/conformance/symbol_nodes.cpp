// Memcpy nodes to and from device variables.
#include "symbols.hpp"

#include "nodes.hpp"

#include <vector>

namespace {

void write_variable(const std::vector<int>& values) {
    REQUIRE_CUDA(
        cudaMemcpyToSymbol(variable_symbol(), values.data(), values.size() * sizeof(int), 0, cudaMemcpyHostToDevice));
}

std::vector<int> read_variable() {
    std::vector<int> values(variable_count, poison);
    REQUIRE_CUDA(cudaMemcpyFromSymbol(values.data(), variable_symbol(), variable_count * sizeof(int), 0,
                                      cudaMemcpyDeviceToHost));
    return values;
}

cudaGraphNode_t add_to_symbol(cudaGraph_t graph, const void* from, std::size_t bytes, std::size_t offset,
                              cudaMemcpyKind kind, const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemcpyNodeToSymbol(&node, graph, after.data(), after.size(), variable_symbol(), from,
                                                bytes, offset, kind));
    return node;
}

cudaGraphNode_t add_from_symbol(cudaGraph_t graph, void* to, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                                const Nodes& after = {}) {
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA(cudaGraphAddMemcpyNodeFromSymbol(&node, graph, after.data(), after.size(), to, variable_symbol(),
                                                  bytes, offset, kind));
    return node;
}

} // namespace

TEST_CASE("memcpy nodes move data to a symbol and from it", "[graph][memcpy][symbols]") {
    write_variable({0, 0, 0, 0, 0, 0, 0, 0});
    Stream stream;
    Graph graph;
    std::vector<int> source{1, 2};
    std::vector<int> back(3, poison);
    const cudaGraphNode_t to = add_to_symbol(graph, source.data(), 8, 4, cudaMemcpyHostToDevice);
    add_from_symbol(graph, back.data(), 12, 0, cudaMemcpyDeviceToHost, {to});
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(back == std::vector{0, 1, 2});
    REQUIRE(read_variable() == std::vector{0, 1, 2, 0, 0, 0, 0, 0});
}

TEST_CASE("a memcpy node to a symbol is an ordinary memcpy node to its address", "[graph][memcpy][symbols]") {
    Graph graph;
    std::vector<int> source(2);
    void* address = nullptr;
    REQUIRE_CUDA(cudaGetSymbolAddress(&address, variable_symbol()));
    const cudaGraphNode_t node = add_to_symbol(graph, source.data(), 8, 4, cudaMemcpyHostToDevice);
    cudaGraphNodeType type{};
    REQUIRE_CUDA(cudaGraphNodeGetType(node, &type));
    REQUIRE(type == cudaGraphNodeTypeMemcpy);
    cudaMemcpy3DParms params{};
    REQUIRE_CUDA(cudaGraphMemcpyNodeGetParams(node, &params));
    REQUIRE(params.dstPtr.ptr == static_cast<char*>(address) + 4);
    REQUIRE(params.srcPtr.ptr == source.data());
    REQUIRE(params.extent.width == 8);
    REQUIRE(params.kind == cudaMemcpyHostToDevice);
}

TEST_CASE("a memcpy node gets a symbol as its new operand", "[graph][memcpy][symbols]") {
    write_variable({1, 2, 3, 4, 5, 6, 7, 8});
    Stream stream;
    Graph graph;
    DeviceInts device(4);
    std::vector<int> source{10, 20};
    const cudaGraphNode_t up = add_memcpy(graph, device.data(), source.data(), 8, cudaMemcpyHostToDevice);
    const cudaGraphNode_t across =
        add_memcpy(graph, device.data(), device.data() + 2, 4, cudaMemcpyDeviceToDevice, {up});
    REQUIRE_CUDA(
        cudaGraphMemcpyNodeSetParamsToSymbol(up, variable_symbol(), source.data(), 4, 28, cudaMemcpyHostToDevice));
    REQUIRE_CUDA(cudaGraphMemcpyNodeSetParamsFromSymbol(across, device.data(), variable_symbol(), 8, 24,
                                                        cudaMemcpyDeviceToDevice));
    const Exec exec(graph);
    exec.run(stream);
    REQUIRE(device.read() == std::vector{7, 10, poison, poison});
}

TEST_CASE("bad copies to and from symbols are refused as nodes too", "[graph][memcpy][symbols]") {
    Graph graph;
    std::vector<int> host(9);
    int on_stack = 0;
    auto node = untouched<cudaGraphNode_t>();
    const auto to = [&](const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
        return cudaGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, symbol, host.data(), bytes, offset, kind);
    };
    const auto from = [&](const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
        return cudaGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, host.data(), symbol, bytes, offset, kind);
    };
    REQUIRE_CUDA_ERROR(cudaErrorInvalidSymbol, to(&on_stack, 4, 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidSymbol, from(&on_stack, 4, 0, cudaMemcpyDeviceToHost));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection, to(variable_symbol(), 4, 0, cudaMemcpyDeviceToHost));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection, from(variable_symbol(), 4, 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, to(variable_symbol(), 36, 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, from(variable_symbol(), 4, 32, cudaMemcpyDeviceToHost));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, to(variable_symbol(), 0, 0, cudaMemcpyHostToDevice));
    REQUIRE(node == untouched<cudaGraphNode_t>());
    REQUIRE(nodes_of(graph).empty());

    const cudaGraphNode_t empty = add_empty(graph);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParamsToSymbol(
                                                  empty, variable_symbol(), host.data(), 4, 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphMemcpyNodeSetParamsFromSymbol(
                                                  empty, host.data(), variable_symbol(), 4, 0, cudaMemcpyDeviceToHost));
}

TEST_CASE("a memcpy node of an executable graph moves within a symbol and to another", "[exec_update][symbols]") {
    write_variable({1, 2, 3, 4, 5, 6, 7, 8});
    Stream stream;
    Graph graph;
    std::vector<int> source{10, 20};
    std::vector<int> back(2, poison);
    const cudaGraphNode_t to = add_to_symbol(graph, source.data(), 4, 0, cudaMemcpyHostToDevice);
    const cudaGraphNode_t from = add_from_symbol(graph, back.data(), 4, 0, cudaMemcpyDeviceToHost, {to});
    const Exec exec(graph);
    REQUIRE_CUDA(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, variable_symbol(), source.data(), 8, 8,
                                                          cudaMemcpyHostToDevice));
    REQUIRE_CUDA(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, back.data(), variable_symbol(), 8, 12,
                                                            cudaMemcpyDeviceToHost));
    exec.run(stream);
    REQUIRE(back == std::vector{20, 5});
    REQUIRE(read_variable() == std::vector{1, 2, 10, 20, 5, 6, 7, 8});

    REQUIRE_CUDA(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, factors_symbol(), source.data(), 8, 0,
                                                          cudaMemcpyHostToDevice));
    exec.run(stream);
    REQUIRE_CUDA(cudaMemcpyFromSymbol(back.data(), factors_symbol(), 8, 0, cudaMemcpyDeviceToHost));
    REQUIRE(back == source);
}

TEST_CASE("a refused update to or from a symbol changes nothing", "[exec_update][symbols]") {
    write_variable({1, 2, 3, 4, 5, 6, 7, 8});
    Stream stream;
    Graph graph;
    DeviceInts device(2);
    std::vector<int> source{10, 20};
    const cudaGraphNode_t to = add_to_symbol(graph, source.data(), 4, 0, cudaMemcpyHostToDevice);
    const Exec exec(graph);
    const auto set = [&](std::size_t bytes, std::size_t offset, cudaMemcpyKind kind) {
        return cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, variable_symbol(), source.data(), bytes, offset,
                                                        kind);
    };
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(0, 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, set(8, 28, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection, set(8, 0, cudaMemcpyDeviceToHost));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidSymbol, cudaGraphExecMemcpyNodeSetParamsToSymbol(
                                                   exec, to, &source, source.data(), 4, 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, variable_symbol(), device.data(), 4, 0,
                                                                cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, to, source.data(), variable_symbol(), 4, 0,
                                                                  cudaMemcpyDeviceToHost));
    exec.run(stream);
    REQUIRE(read_variable() == std::vector{10, 2, 3, 4, 5, 6, 7, 8});
}
