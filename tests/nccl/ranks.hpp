// Two ranks in one process, each a thread with a device of its own.
#pragma once

#include <catch.hpp>
#include <cudag/cudag.hpp>
#include <cudag/nccl.hpp>

#include <array>
#include <exception>
#include <thread>
#include <vector>

namespace nccl = cudag::nccl;

constexpr std::size_t n = 64;
constexpr cudag::LaunchConfig all_elements{.grid = 1, .block = n};

inline bool skipped_without_two_devices() {
    int count = 0;
    cudag::check(cudaGetDeviceCount(&count));
    if (count >= 2) return false;
    WARN("skipped: it needs two devices");
    return true;
}

inline std::vector<float> values(const cudag::DeviceBuffer<float>& memory) {
    std::vector<float> read(memory.size());
    cudag::check(cudaMemcpy(read.data(), memory.data(), read.size() * sizeof(float), cudaMemcpyDeviceToHost));
    return read;
}

/// Sets all elements, at once.
inline void set(const cudag::DeviceBuffer<float>& memory, float value) {
    const std::vector<float> written(memory.size(), value);
    cudag::check(cudaMemcpy(memory.data(), written.data(), written.size() * sizeof(float), cudaMemcpyHostToDevice));
    cudag::check(cudaStreamSynchronize(cudaStreamLegacy)); // CUDA's copies may return earlier
}

/// One rank: what it sees of the others is the communicator alone.
struct Rank {
    nccl::Communicator comm;
    int number;
    cudag::Stream stream = {};

    [[nodiscard]] int other() const { return 1 - number; }
    [[nodiscard]] float value() const { return static_cast<float>(number + 1); }

    void run(cudag::Exec& exec) {
        exec.launch(stream);
        stream.synchronize(std::chrono::seconds(20));
    }
    /// NCCL connects the ranks of sends and receives in their first call.
    void warm_up(const nccl::Operation& operation) {
        operation.enqueue(stream);
        stream.synchronize(std::chrono::seconds(20));
    }
};

/// Calls `body(rank)` on a thread for each of two ranks, and returns both results: only these are checked by the test.
template <class Body>
auto on_ranks(const Body& body) {
    using Result = decltype(body(std::declval<Rank&>()));
    std::array<Result, 2> results;
    std::array<std::exception_ptr, 2> failures;
    const nccl::UniqueId id = nccl::UniqueId::create();
    const auto run = [&](int number) {
        try {
            cudag::check(cudaSetDevice(number));
            Rank rank{nccl::Communicator(id, 2, number), number};
            results[static_cast<std::size_t>(number)] = body(rank);
        } catch (...) {
            failures[static_cast<std::size_t>(number)] = std::current_exception();
        }
    };
    std::thread other(run, 1);
    std::thread(run, 0).join();
    other.join();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return results;
}

using Values = std::vector<float>;
using Texts = std::vector<std::string>;

/// The text of the error that `call` throws; "" for none.
template <class Error, class Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}
