// Launches of kernels.
#include "kernel.hpp"

#include "comparison.hpp"
#include "cuda/driver.hpp"
#include "cuda/kernel_name.hpp"
#include "kernel_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <list>
#include <mutex>
#include <new>
#include <span>
#include <utility>

namespace cudag::detail {

namespace {

/// The place for attributes in a copy, read or not: between the block and the values.
constexpr std::size_t attribute_place =
    (sizeof(LaunchConfig) + alignof(std::max_align_t) - 1) / alignof(std::max_align_t) * alignof(std::max_align_t);
std::size_t attribute_bytes(const KernelParams& kernel) noexcept {
    return kernel.attributes != nullptr || kernel.unread != nullptr ? attribute_place : 0;
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

/// Reads `data` as the one of `T...` with its size; the sizes differ. As bytes if there is none.
template <class... T>
std::string number_text(const ArgumentBytes& bytes) {
    std::string result;
    const auto try_as = [&]<class N>(N*) {
        if (sizeof(N) == bytes.parameter.size) result = fmt::format("{}", value_at<N>(bytes.data));
    };
    (try_as(static_cast<T*>(nullptr)), ...);
    return result;
}

std::string argument_text(const ArgumentBytes& bytes) {
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
        if (bytes.parameter.size == sizeof(void*) + sizeof(std::size_t))
            result = fmt::format("{} ({} elements)", value_at<const void*>(bytes.data),
                                 value_at<std::size_t>(bytes.data + sizeof(void*)));
        break;
    case ParameterType::object:
    case ParameterType::condition:
        break;
    }
    if (!result.empty()) return result;
    result = "bytes"; // in memory order: not a number
    constexpr std::uint32_t shown = 32;
    for (std::uint32_t i = 0; i < std::min(bytes.parameter.size, shown); ++i)
        result += fmt::format(" {:02x}", std::to_integer<unsigned>(bytes.data[i]));
    if (bytes.parameter.size > shown) result += " ...";
    return result;
}

/// The type of a parameter from the kernel's name: for a kernel not launched by cudag, CUDA reports sizes only.
ParameterType type_by_name(const KernelParams& kernel, std::uint32_t index) {
    const std::vector<std::string> types = parameter_types(kernel.function);
    return types.size() == kernel.signature->count ? type_named(types[index]) : ParameterType::object;
}

/// Compares one argument; `name_type()` supplies its type if the arguments do not.
template <class NameType>
void compare_argument(std::uint32_t index, ArgumentBytes before, ArgumentBytes after, bool is_any_condition,
                      Differences& found, const NameType& name_type) {
    const auto note = [&](std::string&& old_text, std::string&& new_text) {
        return FieldDifference{DifferenceKind::parameter, fmt::format("argument {}", index), std::move(old_text),
                               std::move(new_text), ChangedBy::node_update};
    };
    if (!is_any_condition) {
        if (before == after) return;
        found.add([&] {
            if (before.parameter.type == ParameterType::object)
                before.parameter.type = after.parameter.type = name_type();
            return note(argument_text(before), argument_text(after));
        });
        return;
    }
    const SameConditions& conditions = found.conditions();
    const auto old_handle = value_at<cudaGraphConditionalHandle>(before.data);
    const auto new_handle = value_at<cudaGraphConditionalHandle>(after.data);
    if (!conditions.same(old_handle, new_handle))
        found.add([&] { return note(conditions.name_before(old_handle), conditions.name_after(new_handle)); });
}

/// Copies a block of values, which is small: a call of memcpy would cost more than the copy.
void copy_few(const std::byte* from, std::byte* to, std::size_t bytes) noexcept {
    std::size_t done = 0;
    for (; done + sizeof(std::uint64_t) <= bytes; done += sizeof(std::uint64_t))
        std::memcpy(to + done, from + done, sizeof(std::uint64_t));
    for (; done < bytes; ++done)
        to[done] = from[done];
}

std::span<const Parameter> all_parameters(const KernelSignature& signature) noexcept {
    return {signature.parameters, signature.count};
}

/// An update of a whole graph changes some attributes, an update of a node none.
FieldRule rule_of(const LaunchAttribute& attribute) noexcept {
    return {attribute.rules.needs_instantiate ? ChangedBy::instantiate : ChangedBy::graph_update, nullptr,
            DifferenceKind::attribute};
}

} // namespace

ParameterType type_named(std::string_view name) {
    struct Named {
        std::string_view name;
        ParameterType type;
    };
    static constexpr Named known[] = {
        {"float", ParameterType::floating_point},
        {"double", ParameterType::floating_point},
        {"char", parameter_type<char>()},
        {"signed char", ParameterType::signed_integer},
        {"short", ParameterType::signed_integer},
        {"int", ParameterType::signed_integer},
        {"long", ParameterType::signed_integer},
        {"long long", ParameterType::signed_integer},
        {"bool", ParameterType::unsigned_integer},
        {"unsigned char", ParameterType::unsigned_integer},
        {"unsigned short", ParameterType::unsigned_integer},
        {"unsigned int", ParameterType::unsigned_integer},
        {"unsigned long", ParameterType::unsigned_integer},
        {"unsigned long long", ParameterType::unsigned_integer},
    };
    for (const Named& each : known)
        if (each.name == name) return each.type;
    return name.ends_with('*') ? ParameterType::pointer : ParameterType::object;
}

bool same_layout(const KernelSignature& a, const KernelSignature& b) noexcept {
    const auto same = [](const Parameter& p, const Parameter& q) { return p.offset == q.offset && p.size == q.size; };
    return &a == &b || std::ranges::equal(all_parameters(a), all_parameters(b), same);
}

bool same_types(const KernelSignature& a, const KernelSignature& b) noexcept {
    const auto same = [](const Parameter& p, const Parameter& q) { return p.has_type_of(q); };
    return &a == &b || std::ranges::equal(all_parameters(a), all_parameters(b), same);
}

bool same_kernel_types(const KernelParams& a, const KernelParams& b) {
    if (!same_layout(*a.signature, *b.signature)) return false;
    return a.function == b.function || (a.symbol != nullptr && a.symbol == b.symbol) ||
           (a.kernel != nullptr && a.kernel == b.kernel) || same_parameters(a.function, b.function);
}

const KernelSignature& merged_signature(const KernelSignature& given, const KernelSignature& former,
                                        void* const* values) {
    struct Merged {
        std::vector<Parameter> parameters;
        KernelSignature signature;
    };
    static std::mutex mutex;
    static std::list<Merged> all; // searched linearly: programs have few such calls
    std::vector<Parameter> parameters(given.parameters, given.parameters + given.count);
    for (std::uint32_t i = 0; i < given.count; ++i)
        if (values[i] == nullptr) parameters[i] = former.parameters[i];
    const KernelSignature wanted{parameters.data(), given.count, given.bytes};
    const auto same_type = [](const Parameter& p, const Parameter& q) { return p.type == q.type; };
    const std::scoped_lock lock(mutex);
    for (const Merged& each : all)
        if (same_types(each.signature, wanted) && std::ranges::equal(each.parameters, parameters, same_type))
            return each.signature;
    Merged& added = all.emplace_back(Merged{std::move(parameters), wanted});
    added.signature.parameters = added.parameters.data();
    return added.signature;
}

LaunchConfig config_of(const KernelParams& kernel) noexcept {
    return config_of(kernel.shape, kernel.attributes);
}

void store_attributes(KernelParams& copy, const LaunchConfig& config) noexcept {
    copy.attributes = new (copy.values - attribute_place) LaunchConfig(config);
}

void copy_values(const KernelCall& call, std::byte* block) noexcept {
    if (call.block != nullptr) return copy_few(call.block, block, call.signature->bytes);
    for (std::uint32_t i = 0; i < call.signature->count; ++i)
        if (call.values[i] != nullptr)
            std::memcpy(block + call.signature->parameters[i].offset, call.values[i],
                        call.signature->parameters[i].size);
}

NativeResult set_native(const NodeTarget& target, const KernelParams& kernel) {
    const ArgumentPointers arguments(kernel);
    return set_native(target, driver_params(kernel, kernel.shape, arguments.get()));
}

std::size_t trailing_bytes(const KernelParams& kernel) noexcept {
    return attribute_bytes(kernel) + kernel.signature->bytes;
}

void copy_trailing(const KernelParams& from, KernelParams& copy, std::byte* place) noexcept {
    copy.values = place + attribute_bytes(from);
    if (from.attributes != nullptr) copy.attributes = new (place) LaunchConfig(*from.attributes);
    std::memcpy(copy.values, from.values, from.signature->bytes);
}

void assign(KernelParams& copy, const KernelParams& from) noexcept {
    std::byte* const values = copy.values;
    const LaunchConfig* const attributes = copy.attributes;
    copy = from;
    copy.values = values;
    copy.attributes = attributes;
    std::memcpy(values, from.values, from.signature->bytes);
}

void AttributeFields::compare(const KernelParams& before, const KernelParams& after, Differences& found) {
    const auto is_plain = [](const KernelParams& kernel) {
        return kernel.attributes == nullptr && kernel.unread == nullptr;
    };
    if (is_plain(before) && is_plain(after)) [[likely]]
        return;
    const LaunchConfig old_config = full_config(before);
    const LaunchConfig new_config = full_config(after);
    if (!has_attributes(old_config) && !has_attributes(new_config)) return;
    for (const LaunchAttribute& attribute : launch_attributes())
        found.compare(attribute.name, attribute.text(old_config), attribute.text(new_config), rule_of(attribute));
}

std::string AttributeFields::refusal(const KernelParams& current, const KernelParams& next) {
    if (current.function == next.function) [[likely]]
        return {};
    const std::string ignored = silently_ignored(current, next);
    return ignored.empty() ? ignored : ignored + "; an Exec keeps its own: instantiate the graph";
}

void AttributeFields::add_given(Hash& hash, const KernelParams& kernel, HashedFields which) {
    const ChangedBy least = which == HashedFields::structure ? ChangedBy::instantiate : ChangedBy::graph_update;
    const LaunchConfig config = full_config(kernel);
    for (const LaunchAttribute& attribute : launch_attributes()) {
        if (rule_of(attribute).changed_by < least || !attribute.is_given(config)) continue;
        hash.add(attribute.id);
        hash.add(std::hash<std::string>()(attribute.text(config)));
    }
}

void ContextField::compare(const KernelParams& before, const KernelParams& after, Differences& found) {
    if (before.context != after.context) found.compare("context", before.context, after.context, fixed());
}

std::string ContextField::refusal(const KernelParams& current, const KernelParams& next) {
    if (current.context == next.context) [[likely]]
        return {};
    return fmt::format("its context is {}, the update gives {}; an Exec keeps the context of its kernels: instantiate "
                       "the graph",
                       value_text(current.context), value_text(next.context));
}

void ArgumentFields::compare(const KernelParams& before, const KernelParams& after, Differences& found) {
    const KernelSignature& signature = *before.signature;
    if (!same_layout(signature, *after.signature)) {
        found.compare("number of arguments", signature.count, after.signature->count, changeable);
        found.compare("bytes of arguments", signature.bytes, after.signature->bytes, changeable);
        return;
    }
    for (std::uint32_t i = 0; i < signature.count; ++i) {
        // an adopted node's signature has no types
        const bool typed = signature.parameters[i].type != ParameterType::object;
        const Parameter& parameter = typed ? signature.parameters[i] : after.signature->parameters[i];
        const bool is_any_condition =
            is_condition(signature.parameters[i]) || is_condition(after.signature->parameters[i]);
        const ArgumentBytes old_value{before.values + parameter.offset, parameter};
        const ArgumentBytes new_value{after.values + parameter.offset, parameter};
        compare_argument(i, old_value, new_value, is_any_condition, found, [&] { return type_by_name(before, i); });
    }
}

std::vector<std::string> argument_texts(const KernelParams& kernel) {
    std::vector<std::string> texts;
    for (std::uint32_t i = 0; i < kernel.signature->count; ++i) {
        ArgumentBytes bytes{kernel.values + kernel.signature->parameters[i].offset, kernel.signature->parameters[i]};
        if (bytes.parameter.type == ParameterType::object) bytes.parameter.type = type_by_name(kernel, i);
        texts.push_back(argument_text(bytes));
    }
    return texts;
}

std::string title(const KernelParams& kernel) {
    const LaunchConfig config = full_config(kernel);
    return fmt::format("{} <<<({}, {}, {}), ({}, {}, {})>>>{}", kernel_name(kernel.function), config.grid.x,
                       config.grid.y, config.grid.z, config.block.x, config.block.y, config.block.z,
                       describe_attributes(config));
}

} // namespace cudag::detail
