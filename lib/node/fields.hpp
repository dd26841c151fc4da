// Field by field comparison of parameters.
#pragma once

#include <cudag/diff.hpp>

#include <fmt/format.h>

#include <cuda_runtime_api.h>

#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

/// A field with different values in two nodes.
struct FieldDifference {
    DifferenceKind kind;
    std::string field;
    std::string before;
    std::string after;
    bool needs_instantiate;
};

/// The correspondence of conditions between two graphs; here, conditions with equal numbers correspond.
class SameConditions {
  public:
    virtual ~SameConditions() = default;
    [[nodiscard]] virtual bool same(cudaGraphConditionalHandle before, cudaGraphConditionalHandle after) const {
        return before == after;
    }
    /// Whether CUDA must accept `after` as an update of `before`.
    [[nodiscard]] virtual bool for_update() const noexcept { return false; }
    /// Whether initial values count; whole updates accept different ones.
    [[nodiscard]] virtual bool compares_initial() const noexcept { return !for_update(); }
    /// A condition's name and its initial value: "1", or "none".
    [[nodiscard]] virtual std::string name_before(cudaGraphConditionalHandle handle) const { return name(handle); }
    [[nodiscard]] virtual std::string name_after(cudaGraphConditionalHandle handle) const { return name(handle); }
    [[nodiscard]] virtual std::string initial_before(cudaGraphConditionalHandle) const { return "none"; }
    [[nodiscard]] virtual std::string initial_after(cudaGraphConditionalHandle) const { return "none"; }

  protected:
    [[nodiscard]] static std::string name(cudaGraphConditionalHandle handle) {
        return fmt::format("condition {}", handle);
    }
};

template <class T>
[[nodiscard]] bool same_value(const T& a, const T& b) {
    return a == b;
}
[[nodiscard]] inline bool same_value(const dim3& a, const dim3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
[[nodiscard]] inline bool same_value(const cudaPos& a, const cudaPos& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
[[nodiscard]] inline bool same_value(const cudaExtent& a, const cudaExtent& b) {
    return a.width == b.width && a.height == b.height && a.depth == b.depth;
}

template <class T>
[[nodiscard]] std::string value_text(const T& value) {
    return fmt::format("{}", value);
}
[[nodiscard]] inline std::string value_text(const dim3& value) {
    return fmt::format("({}, {}, {})", value.x, value.y, value.z);
}
[[nodiscard]] inline std::string value_text(const cudaPos& value) {
    return fmt::format("({}, {}, {})", value.x, value.y, value.z);
}
[[nodiscard]] inline std::string value_text(const cudaExtent& value) {
    return fmt::format("{} x {} x {}", value.width, value.height, value.depth);
}

/// Compares the fields of two nodes' parameters, and records the differences, or only their existence.
class Fields {
  public:
    enum class Want { list, equality };
    Fields(Want want, const SameConditions& conditions) : want_(want), conditions_(conditions) {}

    template <class T>
    void field(const char* name, const T& before, const T& after, DifferenceKind kind = DifferenceKind::parameter,
               bool needs_instantiate = false) {
        if (!same_value(before, after))
            differ([&] {
                return FieldDifference{kind, name, value_text(before), value_text(after), needs_instantiate};
            });
    }
    void address(const char* name, const void* before, const void* after, bool needs_instantiate = false) {
        field(name, before, after, DifferenceKind::parameter, needs_instantiate);
    }
    /// Compares a field fixed by CUDA.
    template <class T>
    void fixed(const char* name, const T& before, const T& after) {
        field(name, before, after, DifferenceKind::parameter, true);
    }
    /// Records the result of `make()`.
    template <class Make>
    void differ(const Make& make) {
        equal_ = false;
        if (want_ == Want::list) list_.push_back(make());
    }

    [[nodiscard]] const SameConditions& conditions() const noexcept { return conditions_; }
    [[nodiscard]] bool equal() const noexcept { return equal_; }
    [[nodiscard]] std::vector<FieldDifference>&& list() && noexcept { return std::move(list_); }

  private:
    Want want_;
    const SameConditions& conditions_;
    bool equal_ = true;
    std::vector<FieldDifference> list_;
};

} // namespace cudag::detail
