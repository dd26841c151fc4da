// Texts of compared parameters.
#include "comparison.hpp"

#include "copy.hpp"
#include "cuda/kernel_name.hpp"
#include "cuda/numbered_contexts.hpp"

#include <fmt/format.h>

namespace cudag::detail {

std::string value_text(const void* address) {
    return fmt::format("{}", address);
}

std::string value_text(std::int64_t number) {
    return fmt::to_string(number);
}

std::string value_text(std::uint64_t number) {
    return fmt::to_string(number);
}

std::string value_text(const dim3& size) {
    return fmt::format("({}, {}, {})", size.x, size.y, size.z);
}

std::string value_text(const cudaPos& position) {
    return fmt::format("({}, {}, {})", position.x, position.y, position.z);
}

std::string value_text(const cudaExtent& extent) {
    return fmt::format("{} x {} x {}", extent.width, extent.height, extent.depth);
}

std::string value_text(CUfunction function) {
    return kernel_name(function);
}

std::string next_text(const std::string& former, CUfunction function) {
    std::string name = kernel_name(function);
    return name == former ? name + " of another device, context or library" : name;
}

std::string value_text(CUcontext context) {
    if (context == nullptr) return "the device's own";
    const std::string name = numbered_name(context);
    return name.empty() ? fmt::format("context {}", static_cast<const void*>(context)) : name;
}

std::string value_text(cudaMemcpyKind kind) {
    return std::string(direction(kind));
}

std::string value_text(ConditionalKind kind) {
    return std::string(to_string(kind));
}

std::string value_text(MemoryOperationKind kind) {
    return std::string(to_string(kind));
}

std::string value_text(Compare compare) {
    return std::string(to_string(compare));
}

std::string value_text(const compat::CopyAttributes& attributes) {
    return fmt::format("order {}, flags {}, source at {} {}, destination at {} {}", attributes.order, attributes.flags,
                       attributes.source.type, attributes.source.id, attributes.destination.type,
                       attributes.destination.id);
}

std::string refusal_text(const FieldRule& rule, const std::string& current, const std::string& next) {
    return fmt::format(fmt::runtime(rule.refusal), current, next);
}

} // namespace cudag::detail
