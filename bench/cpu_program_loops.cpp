// The programs of cpu_programs.cu as loops.
#include "cpu_programs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace programs {

void scan(int n, const int* in, int* out) {
    int sum = 0;
    for (int i = 0; i < n; ++i)
        out[i] = sum += in[i];
}

void radix_sort(int n, const unsigned* in, unsigned* out, unsigned* other) {
    const unsigned* from = in;
    unsigned* to = other;
    for (int shift = 0; shift < 32; shift += 4) {
        int counts[17]{};
        for (int i = 0; i < n; ++i)
            ++counts[(from[i] >> shift & 15) + 1];
        for (int digit = 1; digit < 16; ++digit)
            counts[digit] += counts[digit - 1];
        for (int i = 0; i < n; ++i)
            to[counts[from[i] >> shift & 15]++] = from[i];
        from = to;
        to = to == other ? out : other;
    }
}

void merge_sort(int n, const unsigned* in, unsigned* out, unsigned* other) {
    std::copy(in, in + n, out);
    unsigned* from = out;
    unsigned* to = other;
    for (int width = 1; width < n; width *= 2) {
        for (int begin = 0; begin < n; begin += 2 * width) {
            const int middle = std::min(begin + width, n);
            const int end = std::min(begin + 2 * width, n);
            std::merge(from + begin, from + middle, from + middle, from + end, to + begin);
        }
        std::swap(from, to);
    }
    if (from != out) std::copy(from, from + n, out);
}

void product(int n, const float* a, const float* b, float* c) {
    for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column) {
            float sum = 0;
            for (int i = 0; i < n; ++i)
                sum += a[row * n + i] * b[i * n + column];
            c[row * n + column] = sum;
        }
}

void transpose(int n, const float* in, float* out) {
    constexpr int tile = 32;
    for (int row = 0; row < n; row += tile)
        for (int column = 0; column < n; column += tile)
            for (int y = row; y < row + tile; ++y)
                for (int x = column; x < column + tile; ++x)
                    out[x * n + y] = in[y * n + x];
}

float sum(int n, const float* in) {
    float total = 0;
    for (int i = 0; i < n; ++i)
        total += in[i];
    return total;
}

Xorwow xorwow(unsigned seed) {
    const unsigned s = seed ^ 0xaad26b49u;
    const unsigned t = 1099087573u * s;
    return {{123456789u + t, 362436069u ^ t, 521288629u + t, 88675123u ^ t, 5783321u + t}, 6615241u + t};
}

namespace {

unsigned next(Xorwow& s) {
    const unsigned t = s.v[0] ^ (s.v[0] >> 2);
    s.v[0] = s.v[1];
    s.v[1] = s.v[2];
    s.v[2] = s.v[3];
    s.v[3] = s.v[4];
    s.v[4] = (s.v[4] ^ (s.v[4] << 4)) ^ (t ^ (t << 1));
    s.d += 362437;
    return s.v[4] + s.d;
}

float uniform(Xorwow& s) {
    return static_cast<float>(next(s)) * 2.3283064e-10f + 1.1641532e-10f;
}

float normal_cdf(float x) {
    return 0.5f * std::erfc(-0.70710678f * x);
}

} // namespace

float monte_carlo(int threads, int paths, unsigned seed) {
    unsigned inside = 0;
    for (int i = 0; i < threads; ++i) {
        Xorwow state = xorwow(seed + static_cast<unsigned>(i));
        for (int path = 0; path < paths; ++path) {
            const float x = uniform(state);
            const float y = uniform(state);
            if (x * x + y * y < 1) ++inside;
        }
    }
    return 4.0f * static_cast<float>(inside) / (static_cast<float>(threads) * static_cast<float>(paths));
}

void black_scholes(int n, const float* price, const float* strike, const float* years, float* call, float* put) {
    constexpr float rate = 0.02f;
    constexpr float volatility = 0.3f;
    for (int i = 0; i < n; ++i) {
        const float root = std::sqrt(years[i]);
        const float d1 =
            (std::log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
        const float d2 = d1 - volatility * root;
        const float discounted = strike[i] * std::exp(-rate * years[i]);
        call[i] = price[i] * normal_cdf(d1) - discounted * normal_cdf(d2);
        put[i] = discounted * normal_cdf(-d2) - price[i] * normal_cdf(-d1);
    }
}

void convolution(int width, int height, int radius, const float* weights, const float* in, float* out) {
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            float sum = 0;
            for (int k = -radius; k <= radius; ++k) {
                const int at = std::clamp(x + k, 0, width - 1);
                sum += weights[k + radius] * in[y * width + at];
            }
            out[y * width + x] = sum;
        }
}

namespace {

float bilinear(int width, int height, const float* image, float x, float y) {
    const float fx = std::floor(x);
    const float fy = std::floor(y);
    const float ax = std::round((x - fx) * 256.0f) / 256.0f;
    const float ay = std::round((y - fy) * 256.0f) / 256.0f;
    const int x0 = std::clamp(static_cast<int>(fx), 0, width - 1);
    const int x1 = std::clamp(static_cast<int>(fx) + 1, 0, width - 1);
    const int y0 = std::clamp(static_cast<int>(fy), 0, height - 1);
    const int y1 = std::clamp(static_cast<int>(fy) + 1, 0, height - 1);
    return (1 - ay) * ((1 - ax) * image[y0 * width + x0] + ax * image[y0 * width + x1]) +
           ay * ((1 - ax) * image[y1 * width + x0] + ax * image[y1 * width + x1]);
}

} // namespace

void optical_flow(int width, int height, int steps, const float* first, const float* second, float* u, float* v,
                  float* u2, float* v2) {
    std::fill_n(u, width * height, 0.0f);
    std::fill_n(v, width * height, 0.0f);
    for (int step = 0; step < steps; ++step) {
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const auto clamped = [&](const float* f, int i, int j) {
                    return f[std::clamp(j, 0, height - 1) * width + std::clamp(i, 0, width - 1)];
                };
                const float mean_u =
                    0.25f * (clamped(u, x - 1, y) + clamped(u, x + 1, y) + clamped(u, x, y - 1) + clamped(u, x, y + 1));
                const float mean_v =
                    0.25f * (clamped(v, x - 1, y) + clamped(v, x + 1, y) + clamped(v, x, y - 1) + clamped(v, x, y + 1));
                const float px = static_cast<float>(x) + mean_u;
                const float py = static_cast<float>(y) + mean_v;
                const float ix =
                    0.5f * (bilinear(width, height, second, px + 1, py) - bilinear(width, height, second, px - 1, py));
                const float iy =
                    0.5f * (bilinear(width, height, second, px, py + 1) - bilinear(width, height, second, px, py - 1));
                const float it = bilinear(width, height, second, px, py) - first[y * width + x];
                const float scale = it / (0.1f + ix * ix + iy * iy);
                u2[y * width + x] = mean_u - ix * scale;
                v2[y * width + x] = mean_v - iy * scale;
            }
        std::swap(u, u2);
        std::swap(v, v2);
    }
}

void histogram(int n, const unsigned char* in, unsigned* bins) {
    std::fill_n(bins, 256, 0u);
    for (int i = 0; i < n; ++i)
        ++bins[in[i]];
}

void heat(int n, int steps, float* a, float* b) {
    for (int step = 0; step < steps; ++step) {
        for (int i = 1; i < n - 1; ++i)
            b[i] = a[i] + 0.2f * (a[i - 1] - 2 * a[i] + a[i + 1]);
        std::swap(a, b);
    }
}

void random_numbers(int threads, int count, Xorwow* states, float* out) {
    for (int i = 0; i < threads; ++i) {
        Xorwow state = states[i];
        for (int k = 0; k < count; ++k)
            out[k * threads + i] = uniform(state);
        states[i] = state;
    }
}

void n_body(int n, const float4* bodies, float4* forces) {
    for (int i = 0; i < n; ++i) {
        float x = 0;
        float y = 0;
        float z = 0;
        for (int j = 0; j < n; ++j) {
            const float dx = bodies[j].x - bodies[i].x;
            const float dy = bodies[j].y - bodies[i].y;
            const float dz = bodies[j].z - bodies[i].z;
            const float r = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
            const float s = bodies[j].w * r * r * r;
            x += dx * s;
            y += dy * s;
            z += dz * s;
        }
        forces[i] = {x, y, z, 0};
    }
}

void work_by_clock(int n, int* out) {
    for (int i = 0; i < n; ++i)
        out[i] = i;
}

} // namespace programs
