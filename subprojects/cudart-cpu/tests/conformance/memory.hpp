// Device and pinned memory for the tests, poisoned so that what nothing wrote is seen.
#pragma once

#include "test.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

inline constexpr int poison = 0x0BADF00D;

class DeviceInts {
  public:
    explicit DeviceInts(std::size_t count) : count_(count) {
        REQUIRE_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), size_bytes()));
        write(std::vector<int>(count, poison));
    }
    ~DeviceInts() { CHECK(cudaFree(data_) == cudaSuccess); }
    DeviceInts(const DeviceInts&) = delete;
    DeviceInts& operator=(const DeviceInts&) = delete;

    int* data() const { return data_; }
    std::size_t size() const { return count_; }
    std::size_t size_bytes() const { return count_ * sizeof(int); }

    void write(const std::vector<int>& values) {
        REQUIRE(values.size() == count_);
        REQUIRE_CUDA(cudaMemcpy(data_, values.data(), size_bytes(), cudaMemcpyHostToDevice));
        REQUIRE_CUDA(cudaDeviceSynchronize());
    }
    /// The content, once the caller has waited for whatever writes it.
    std::vector<int> read() const {
        std::vector<int> values(count_, ~poison);
        REQUIRE_CUDA(cudaMemcpy(values.data(), data_, size_bytes(), cudaMemcpyDeviceToHost));
        return values;
    }

  private:
    int* data_ = nullptr;
    std::size_t count_;
};

class PinnedInts {
  public:
    explicit PinnedInts(std::size_t count) : count_(count) {
        REQUIRE_CUDA(cudaMallocHost(reinterpret_cast<void**>(&data_), size_bytes()));
        std::fill_n(data_, count, poison);
    }
    ~PinnedInts() { CHECK(cudaFreeHost(data_) == cudaSuccess); }
    PinnedInts(const PinnedInts&) = delete;
    PinnedInts& operator=(const PinnedInts&) = delete;

    int* data() const { return data_; }
    std::size_t size_bytes() const { return count_ * sizeof(int); }
    int& operator[](std::size_t i) const { return data_[i]; }
    std::vector<int> read() const { return {data_, data_ + count_}; }

  private:
    int* data_ = nullptr;
    std::size_t count_;
};
