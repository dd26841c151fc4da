// Checks and arithmetic of calls with buckets.
#include "padded_call.hpp"

#include "cuda/driver.hpp"

#include <cudag/format.hpp>
#include <cudag/graphed_function.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace cudag::detail {

namespace {

/// The number of elements of an item in input `index`; 0 for an input that is not rounded.
std::size_t item_elements(const GraphedFunctionOptions& options, std::size_t index) noexcept {
    return options.item_elements.empty() ? 1 : options.item_elements[index];
}

std::string problem_of(const GraphedFunctionOptions& options, const GraphedTask& task) {
    const std::size_t inputs = task.given_count();
    if (!options.bucket) {
        if (task.takes_valid) return "the function takes a Valid, which only a bucket gives a meaning: set bucket";
        if (!options.item_elements.empty()) return "item_elements has no effect without bucket";
        if (options.padding != Padding::zeros) return "padding has no effect without bucket";
        if (!options.cut_outputs) return "cut_outputs has no effect without bucket";
        return {};
    }
    if (options.bind_inputs) return "bucket and bind_inputs exclude each other: what is padded is copied";
    if (inputs == 0) return "the function has no inputs whose sizes a bucket could round";
    if (!options.item_elements.empty() && options.item_elements.size() != inputs)
        return fmt::format("item_elements has {} entries for {} inputs; give one for each",
                           options.item_elements.size(), inputs);
    const auto is_none = [](std::size_t elements) { return elements == 0; };
    if (!options.item_elements.empty() && std::ranges::all_of(options.item_elements, is_none))
        return "item_elements is 0 for all inputs, so there is no size to round";
    if (options.padding == Padding::none && !task.takes_valid)
        return "padding is none, and nothing tells the function which items are given: let it take a Valid as its last "
               "parameter, or pad with zeros";
    if (options.cut_outputs && task.has_output && task.cut == nullptr)
        return "the output is no DeviceSpan, tuple or array of them, so it cannot be cut to the given items: give its "
               "type "
               "a member cut(items, bucket) const, or set cut_outputs to false";
    return {};
}

} // namespace

void require_sound(const GraphedFunctionOptions& options, const GraphedTask& task, Subject&& subject) {
    if (const std::string problem = problem_of(options, task); !problem.empty()) refuse(problem, std::move(subject));
}

namespace {

/// Completes `call`, whose items and bucket are known, with inputs of the bucket's sizes.
void add_shape(PaddedCall& call, const GraphedFunctionOptions& options, const GraphedTask& task,
               std::span<const GraphedInput> given) {
    for (std::size_t i = 0; i < task.given_count(); ++i) {
        const std::size_t elements = item_elements(options, i);
        GraphedInput input{nullptr, call.bucket * elements, task.element_bytes[i], Side::device};
        if (elements == 0) input.size = given[i].size;
        call.shape.push_back(input);
    }
    if (!task.takes_valid) return;
    call.shape.push_back({nullptr, 1, sizeof(std::uint32_t), Side::device});
    call.valid = static_cast<std::uint32_t>(call.items);
}

} // namespace

Subject subject_of_forward(const SourceLocation& location) {
    return {fmt::format("GraphedFunction at {}: forward", location), {}, location};
}

PaddedCall pad(const GraphedFunctionOptions& options, const GraphedTask& task, std::span<const GraphedInput> given,
               const SourceLocation& location) {
    PaddedCall call;
    std::size_t first = given.size(); // the first input with items
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::size_t elements = item_elements(options, i);
        if (elements == 0) continue;
        if (given[i].size % elements != 0)
            refuse(fmt::format("input {} has {} elements, no multiple of the {} elements of an item", i, given[i].size,
                               elements),
                   subject_of_forward(location));
        const std::size_t items = given[i].size / elements;
        if (first == given.size()) {
            first = i;
            call.items = items;
        } else if (items != call.items) {
            refuse(fmt::format("input {} has {} items, and input {} has {}; all have equally many", i, items, first,
                               call.items),
                   subject_of_forward(location));
        }
    }
    if (task.takes_valid && call.items > std::numeric_limits<std::uint32_t>::max())
        refuse(fmt::format("{} items do not fit into a Valid", call.items), subject_of_forward(location));
    call.bucket = options.bucket.round_up(call.items);
    call.fills_zeros = options.padding == Padding::zeros;
    add_shape(call, options, task, given);
    return call;
}

PaddedCall call_of_zeros(const GraphedFunctionOptions& options, const GraphedTask& task, std::size_t bucket) {
    PaddedCall call;
    call.items = call.bucket = bucket;
    add_shape(call, options, task, {});
    return call;
}

void fill_padding(cudaStream_t stream, const PaddedCall& call, std::span<const GraphedInput> given,
                  const std::vector<StaticInput>& inputs) {
    const std::size_t count = call.shape.size() - (call.valid ? 1 : 0);
    for (std::size_t i = 0; call.fills_zeros && i < count; ++i) {
        const std::size_t size = given.empty() ? 0 : given[i].size;
        const std::size_t element_bytes = call.shape[i].element_bytes;
        if (size == inputs[i].size) continue;
        checked(cudaMemsetAsync(static_cast<std::byte*>(inputs[i].data) + size * element_bytes, 0,
                                (inputs[i].size - size) * element_bytes, stream),
                "cudaMemsetAsync");
    }
    if (!call.valid) return;
    bind_context();
    const auto place = reinterpret_cast<CUdeviceptr>(inputs.back().data);
    if (const CUresult result = driver().memset_d32_async(place, *call.valid, 1, stream); result != CUDA_SUCCESS)
        raise_call<Error>(to_runtime(result), "cuMemsetD32Async", {}, Api::driver);
}

} // namespace cudag::detail
