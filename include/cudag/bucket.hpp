// Bucket: sizes rounded up, so that a GraphedFunction needs few graphs for many sizes.
#pragma once

#include <cudag/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag {

/// The sizes for which a GraphedFunction has graphs, in items: a call of another size uses the next larger one. See
/// GraphedFunctionOptions::bucket.
///
///     const cudag::Bucket batches = cudag::Bucket::powers_of_two(8, 100); // 8, 16, 32, 64, 100
///     const cudag::Bucket listed = {1, 2, 4, 8, 12};
///     const cudag::Bucket eights = [](std::size_t size) { return (size + 7) / 8 * 8; };
///     const std::size_t size = batches.round_up(20); // 32
class CUDAG_EXPORT Bucket {
  public:
    /// Rounds nothing: each size has its own graph.
    Bucket() noexcept = default;
    /// Makes buckets of these sizes, in any order. Throws GraphError if there are none, or one is 0.
    Bucket(std::initializer_list<std::size_t> sizes) : Bucket(std::vector<std::size_t>(sizes)) {}
    explicit Bucket(std::vector<std::size_t> sizes);
    /// Makes buckets by `function(size)`, a bucket of at least this size. It is called for each size above 0.
    template <class Function>
    requires(!std::same_as<std::remove_cvref_t<Function>, Bucket> &&
             std::is_invocable_r_v<std::size_t, std::remove_cvref_t<Function>&, std::size_t>)
    Bucket(Function&& function) : function_(std::forward<Function>(function)) {} // NOLINT: options name no type

    /// Makes buckets of 1, 2, 4, ... from `smallest`, a power of two, up to `largest`, itself the last bucket. Throws
    /// GraphError for other limits.
    [[nodiscard]] static Bucket powers_of_two(std::size_t smallest = 1,
                                              std::size_t largest = std::numeric_limits<std::size_t>::max());

    /// Returns the bucket of `size`; 0 for 0. Throws GraphError if `size` is above the largest bucket, or if the
    /// function returns less than `size`. Exceptions of the function pass through.
    [[nodiscard]] std::size_t round_up(std::size_t size) const;
    /// Returns whether sizes are rounded.
    [[nodiscard]] explicit operator bool() const noexcept { return !sizes_.empty() || function_; }

  private:
    std::vector<std::size_t> sizes_; ///< in order
    std::function<std::size_t(std::size_t)> function_;
    std::size_t largest_ = std::numeric_limits<std::size_t>::max(); ///< of a function
};

/// What the items beyond the given ones hold in each call.
enum class Padding : std::uint8_t {
    zeros, ///< zeros, in all bytes
    none,  ///< anything, such as items of former calls: for functions that take a Valid
};

/// The number of given items of a call, in device memory: the last parameter of a graphed function that needs it.
///
///     cudag::GraphedFunction model(
///         [](cudaStream_t s, cudag::DeviceSpan<float> batch, cudag::Valid valid) {
///             const unsigned* given = valid.data(); // for kernels
///             library_call(s, batch.data(), static_cast<int>(batch.size()));
///             return batch;
///         },
///         {.bucket = cudag::Bucket::powers_of_two(), .padding = cudag::Padding::none});
///     const cudag::DeviceSpan<float> output = model.forward(stream, x); // the number is x.size()
class Valid {
  public:
    using element_type = const unsigned;
    using value_type = unsigned;

    Valid(const unsigned* data, std::size_t) noexcept : data_(data) {}
    /// Returns the address of the number in device memory, for kernels. Each call sets it anew.
    [[nodiscard]] const unsigned* data() const noexcept { return data_; }

  private:
    const unsigned* data_;
};

/// One graph captured by `GraphedFunction::prepare`.
struct PreparedBucket {
    std::size_t size;     ///< of the bucket, in items
    std::size_t done;     ///< number of graphs captured so far, with this one
    std::size_t count;    ///< number of graphs to be captured
    std::size_t reserved; ///< bytes of the pool so far: see CapturePool::reserved_bytes
};

} // namespace cudag
