// Tests of what kernels compute, in .cu files that nvcc compiles for either runtime: their names, and their checks.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct KernelTest {
    const char* name;
    void (*run)();
};

/// In the order of their files. nvcc need not read Catch2: the program's main file does.
std::vector<KernelTest>& kernel_tests();

struct AddKernelTest {
    AddKernelTest(const char* name, void (*run)()) { kernel_tests().push_back({name, run}); }
};

#define KERNEL_TEST_JOIN2(a, b) a##b
#define KERNEL_TEST_JOIN(a, b) KERNEL_TEST_JOIN2(a, b)
#define KERNEL_TEST_NAMED(name, function)                                                                              \
    static void function();                                                                                            \
    static const AddKernelTest KERNEL_TEST_JOIN(add_, function)(name, function);                                       \
    static void function()
/// `KERNEL_TEST("name") { ... }`
#define KERNEL_TEST(name) KERNEL_TEST_NAMED(name, KERNEL_TEST_JOIN(kernel_test_, __LINE__))

inline void require_ok(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}
#define OK(call) require_ok(call, #call)

inline void expect(bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error(what);
}

/// Device memory that holds a copy.
template <class T>
class Device {
  public:
    explicit Device(const std::vector<T>& values) : Device(values.size()) {
        OK(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
    }
    explicit Device(std::size_t count) : count_(count) {
        OK(cudaMalloc(reinterpret_cast<void**>(&data_), (count + 1) * sizeof(T)));
        OK(cudaMemset(data_, 0, count * sizeof(T)));
    }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() { cudaFree(data_); }

    T* get() const { return data_; }
    std::size_t size() const { return count_; }

    /// After all that was launched.
    std::vector<T> read() const {
        OK(cudaGetLastError());
        OK(cudaDeviceSynchronize());
        std::vector<T> values(count_);
        OK(cudaMemcpy(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }

  private:
    T* data_ = nullptr;
    std::size_t count_;
};

/// Bit for bit.
template <class T>
void expect_same(const std::vector<T>& got, const std::vector<T>& expected, const std::string& what = "") {
    expect(got.size() == expected.size(), what + ": sizes differ");
    for (std::size_t i = 0; i < got.size(); ++i)
        if (std::memcmp(&got[i], &expected[i], sizeof(T)) != 0) {
            std::ostringstream text;
            text << what << ": element " << i << " is " << +got[i] << ", not " << +expected[i] << std::hex;
            const auto* a = reinterpret_cast<const unsigned char*>(&got[i]);
            const auto* b = reinterpret_cast<const unsigned char*>(&expected[i]);
            text << " (bytes";
            for (std::size_t byte = sizeof(T); byte-- > 0;)
                text << ' ' << +a[byte];
            text << ", not";
            for (std::size_t byte = sizeof(T); byte-- > 0;)
                text << ' ' << +b[byte];
            throw std::runtime_error(text.str() + ")");
        }
}

template <class T>
void expect_near(const std::vector<T>& got, const std::vector<T>& expected, double relative,
                 const std::string& what = "") {
    expect(got.size() == expected.size(), what + ": sizes differ");
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double error = std::fabs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
        if (!(error <= relative * std::fmax(1.0, std::fabs(static_cast<double>(expected[i]))))) {
            std::ostringstream text;
            text << what << ": element " << i << " is " << got[i] << ", not " << expected[i];
            throw std::runtime_error(text.str());
        }
    }
}

/// Numbers without a pattern, the same each time.
class Numbers {
  public:
    explicit Numbers(unsigned seed) : state_(seed) {}
    unsigned next() {
        state_ = state_ * 1664525u + 1013904223u;
        return state_ ^ state_ >> 15;
    }
    /// From 0 to 1.
    float fraction() { return static_cast<float>(next() >> 8) * 0x1p-24f; }

  private:
    unsigned state_;
};
