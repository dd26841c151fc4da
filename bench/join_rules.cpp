// How to choose between edges and an empty kernel, told from measurements.
#include "joins.hpp"

#include "least_squares.hpp"

#include <cudag/cudag.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>

namespace bench {

namespace {

/// Microseconds of a block: [0] + [1] * (in + out) + [2] * in * out.
using Fit = std::array<double, 3>;

Fit terms(double in, double out) {
    return {1, in + out, in * out};
}

double value(const Fit& fit, double in, double out) {
    const Fit of = terms(in, out);
    return fit[0] * of[0] + fit[1] * of[1] + fit[2] * of[2];
}

struct Fits {
    Fit gpu;
    Fit call;
    Fit instantiate;
};

using Metric = const Estimate& (*)(const JoinCosts& costs);

Fit fit(const std::vector<JoinPoint>& points, Form form, Metric metric, const char* name) {
    LeastSquares<3> squares;
    for (const JoinPoint& point : points)
        if (!point.alone) squares.add(terms(point.in, point.out), point.per_block(metric(point.costs[form])));
    const Fit result = squares.solve();
    std::vector<double> errors;
    for (const JoinPoint& point : points)
        if (!point.alone)
            errors.push_back(
                std::abs(value(result, point.in, point.out) / point.per_block(metric(point.costs[form])) - 1));
    std::printf("%-12s %-7s %10.4f %10.5f %10.6f %12.0f%% %9.0f%%\n", name, form_names[form], result[0], result[1],
                result[2], 100 * median(errors), 100 * *std::max_element(errors.begin(), errors.end()));
    return result;
}

std::array<Fits, forms.size()> print_fits(const std::vector<JoinPoint>& points, int duration) {
    std::printf("\nfitted to blocks in a line, kernels of %d us: c0 + c1 * (in + out) + c2 * in * out\n", duration);
    std::printf("%-12s %-7s %10s %10s %10s %13s %10s\n", "", "", "c0", "c1", "c2", "median error", "greatest");
    std::array<Fits, forms.size()> fits;
    for (const Form form : forms)
        fits[form] = {
            fit(
                points, form, [](const JoinCosts& costs) -> const Estimate& { return costs.gpu.front(); }, "GPU"),
            fit(
                points, form, [](const JoinCosts& costs) -> const Estimate& { return costs.call.front(); }, "call"),
            fit(
                points, form, [](const JoinCosts& costs) -> const Estimate& { return costs.instantiate; },
                "instantiate"),
        };
    return fits;
}

/// A number that is the greater, the sooner an empty kernel wins.
struct Rule {
    const char* name;
    std::function<double(double in, double out)> number;
};

std::vector<Rule> rules_of(const std::array<Fits, forms.size()>& fits) {
    const auto gain = [&fits](Fit Fits::*metric) {
        return [&fits, metric](double in, double out) {
            return value(fits[edges].*metric, in, out) / value(fits[kernel].*metric, in, out);
        };
    };
    const auto gpu = gain(&Fits::gpu);
    const auto call = gain(&Fits::call);
    return {
        {"in * out", [](double in, double out) { return in * out; }},
        {"in + out", [](double in, double out) { return in + out; }},
        {"min(in, out)", [](double in, double out) { return std::min(in, out); }},
        {"max(in, out)", [](double in, double out) { return std::max(in, out); }},
        {"in * out - in - out", [](double in, double out) { return in * out - in - out; }},
        {"in * out / (in + out)", [](double in, double out) { return in * out / (in + out); }},
        {"edges/kernel, fitted GPU", gpu},
        {"the less of GPU and call", [=](double in, double out) { return std::min(gpu(in, out), call(in, out)); }},
    };
}

/// Every metric that a choice must not worsen: GPU time and launch call of each duration in turns.
template <class Use>
void each_metric(const JoinPoint& point, Use&& use) {
    for (std::size_t i = 0; i < point.costs[edges].gpu.size(); ++i) {
        use(2 * i, point.costs[edges].gpu[i], point.costs[kernel].gpu[i]);
        use(2 * i + 1, point.costs[edges].call[i], point.costs[kernel].call[i]);
    }
}

constexpr double allowed = 1.02;
constexpr std::size_t all_metrics = std::numeric_limits<std::size_t>::max();

struct Judged {
    double limit = -std::numeric_limits<double>::infinity(); ///< an empty kernel is chosen above it
    std::vector<double> losses;                              ///< by metric: the most that the worse choice costs
    double mean_loss = 1;                                    ///< geometric
    int kernels = 0;                                         ///< how often they are chosen
};

/// The least limit with which no empty kernel is chosen that is worse than edges in `metric`, or in any.
Judged judge(const Rule& rule, const std::vector<JoinPoint>& points, std::size_t metric) {
    Judged result;
    for (const JoinPoint& point : points)
        each_metric(point, [&](std::size_t i, const Estimate& by_edges, const Estimate& by_kernel) {
            if ((metric == i || metric == all_metrics) && exceeds(by_kernel, allowed, by_edges))
                result.limit = std::max(result.limit, rule.number(point.in, point.out));
        });
    double sum = 0;
    int count = 0;
    for (const JoinPoint& point : points) {
        const bool takes_kernel = rule.number(point.in, point.out) > result.limit;
        result.kernels += takes_kernel ? 1 : 0;
        each_metric(point, [&](std::size_t i, const Estimate& by_edges, const Estimate& by_kernel) {
            const double ratio = by_kernel.median / by_edges.median;
            const double loss = std::max(1.0, takes_kernel ? ratio : 1 / ratio);
            result.losses.resize(std::max(result.losses.size(), i + 1), 1.0);
            result.losses[i] = std::max(result.losses[i], loss);
            sum += std::log(loss);
            ++count;
        });
    }
    result.mean_loss = std::exp(sum / count);
    return result;
}

void print_rules(const std::vector<Rule>& rules, const std::vector<JoinPoint>& points,
                 const std::vector<int>& durations) {
    std::vector<std::string> metrics;
    for (const int duration : durations) {
        metrics.push_back("GPU " + std::to_string(duration) + " us");
        metrics.push_back("call " + std::to_string(duration) + " us");
    }
    std::printf(
        "\nan empty kernel above a limit, the least with which it is never more than %.2f of edges, regarding one "
        "metric or all;\nof %zu blocks, how many get a kernel, and what the choice costs against the better one: "
        "its mean, and the most by metric\n%-26s %-12s %9s %8s %8s",
        allowed, points.size(), "above a limit of", "regarding", "limit", "kernels", "mean");
    for (const std::string& metric : metrics)
        std::printf(" %10s", metric.c_str());
    std::printf("\n");
    for (const Rule& rule : rules)
        for (std::size_t i = 0; i <= metrics.size(); ++i) {
            const bool all = i == metrics.size();
            const Judged judged = judge(rule, points, all ? all_metrics : i);
            std::printf("%-26s %-12s %9.2f %8d %8.3f", rule.name, all ? "all" : metrics[i].c_str(), judged.limit,
                        judged.kernels, judged.mean_loss);
            for (const double loss : judged.losses)
                std::printf(" %10.2f", loss);
            std::printf("\n");
        }
}

std::string as_code(const char* name, const Fit& fit) {
    char text[96];
    std::snprintf(text, sizeof text, ".%s = {%.4g, %.4g, %.4g}", name, fit[0], fit[1], fit[2]);
    return text;
}

void print_code(const std::array<Fits, forms.size()>& fits, const Rule& rule, double limit) {
    cudaDeviceProp device{};
    cudag::check(cudaGetDeviceProperties(&device, 0));
    int driver = 0;
    cudag::check(cudaDriverGetVersion(&driver));
    std::printf("\n    // %s, compute capability %d.%d, a driver for CUDA %d.%d; kernel_above: of %s\n"
                "    {.major = %d, .minor = %d,\n",
                device.name, device.major, device.minor, driver / 1000, driver % 1000 / 10, rule.name, device.major,
                device.minor);
    for (const Form form : forms)
        std::printf("     .%s = {%s, %s, %s},\n", form_names[form], as_code("gpu", fits[form].gpu).c_str(),
                    as_code("call", fits[form].call).c_str(), as_code("instantiate", fits[form].instantiate).c_str());
    std::printf("     .kernel_above = %.4g},\n", limit);
}

} // namespace

void print_join_rules(const std::vector<JoinPoint>& points, const std::vector<int>& durations) {
    const std::array<Fits, forms.size()> fits = print_fits(points, durations.front());
    const std::vector<Rule> rules = rules_of(fits);
    print_rules(rules, points, durations);
    const auto loss = [&](const Rule& rule) { return judge(rule, points, all_metrics).mean_loss; };
    const Rule& best =
        *std::min_element(rules.begin(), rules.end(), [&](const Rule& a, const Rule& b) { return loss(a) < loss(b); });
    print_code(fits, best, judge(best, points, all_metrics).limit);
}

} // namespace bench
