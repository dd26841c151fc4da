// Owners of CUDA's handles: what a test makes is freed, also when it fails half-way.
#pragma once

#include "test.hpp"

#include <cstddef>

class Stream {
  public:
    explicit Stream(unsigned flags = cudaStreamDefault) { REQUIRE_CUDA(cudaStreamCreateWithFlags(&stream_, flags)); }
    ~Stream() { CHECK(cudaStreamDestroy(stream_) == cudaSuccess); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    operator cudaStream_t() const { return stream_; }
    void synchronize() const { REQUIRE_CUDA(cudaStreamSynchronize(stream_)); }

  private:
    cudaStream_t stream_ = nullptr;
};

class Event {
  public:
    explicit Event(unsigned flags = cudaEventDefault) { REQUIRE_CUDA(cudaEventCreateWithFlags(&event_, flags)); }
    ~Event() { CHECK(cudaEventDestroy(event_) == cudaSuccess); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    operator cudaEvent_t() const { return event_; }

  private:
    cudaEvent_t event_ = nullptr;
};

class Graph {
  public:
    Graph() { REQUIRE_CUDA(cudaGraphCreate(&graph_, 0)); }
    /// Owns `graph`, which may be null until it is written through out().
    explicit Graph(cudaGraph_t graph) : graph_(graph) {}
    ~Graph() { destroy(); }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    operator cudaGraph_t() const { return graph_; }
    cudaGraph_t* out() { return &graph_; }
    void destroy() {
        if (graph_ != nullptr) {
            CHECK(cudaGraphDestroy(graph_) == cudaSuccess);
        }
        graph_ = nullptr;
    }

  private:
    cudaGraph_t graph_ = nullptr;
};

class Exec {
  public:
    explicit Exec(cudaGraph_t graph, unsigned long long flags = 0) {
        REQUIRE_CUDA(cudaGraphInstantiateWithFlags(&exec_, graph, flags));
    }
    ~Exec() { destroy(); }
    Exec(const Exec&) = delete;
    Exec& operator=(const Exec&) = delete;

    operator cudaGraphExec_t() const { return exec_; }
    void run(cudaStream_t stream) const {
        REQUIRE_CUDA(cudaGraphLaunch(exec_, stream));
        REQUIRE_CUDA(cudaStreamSynchronize(stream));
    }
    void destroy() {
        if (exec_ != nullptr) {
            CHECK(cudaGraphExecDestroy(exec_) == cudaSuccess);
        }
        exec_ = nullptr;
    }

  private:
    cudaGraphExec_t exec_ = nullptr;
};
