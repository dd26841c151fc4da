// Field by field comparison of parameters.
#pragma once

#include "conditional.hpp"
#include "cuda/compat.hpp"
#include "differences.hpp"
#include "fields.hpp"
#include "memory_operations.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag::detail {

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

// The texts of values, for users. Not inline: only differences need them.
[[nodiscard]] std::string value_text(const void* address);
[[nodiscard]] std::string value_text(std::int64_t number);
[[nodiscard]] std::string value_text(std::uint64_t number);
[[nodiscard]] std::string value_text(const dim3& size);
[[nodiscard]] std::string value_text(const cudaPos& position);
[[nodiscard]] std::string value_text(const cudaExtent& extent);
[[nodiscard]] std::string value_text(CUfunction function);
[[nodiscard]] std::string value_text(CUcontext context);
[[nodiscard]] std::string value_text(cudaMemcpyKind kind);
[[nodiscard]] std::string value_text(ConditionalKind kind);
[[nodiscard]] std::string value_text(MemoryOperationKind kind);
[[nodiscard]] std::string value_text(Compare compare);
[[nodiscard]] std::string value_text(const compat::CopyAttributes& attributes);
[[nodiscard]] inline std::string value_text(std::string_view text) {
    return std::string(text);
}
[[nodiscard]] inline std::string value_text(cudaHostFn_t function) {
    return value_text(reinterpret_cast<const void*>(function));
}
template <std::integral T>
[[nodiscard]] std::string value_text(T number) {
    return value_text(static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(number));
}

/// The text of a value that replaces one with the text `former`.
template <class T>
[[nodiscard]] std::string next_text(const std::string& /*former*/, const T& value) {
    return value_text(value);
}
[[nodiscard]] std::string next_text(const std::string& former, CUfunction function);

/// The reason of a rule against another value.
[[nodiscard]] std::string refusal_text(const FieldRule& rule, const std::string& current, const std::string& next);

/// Collects the differences of two nodes' parameters, or only their existence.
class Differences {
  public:
    enum class Want { list, equality };
    Differences(Want want, const SameConditions& conditions) : want_(want), conditions_(conditions) {}

    template <class T>
    void compare(const char* name, const T& before, const T& after, const FieldRule& rule) {
        if (!same_value(before, after))
            add([&] {
                std::string former = value_text(before);
                std::string next = next_text(former, after);
                return FieldDifference{rule.kind, name, std::move(former), std::move(next), rule.changed_by};
            });
    }
    /// Records the result of `make()`.
    template <class Make>
    void add(const Make& make) {
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

/// What the visitors of two nodes have in common: they pass over alternatives not chosen, and ignored members.
struct FieldVisitor {
    template <class Get>
    void unchosen(const Get& /*get*/) const noexcept {}
    template <class... Get>
    void ignored(const Get&... /*get*/) const noexcept {}
};

/// A visitor for comparing the fields of two nodes.
template <class Params>
class Comparison : public FieldVisitor {
  public:
    Comparison(const Params& before, const Params& after, Differences& found)
        : before_(before), after_(after), found_(found) {}

    template <class Get>
    void field(const char* name, const Get& get, const FieldRule& rule) {
        found_.compare(name, get(before_), get(after_), rule);
    }
    template <class Part, class... Get>
    void part(const Part& /*part*/, const Get&... /*get*/) {
        Part::compare(before_, after_, found_);
    }

  private:
    const Params& before_;
    const Params& after_;
    Differences& found_;
};

/// A visitor for finding the first change out of reach of an update, and the reason for users.
template <class Params>
class FirstRefusal : public FieldVisitor {
  public:
    /// Looks for changes in need of `least`, or more.
    FirstRefusal(const Params& current, const Params& next, ChangedBy least)
        : current_(current), next_(next), least_(least) {}

    template <class Get>
    void field(const char* /*name*/, const Get& get, const FieldRule& rule) {
        if (rule.refusal == nullptr || rule.changed_by < least_ || same_value(get(current_), get(next_))) [[likely]]
            return;
        if (reason_.empty()) reason_ = refusal_text(rule, value_text(get(current_)), value_text(get(next_)));
    }
    template <class Part, class... Get>
    void part(const Part& /*part*/, const Get&... /*get*/) {
        if constexpr (requires { Part::refusal(current_, next_); })
            if (reason_.empty() && least_ <= ChangedBy::instantiate) reason_ = Part::refusal(current_, next_);
    }

    [[nodiscard]] std::string&& reason() && noexcept { return std::move(reason_); }

  private:
    const Params& current_;
    const Params& next_;
    ChangedBy least_;
    std::string reason_;
};

} // namespace cudag::detail
