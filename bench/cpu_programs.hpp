// Everyday programs as kernels and as loops of C++, for the speed of the CPU runtime.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <vector>

namespace programs {

/// One program, written twice. Both halves work on the same inputs.
class Program {
  public:
    const char* name;
    double goal; ///< the ratio of kernels to loops to stay below

    Program(const char* the_name, double the_goal) : name(the_name), goal(the_goal) {}
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    virtual ~Program() = default;

    virtual void kernels() = 0;
    virtual void loops() = 0;
    /// Whether the results of both are equal.
    [[nodiscard]] virtual bool agrees() const = 0;
};

std::vector<std::unique_ptr<Program>> all();

/// The result of an XORWOW step, as of cuRAND.
struct Xorwow {
    unsigned v[5];
    unsigned d;
};
Xorwow xorwow(unsigned seed);

// The programs as loops.
void scan(int n, const int* in, int* out);
void radix_sort(int n, const unsigned* in, unsigned* out, unsigned* other);
void merge_sort(int n, const unsigned* in, unsigned* out, unsigned* other);
void product(int n, const float* a, const float* b, float* c);
void transpose(int n, const float* in, float* out);
float sum(int n, const float* in);
float monte_carlo(int threads, int paths, unsigned seed);
void black_scholes(int n, const float* price, const float* strike, const float* years, float* call, float* put);
void convolution(int width, int height, int radius, const float* weights, const float* in, float* out);
void optical_flow(int width, int height, int steps, const float* first, const float* second, float* u, float* v,
                  float* u2, float* v2);
void histogram(int n, const unsigned char* in, unsigned* bins);
void heat(int n, int steps, float* a, float* b);
void random_numbers(int threads, int count, Xorwow* states, float* out);
void n_body(int n, const float4* bodies, float4* forces);
void work_by_clock(int n, int* out);

} // namespace programs
