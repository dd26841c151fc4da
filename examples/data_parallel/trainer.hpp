// One rank's copy of the network, trained by a graph or by launches into streams.
#pragma once

#include "data.hpp"
#include "kernels.hpp"

#include <cudag/cudag.hpp>
#include <cudag/nccl.hpp>

#include <vector>

namespace data_parallel {

class Trainer {
  public:
    /// `buckets`: the number of all-reduces of a step; each has the gradients of some layers.
    Trainer(const Problem& problem, const cudag::nccl::Communicator& comm, int buckets);

    /// Sets the weights to those before the first step, and waits.
    void reset(cudag::Stream& stream);
    /// Connects the ranks.
    void warm_up(cudag::Stream& stream);

    /// Returns a graph of one step. It borrows this object.
    [[nodiscard]] cudag::Graph step();
    /// Enqueues one step into `stream`, and the all-reduces into a second stream.
    void step_in_streams(cudag::Stream& stream);

    [[nodiscard]] std::vector<float> weights() const;

  private:
    using Memory = cudag::DeviceBuffer<float>;

    /// The layers from `first` on, whose gradients are added up together.
    struct Bucket {
        int first;
        int layers;
    };
    [[nodiscard]] cudag::DeviceSpan<float> layers_of(const Memory& all, int first, int count = 1) const {
        return all.span().subspan(static_cast<std::size_t>(first) * problem_.layer_size(),
                                  static_cast<std::size_t>(count) * problem_.layer_size());
    }
    [[nodiscard]] cudag::nccl::Operation sum_of(const Bucket& bucket) const {
        const auto gradients = layers_of(gradients_, bucket.first, bucket.layers);
        return all_reduce(comm_, gradients, gradients);
    }
    /// Calls `launch(label, threads, kernel, arguments...)` for the kernels of a step in their order,
    /// `finished(bucket)` where the gradients of a bucket are complete, and `summed(bucket)` where all ranks' are
    /// needed.
    template <class Launch, class Finished, class Summed>
    void walk(const Launch& launch, const Finished& finished, const Summed& summed) const;

    Problem problem_;
    Shape shape_;
    cudag::nccl::Communicator comm_;
    std::vector<Bucket> buckets_; ///< the last layers first: backward begins there
    std::vector<Memory> values_;  ///< the inputs, and the outputs of each layer
    std::vector<Memory> errors_;  ///< of two layers in turn
    Memory target_, weights_, gradients_;
    cudag::Stream summing_;
    std::vector<cudag::Event> computed_;
    std::vector<cudag::Event> summed_;
};

} // namespace data_parallel
