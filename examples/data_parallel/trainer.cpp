#include "trainer.hpp"

#include <utility>

namespace data_parallel {
namespace {

void fill(const cudag::DeviceBuffer<float>& memory, const std::vector<float>& values) {
    cudag::check(cudaMemcpy(memory.data(), values.data(), memory.size_bytes(), cudaMemcpyHostToDevice));
}

} // namespace

Trainer::Trainer(const Problem& problem, const cudag::nccl::Communicator& comm, int buckets)
    : problem_(problem), shape_{problem.batch, problem.width}, comm_(comm), target_(problem.batch_size()),
      weights_(problem.layer_size() * static_cast<std::size_t>(problem.layers)), gradients_(weights_.size()) {
    for (int i = 0; i <= problem.layers; ++i)
        values_.emplace_back(problem.batch_size());
    for (int i = 0; i < 2; ++i)
        errors_.emplace_back(problem.batch_size());
    for (int i = buckets; i-- > 0;) {
        const int first = problem.layers * i / buckets;
        buckets_.push_back({first, problem.layers * (i + 1) / buckets - first});
        computed_.emplace_back(cudag::EventOptions{.timing = false});
        summed_.emplace_back(cudag::EventOptions{.timing = false});
    }
    fill(values_.front(), inputs(problem, comm.rank()));
    fill(target_, targets(problem, comm.rank()));
}

void Trainer::reset(cudag::Stream& stream) {
    stream.synchronize();
    fill(weights_, first_weights(problem_));
    cudag::check(cudaDeviceSynchronize());
}

void Trainer::warm_up(cudag::Stream& stream) {
    for (const Bucket& bucket : buckets_)
        sum_of(bucket).enqueue(stream);
    stream.synchronize();
}

template <class Launch, class Finished, class Summed>
void Trainer::walk(const Launch& launch, const Finished& finished, const Summed& summed) const {
    const auto last = static_cast<std::size_t>(problem_.layers);
    const std::size_t batch = problem_.batch_size(), layer = problem_.layer_size();
    for (std::size_t i = 0; i < last; ++i)
        launch("forward", batch, forward, values_[i], layers_of(weights_, static_cast<int>(i)), values_[i + 1], shape_,
               i + 1 < last);
    const float scale = 1.0f / static_cast<float>(problem_.batch * problem_.ranks);
    launch("compare", batch, compare, values_[last], target_, errors_[last % 2], shape_, scale);
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        const auto first = static_cast<std::size_t>(buckets_[b].first);
        for (std::size_t i = first + static_cast<std::size_t>(buckets_[b].layers); i-- > first;) {
            const Memory& error = errors_[(i + 1) % 2];
            launch("gradient", layer, weight_gradient, values_[i], error, layers_of(gradients_, static_cast<int>(i)),
                   shape_);
            if (i != 0)
                launch("propagate", batch, propagate, error, layers_of(weights_, static_cast<int>(i)), values_[i],
                       errors_[i % 2], shape_);
        }
        finished(b);
    }
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
        summed(b);
        const auto count = layer * static_cast<std::size_t>(buckets_[b].layers);
        launch("improve", count, improve, layers_of(weights_, buckets_[b].first, buckets_[b].layers),
               layers_of(gradients_, buckets_[b].first, buckets_[b].layers), static_cast<int>(count), problem_.rate);
    }
}

// graph begins
cudag::Graph Trainer::step() {
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    walk([&](const char* label, std::size_t threads, auto kernel,
             const auto&... arguments) { b.kernel(cudag::grid_1d(threads, 256), kernel, arguments...).label(label); },
         [&](std::size_t bucket) {
             add(b, sum_of(buckets_[bucket]), cudag::nccl::Order::within_graph).label("sum of gradients");
         },
         [](std::size_t) {}); // "improve" comes after the sum of its gradients: an inferred edge
    return std::move(b).build();
}
// graph ends

// streams begins
void Trainer::step_in_streams(cudag::Stream& stream) {
    walk([&](const char*, std::size_t threads, auto kernel,
             const auto&... arguments) { cudag::launch(stream, cudag::grid_1d(threads, 256), kernel, arguments...); },
         [&](std::size_t bucket) {
             computed_[bucket].record(stream);
             summing_.wait(computed_[bucket]);
             sum_of(buckets_[bucket]).enqueue(summing_);
             summed_[bucket].record(summing_);
         },
         [&](std::size_t bucket) { stream.wait(summed_[bucket]); });
}
// streams ends

std::vector<float> Trainer::weights() const {
    std::vector<float> values(weights_.size());
    cudag::check(cudaMemcpy(values.data(), weights_.data(), weights_.size_bytes(), cudaMemcpyDeviceToHost));
    return values;
}

} // namespace data_parallel
