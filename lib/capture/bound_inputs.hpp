// The inputs that replays of a GraphedFunction read where they are.
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

/// Of static inputs, in bytes: as of cudaMalloc.
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
    /// Of `exec`, made from `graph`, which was captured with the static `inputs` for `given`: those that `is_const`.
    /// Throws Error.
    BoundInputs(const Graph& graph, Exec& exec, GraphedInputs given, const std::vector<StaticInput>& inputs,
                std::span<const bool> is_const);

    /// Has `exec` read those of `given` where they are that can be bound, and the others in the static inputs. What is
    /// still to be copied: for a bound one its static input stands there. What CUDA refuses as other memory in a copy
    /// is copied from then on. Throws UpdateError if something else fails, and changes nothing.
    [[nodiscard]] GraphedInputs bind(Exec& exec, GraphedInputs given);

    /// Why the last call of `bind` has left input `i` to be copied; null if it has bound it.
    [[nodiscard]] const char* why_copied(std::size_t i) const noexcept { return reasons_[i]; }

  private:
    struct Input {
        BufferParam<std::byte> param; ///< whose memory is the static input
        std::byte* bound;             ///< what the exec reads
        std::byte* next;
    };

    /// Why a replay may not read the input where it is; null if it may.
    [[nodiscard]] const char* why_not_bindable(const GraphedInput& given) const;
    /// From now on the input is always copied.
    void give_up(std::size_t i, std::string&& reason);
    /// Sets `next` of each input, `rest_` and `reasons_`.
    void place(GraphedInputs given);
    /// Has `exec` read what is next; the error if CUDA refuses that.
    [[nodiscard]] static std::optional<std::string> bind_next(Exec& exec, std::span<std::optional<Input>> inputs);

    std::vector<std::optional<Input>> inputs_; ///< none for those that are always copied
    std::vector<std::string> always_copied_;   ///< why these are
    AddressRanges used_;                       ///< what nodes allocate or point into
    std::vector<GraphedInput> rest_;           ///< of the last call
    std::vector<const char*> reasons_;         ///< of the last call: see why_copied
};

} // namespace cudag::detail
