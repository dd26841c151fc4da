// All that an example in the comment of a public header finds declared: see header_examples.py.
#pragma once

#include <cudag/agree.hpp>
#include <cudag/bucket.hpp>
#include <cudag/cudag.hpp>
#include <cudag/eager_builder.hpp>
#include <cudag/footprint.hpp>
#include <cudag/format.hpp>
#include <cudag/graph_function.hpp>
#include <cudag/graph_text.hpp>
#include <cudag/nccl.hpp>
#include <cudag/observer.hpp>
#include <cudag/ostream.hpp>
#include <cudag/pool_order.hpp>
#include <cudag/probe.hpp>
#include <cudag/profile.hpp>
#include <cudag/profile_diff.hpp>
#include <cudag/verify.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

void scale(float* x, float factor, int n);
void add(const float* x, const float* y, float* sum, int n);
void fill(float* x, float value, int n);
void step(float* x, int n);
float* library_call(cudaStream_t stream, float* x, int n);

extern const int ranks, rank, next, previous;
extern const cudag::AllGather gather;
extern const cudag::nccl::UniqueId id;
extern const cudag::nccl::Communicator comm;
extern const cudag::Node fill_x;

// The head of the function around an example. The buffers have n elements.
#define CUDAG_EXAMPLE(name)                                                                                            \
    void name([[maybe_unused]] cudag::GraphBuilder& b, [[maybe_unused]] cudag::Graph& graph,                           \
              [[maybe_unused]] cudag::Exec& exec, [[maybe_unused]] cudag::Stream& stream,                              \
              [[maybe_unused]] cudag::StreamCapture& c, [[maybe_unused]] cudag::DeviceBuffer<float>& x,                \
              [[maybe_unused]] cudag::DeviceBuffer<float>& y, [[maybe_unused]] cudag::PinnedBuffer<float>& host,       \
              [[maybe_unused]] int n, [[maybe_unused]] cudag::LaunchConfig config)
