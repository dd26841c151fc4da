// The fields of each kind of parameters, and how their values read.
#include "diff_params.hpp"

#include "cuda/kernel_name.hpp"
#include "node/kernel_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

namespace cudag::detail {

namespace {

bool same(const dim3& a, const dim3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
bool same(const cudaPos& a, const cudaPos& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
bool same(const cudaExtent& a, const cudaExtent& b) {
    return a.width == b.width && a.height == b.height && a.depth == b.depth;
}
template <class T>
bool same(const T& a, const T& b) {
    return a == b;
}

std::string text(const dim3& value) {
    return fmt::format("({}, {}, {})", value.x, value.y, value.z);
}
std::string text(const cudaPos& value) {
    return fmt::format("({}, {}, {})", value.x, value.y, value.z);
}
std::string text(const cudaExtent& value) {
    return fmt::format("{} x {} x {}", value.width, value.height, value.depth);
}
std::string text(const void* value) {
    return fmt::format("{}", value);
}
std::string text(CUfunction function) {
    return kernel_name(function);
}
template <class T>
std::string text(const T& value) {
    return fmt::format("{}", value);
}

/// One argument of a kernel, as raw bytes.
struct ArgumentBytes {
    const std::byte* data;
    Parameter parameter;

    bool operator==(const ArgumentBytes& other) const { return std::memcmp(data, other.data, parameter.size) == 0; }
};

template <class T>
T value_at(const std::byte* data) {
    T value;
    std::memcpy(&value, data, sizeof value);
    return value;
}

/// Reads `data` as one of `T...`, which differ in size; as bytes if none has the size.
template <class... T>
std::string number_text(const ArgumentBytes& bytes) {
    std::string result;
    const auto try_as = [&]<class N>(N*) {
        if (sizeof(N) == bytes.parameter.size) result = fmt::format("{}", value_at<N>(bytes.data));
    };
    (try_as(static_cast<T*>(nullptr)), ...);
    return result;
}

std::string text(const ArgumentBytes& bytes) {
    std::string result;
    switch (bytes.parameter.type) {
    case ParameterType::pointer:
        result = fmt::format("{}", value_at<const void*>(bytes.data));
        break;
    case ParameterType::floating_point:
        result = number_text<float, double>(bytes);
        break;
    case ParameterType::signed_integer:
        result = number_text<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(bytes);
        break;
    case ParameterType::unsigned_integer:
        result = number_text<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(bytes);
        break;
    case ParameterType::span:
    case ParameterType::object:
        break;
    }
    if (!result.empty()) return result;
    constexpr std::uint32_t shown = 32;
    for (std::uint32_t i = 0; i < std::min(bytes.parameter.size, shown); ++i)
        result += fmt::format("{:02x}", std::to_integer<unsigned>(bytes.data[i]));
    if (bytes.parameter.size > shown) result += "...";
    return "0x" + result;
}

/// One side of a copy of regions, and how its fields are called.
struct RegionSide {
    struct Names {
        const char* address;
        const char* array;
        const char* position;
        const char* pitch;
        const char* slice_height;
    };
    const Names& names;
    const cudaPitchedPtr& memory;
    cudaArray_t array;
    const cudaPos& position;
};

RegionSide destination_of(const cudaMemcpy3DParms& copy) {
    static constexpr RegionSide::Names names{"destination", "destination array", "destination position",
                                             "destination pitch", "destination slice height"};
    return {names, copy.dstPtr, copy.dstArray, copy.dstPos};
}

RegionSide source_of(const cudaMemcpy3DParms& copy) {
    static constexpr RegionSide::Names names{"source", "source array", "source position", "source pitch",
                                             "source slice height"};
    return {names, copy.srcPtr, copy.srcArray, copy.srcPos};
}

/// Notes only whether there is a difference.
class Equality {
  public:
    explicit Equality(const ConditionPairs& conditions) : conditions_(conditions) {}
    template <class T>
    void field(const char*, const T& before, const T& after, DifferenceKind = {}, bool = {}) {
        equal_ = equal_ && same(before, after);
    }
    void argument(std::uint32_t, const ArgumentBytes& before, const ArgumentBytes& after) {
        equal_ = equal_ && before == after;
    }
    void condition(std::uint32_t, cudaGraphConditionalHandle before, cudaGraphConditionalHandle after) {
        equal_ = equal_ && conditions_.same(before, after);
    }
    [[nodiscard]] const ConditionPairs& conditions() const { return conditions_; }
    [[nodiscard]] bool result() const { return equal_; }

  private:
    const ConditionPairs& conditions_;
    bool equal_ = true;
};

/// Writes down every difference.
class List {
  public:
    explicit List(const ConditionPairs& conditions) : conditions_(conditions) {}
    template <class T>
    void field(const char* name, const T& before, const T& after, DifferenceKind kind = DifferenceKind::parameter,
               bool needs_instantiate = false) {
        if (!same(before, after)) items_.push_back({kind, name, text(before), text(after), needs_instantiate});
    }
    void argument(std::uint32_t index, const ArgumentBytes& before, const ArgumentBytes& after) {
        if (before == after) return;
        items_.push_back(
            {DifferenceKind::parameter, fmt::format("argument {}", index), text(before), text(after), false});
    }
    void condition(std::uint32_t index, cudaGraphConditionalHandle before, cudaGraphConditionalHandle after) {
        if (conditions_.same(before, after)) return;
        items_.push_back({DifferenceKind::parameter, fmt::format("argument {}", index), conditions_.name_before(before),
                          conditions_.name_after(after), false});
    }
    [[nodiscard]] const ConditionPairs& conditions() const { return conditions_; }
    [[nodiscard]] std::vector<FieldDifference>&& result() { return std::move(items_); }

  private:
    const ConditionPairs& conditions_;
    std::vector<FieldDifference> items_;
};

template <class Sink>
void compare(const KernelParams& before, const KernelParams& after, Sink& sink) {
    const LaunchConfig old_config = full_config(before);
    const LaunchConfig new_config = full_config(after);
    sink.field("kernel", before.function, after.function, DifferenceKind::function);
    sink.field("grid", old_config.grid, new_config.grid);
    sink.field("block", old_config.block, new_config.block);
    sink.field("shared_bytes", old_config.shared_bytes, new_config.shared_bytes);
    if (has_attributes(old_config) || has_attributes(new_config))
        for (const LaunchAttribute& attribute : launch_attributes())
            sink.field(attribute.name, attribute.text(old_config), attribute.text(new_config),
                       DifferenceKind::attribute, attribute.rules.needs_instantiate);
    const KernelSignature& signature = *before.signature;
    if (!same_layout(signature, *after.signature)) {
        sink.field("number of arguments", signature.count, after.signature->count);
        sink.field("bytes of arguments", signature.bytes, after.signature->bytes);
        return;
    }
    for (std::uint32_t i = 0; i < signature.count; ++i) {
        // an adopted node's signature has no types
        const bool typed = signature.parameters[i].type != ParameterType::object;
        const Parameter& parameter = typed ? signature.parameters[i] : after.signature->parameters[i];
        if (is_condition(signature.parameters[i]) || is_condition(after.signature->parameters[i])) {
            sink.condition(i, value_at<cudaGraphConditionalHandle>(before.values + parameter.offset),
                           value_at<cudaGraphConditionalHandle>(after.values + parameter.offset));
            continue;
        }
        sink.argument(i, {before.values + parameter.offset, parameter}, {after.values + parameter.offset, parameter});
    }
}

template <class Sink>
void compare(const CopyParams& before, const CopyParams& after, Sink& sink) {
    sink.field("direction", direction(before.kind), direction(after.kind), DifferenceKind::parameter, true);
    sink.field("destination", static_cast<const void*>(before.destination),
               static_cast<const void*>(after.destination));
    sink.field("source", before.source, after.source);
    sink.field("bytes", before.source_size * before.element_bytes, after.source_size * after.element_bytes);
}

/// CUDA fixes all of it.
template <class Sink, class T>
void fixed_field(Sink& sink, const char* name, const T& before, const T& after) {
    sink.field(name, before, after, DifferenceKind::parameter, true);
}

template <class Sink>
void compare_side(const RegionSide& before, const RegionSide& after, Sink& sink) {
    const RegionSide::Names& names = before.names;
    fixed_field(sink, names.address, static_cast<const void*>(before.memory.ptr),
                static_cast<const void*>(after.memory.ptr));
    fixed_field(sink, names.array, static_cast<const void*>(before.array), static_cast<const void*>(after.array));
    fixed_field(sink, names.position, before.position, after.position);
    fixed_field(sink, names.pitch, before.memory.pitch, after.memory.pitch);
    fixed_field(sink, names.slice_height, before.memory.ysize, after.memory.ysize);
}

template <class Sink>
void compare(const cudaMemcpy3DParms& before, const cudaMemcpy3DParms& after, Sink& sink) {
    fixed_field(sink, "direction", direction(before.kind), direction(after.kind));
    compare_side(destination_of(before), destination_of(after), sink);
    compare_side(source_of(before), source_of(after), sink);
    fixed_field(sink, "extent", before.extent, after.extent);
}

template <class Sink>
void compare(const SetParams& before, const SetParams& after, Sink& sink) {
    sink.field("destination", static_cast<const void*>(before.destination),
               static_cast<const void*>(after.destination));
    const bool fixed = before.height != 1; // then CUDA updates address and value only
    const DifferenceKind kind = DifferenceKind::parameter;
    sink.field("rows", before.height, after.height, kind, true);
    sink.field("elements", before.size, after.size, kind, fixed);
    if (fixed) sink.field("pitch", before.pitch, after.pitch, kind, true);
    sink.field("bytes of an element", before.element_bytes, after.element_bytes, kind, fixed);
    sink.field("value", before.value, after.value);
}

template <class Sink>
void compare(const cudaHostNodeParams& before, const cudaHostNodeParams& after, Sink& sink) {
    sink.field("function", reinterpret_cast<const void*>(before.fn), reinterpret_cast<const void*>(after.fn));
    sink.field("callable", static_cast<const void*>(before.userData), static_cast<const void*>(after.userData));
}

template <class Sink>
void compare(const EventParams& before, const EventParams& after, Sink& sink) {
    sink.field("event", static_cast<const void*>(before.event), static_cast<const void*>(after.event));
}

template <class Sink>
void compare(const SemaphoreParams& before, const SemaphoreParams& after, Sink& sink) {
    sink.field("number of semaphores", before.count, after.count, DifferenceKind::parameter, true);
    for (std::uint32_t i = 0; i < std::min(before.count, after.count); ++i) {
        sink.field("semaphore", static_cast<const void*>(before.operations[i].semaphore),
                   static_cast<const void*>(after.operations[i].semaphore));
        sink.field("value", before.operations[i].value, after.operations[i].value);
    }
}

/// Addresses are not the user's: no two graphs have the same.
template <class Sink>
void compare(const AllocParams& before, const AllocParams& after, Sink& sink) {
    sink.field("bytes", before.bytes, after.bytes);
    sink.field("device", before.device, after.device, DifferenceKind::parameter, true);
}
template <class Sink>
void compare(const FreeParams&, const FreeParams&, Sink&) {}

/// Nodes of one kind are described in different ways if they copy.
std::string_view operands_of(const NodeParams& params) {
    if (std::holds_alternative<const CopyParams*>(params)) return "ranges";
    return std::holds_alternative<const cudaMemcpy3DParms*>(params) ? "regions" : "unknown";
}

template <class Sink>
void compare(const ConditionalParams& before, const ConditionalParams& after, Sink& sink) {
    sink.field("conditional", to_string(before.kind), to_string(after.kind), DifferenceKind::node_kind, true);
    sink.field("bodies", before.bodies, after.bodies, DifferenceKind::node_kind, true);
    const ConditionPairs& conditions = sink.conditions();
    if (conditions.for_update())
        sink.field("number of its condition, in the order in which they were made", before.condition, after.condition,
                   DifferenceKind::parameter, true);
    else
        sink.field("initial value", conditions.initial_before(before.condition),
                   conditions.initial_after(after.condition));
}

template <class Sink>
auto compare_any(const NodeParams& before, const NodeParams& after, Sink sink) {
    const auto compare_same = [&](const auto& block) {
        using Block = std::decay_t<decltype(block)>;
        if constexpr (!std::is_same_v<Block, std::monostate>) {
            if (const auto* other = std::get_if<Block>(&after))
                compare(*block, **other, sink);
            else
                fixed_field(sink, "operands", operands_of(before), operands_of(after));
        }
    };
    std::visit(compare_same, before);
    return sink.result();
}

} // namespace

std::vector<FieldDifference> diff_params(const NodeParams& before, const NodeParams& after,
                                         const ConditionPairs& conditions) {
    return compare_any(before, after, List(conditions));
}

bool same_params(const NodeParams& before, const NodeParams& after, const ConditionPairs& conditions) {
    return before.index() == after.index() && compare_any(before, after, Equality(conditions));
}

} // namespace cudag::detail
