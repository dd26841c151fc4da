// CUDA's log: what it says about a failing call, to whom, and how it is read.
#include "gate.hpp"
#include "listener.hpp"
#include "nodes.hpp"

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace {

const std::string too_wide = "One or more of block dimensions of (2048,1,1) exceeds correspsonding maximum value of "
                             "(1024,1024,64)";
const std::string returning = "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuGraphAddKernelNode_v2";

/// A call that fails and leaves two lines in the log.
void fail(cudaGraph_t graph) {
    Call call(nothing);
    call.block = dim3(2048);
    const cudaKernelNodeParams params = call.params();
    cudaGraphNode_t node = nullptr;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
}

cudaLogIterator log_end() {
    cudaLogIterator iterator = 0;
    REQUIRE_CUDA(cudaLogsCurrent(&iterator, 0));
    return iterator;
}

/// The lines from `iterator` on, which moves to the end.
std::vector<std::string> dump(cudaLogIterator& iterator) {
    std::string buffer(32768, '?');
    std::size_t size = buffer.size();
    REQUIRE_CUDA(cudaLogsDumpToMemory(&iterator, buffer.data(), &size, 0));
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < size;) {
        const std::size_t end = buffer.find('\n', begin);
        REQUIRE(end < size);
        lines.push_back(buffer.substr(begin, end - begin));
        begin = end + 1;
    }
    if (size > 0) {
        REQUIRE(buffer[size] == '\0');
    }
    return lines;
}

} // namespace

TEST_CASE("a log callback is told the reason before the failing call returns, on the calling thread", "[log]") {
    Graph graph;
    Listener listener;
    fail(graph);
    REQUIRE(listener.texts() == std::vector<std::string>{too_wide, returning});
    REQUIRE(listener.lines[0].level == cudaLogLevelError);
    REQUIRE(listener.lines[0].thread == std::this_thread::get_id());

    std::thread::id other;
    std::thread([&] {
        other = std::this_thread::get_id();
        fail(graph);
    }).join();
    REQUIRE(listener.lines.size() == 4);
    REQUIRE(listener.lines[2].text == too_wide);
    REQUIRE(listener.lines[3].thread == other);
}

TEST_CASE("every log callback is told, until it is unregistered", "[log]") {
    Graph graph;
    Listener first;
    Listener second;
    fail(graph);
    REQUIRE(first.texts() == second.texts());
    first.stop();
    fail(graph);
    REQUIRE(first.lines.size() == 2);
    REQUIRE(second.lines.size() == 4);
}

TEST_CASE("a call that succeeds, and pending work, log nothing", "[log]") {
    Stream stream;
    Listener listener;
    Gate gate;
    gate.block(stream);
    REQUIRE_NOT_READY(cudaStreamQuery(stream));
    gate.open();
    stream.synchronize();
    REQUIRE(listener.lines.empty());
}

TEST_CASE("the log can be read later, oldest line first, with time, thread and level before the text", "[log]") {
    Graph graph;
    cudaLogIterator iterator = log_end();
    fail(graph);
    const std::vector<std::string> lines = dump(iterator);
    REQUIRE(lines.size() == 2);
    REQUIRE_THAT(lines[0], EndsWith("][CUDA][E] " + too_wide));
    REQUIRE_THAT(lines[1], EndsWith("][CUDA][E] " + returning));
    // [hh:mm:ss.mmm][thread]
    REQUIRE(lines[0][0] == '[');
    REQUIRE(lines[0].substr(3, 1) + lines[0].substr(6, 1) + lines[0].substr(9, 1) == "::.");
    REQUIRE(lines[0].substr(13, 2) == "][");
}

TEST_CASE("dumping the log moves the iterator to its end", "[log]") {
    Graph graph;
    cudaLogIterator iterator = log_end();
    const cudaLogIterator before = iterator;
    fail(graph);
    REQUIRE(dump(iterator).size() == 2);
    REQUIRE(iterator == before + 2);
    REQUIRE(iterator == log_end());
    REQUIRE(dump(iterator).empty());

    cudaLogIterator again = before;
    REQUIRE(dump(again).size() == 2);
}

TEST_CASE("an empty dump has size zero and leaves the buffer alone", "[log]") {
    cudaLogIterator iterator = log_end();
    std::array<char, 1024> buffer{'?'};
    std::size_t size = buffer.size();
    REQUIRE_CUDA(cudaLogsDumpToMemory(&iterator, buffer.data(), &size, 0));
    REQUIRE(size == 0);
    REQUIRE(buffer[0] == '?');
}

TEST_CASE("a buffer too small for one line is refused", "[log]") {
    Graph graph;
    cudaLogIterator iterator = log_end();
    const cudaLogIterator before = iterator;
    fail(graph);
    std::array<char, 64> buffer{'?'};
    std::size_t size = 10;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaLogsDumpToMemory(&iterator, buffer.data(), &size, 0));
    REQUIRE(size == 0);
    REQUIRE(iterator == before);
}

TEST_CASE("the log keeps the last hundred lines", "[log]") {
    Graph graph;
    cudaLogIterator iterator = log_end();
    for (int i = 0; i < 60; ++i) {
        fail(graph);
    }
    const std::vector<std::string> lines = dump(iterator);
    REQUIRE(lines.size() == 101);
    REQUIRE(lines[0] == "Log buffer has rolled over since the previous dump. The oldest messages will be missing");
    REQUIRE_THAT(lines[1], EndsWith(too_wide));
    REQUIRE_THAT(lines[100], EndsWith(returning));
}

TEST_CASE("the log functions refuse null arguments", "[log]") {
    cudaLogsCallbackHandle handle = nullptr;
    cudaLogIterator iterator = log_end();
    std::array<char, 64> buffer{};
    std::size_t size = buffer.size();
    REQUIRE(cudaLogsCurrent(nullptr, 0) == cudaErrorInvalidValue);
    REQUIRE(cudaLogsDumpToMemory(&iterator, nullptr, &size, 0) == cudaErrorInvalidValue);
    REQUIRE(cudaLogsDumpToMemory(&iterator, buffer.data(), nullptr, 0) == cudaErrorInvalidValue);
    REQUIRE(cudaLogsRegisterCallback(nullptr, nullptr, &handle) == cudaErrorInvalidValue);
    REQUIRE(cudaLogsUnregisterCallback(nullptr) == cudaErrorInvalidValue);
    REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
}
