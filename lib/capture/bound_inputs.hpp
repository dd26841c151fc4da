// Inputs of a GraphedFunction that its replays read in place.
#pragma once

#include "accesses/address_ranges.hpp"

#include <cudag/buffer_param.hpp>
#include <cudag/detail/graphed_task.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudag::detail {

using GraphedInputs = std::span<const GraphedInput>;

/// The alignment of static inputs in bytes, as of cudaMalloc.
inline constexpr std::size_t input_alignment = 256;

[[nodiscard]] inline std::size_t bytes_of(const GraphedInput& input) noexcept {
    return input.size * input.element_bytes;
}

[[nodiscard]] inline AddressRange range_of(const void* memory, std::size_t bytes) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    return {begin, begin + bytes};
}
[[nodiscard]] inline bool overlap(const AddressRange& a, const AddressRange& b) noexcept {
    return a.begin < b.end && b.begin < a.end;
}

class BoundInputs {
  public:
    /// Prepares `exec` for binding its inputs with `is_const`. It was made from `graph`, captured with the static
    /// `inputs` for `given`. Throws Error.
    BoundInputs(const Graph& graph, Exec& exec, GraphedInputs given, const std::vector<StaticInput>& inputs,
                std::span<const bool> is_const);

    /// Makes `exec` read the bindable inputs of `given` in place, and the others in the static inputs. Returns the
    /// inputs still to be copied; a bound one appears as its static input. If CUDA refuses other memory in a copy, the
    /// input is always copied from then on. Throws UpdateError, and changes nothing, if something else fails.
    [[nodiscard]] GraphedInputs bind(Exec& exec, GraphedInputs given);

    /// Returns the reason why the last call of `bind` did not bind input `i`; null if it did.
    [[nodiscard]] const char* why_copied(std::size_t i) const noexcept { return reasons_[i]; }

  private:
    struct Input {
        BufferParam<std::byte> param; ///< with the static input as its memory
        std::byte* bound;             ///< the address that the exec reads
        std::byte* next;
    };

    /// Returns the reason why a replay may not read the input in place; null if it may.
    [[nodiscard]] const char* why_not_bindable(const GraphedInput& given) const;
    /// Makes the input always copied.
    void give_up(std::size_t i, std::string&& reason);
    /// Sets `next` of each input, `rest_` and `reasons_`.
    void place(GraphedInputs given);
    /// Makes `exec` read the inputs at `next`. Returns CUDA's error if it refuses.
    [[nodiscard]] static std::optional<std::string> bind_next(Exec& exec, std::span<std::optional<Input>> inputs);

    std::vector<std::optional<Input>> inputs_; ///< none for inputs that are always copied
    std::vector<std::string> always_copied_;   ///< the reasons
    AddressRanges used_;                       ///< allocations by nodes, and those that nodes point into
    std::vector<GraphedInput> rest_;           ///< of the last call
    std::vector<const char*> reasons_;         ///< of the last call: see why_copied
};

} // namespace cudag::detail
