// The list of a kind's parameters, its function `fields`: the only source of comparison, hashes and refusals of
// updates.
//
//     template <class Visitor>
//     constexpr void fields(const FreeParams& free, Visitor& visit);
//
// The function calls, for each member:
// - `visit.field(name, member<&Params::name>, rule)`: the member is compared under this name,
// - `visit.unchosen(member<&Params::name>)`: CUDA chooses the member, and comparison ignores it,
// - `visit.ignored(member<&Params::name>...)`: other fields tell the members, or CUDA does not get them,
// - `visit.part(Part(), member<&Params::name>...)`: the class `Part` compares and hashes the members itself.
//
// A field also takes a function of the parameters instead of a `member`. Each member needs one call: a static_assert in
// node_params.cpp counts them.
#pragma once

#include <cudag/diff.hpp>

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// The least operation that gives a field of an exec's node another value.
enum class ChangedBy : std::uint8_t {
    node_update,  ///< an update of the node
    graph_update, ///< an update of the whole graph
    instantiate,  ///< a new instance: CUDA fixes the field at instantiation
    new_node,     ///< a new node
};

/// CUDA's rule for a field.
struct FieldRule {
    ChangedBy changed_by = ChangedBy::node_update;
    /// The reason against another value, for users: a format of the current and the next value. Null: CUDA reports the
    /// reason.
    const char* refusal = nullptr;
    DifferenceKind kind = DifferenceKind::parameter;
};

inline constexpr FieldRule changeable{};
/// The rule of a field fixed at instantiation.
[[nodiscard]] constexpr FieldRule fixed(const char* refusal = nullptr) noexcept {
    return {ChangedBy::instantiate, refusal};
}

/// A selection of fields for a hash.
enum class HashedFields : std::uint8_t {
    changing,  ///< the fields in reach of a node's update
    fixed,     ///< the others
    structure, ///< the difference between execs in a cache: functions, and attributes fixed at instantiation
};

/// Reads one member of parameters, or a member of a member.
template <auto... path>
struct Member {
    template <class Params>
    constexpr const auto& operator()(const Params& params) const noexcept {
        return (params.*....*path);
    }
};
template <auto... path>
inline constexpr Member<path...> member{};

// The check for complete lists.

struct AnyValue {
    template <class T>
    constexpr operator T() const noexcept; // NOLINT: converts implicitly, and is never defined
};

/// The number of members of an aggregate.
template <class T, class... Values>
constexpr std::size_t member_count() noexcept {
    if constexpr (requires { T{std::declval<Values>()..., AnyValue()}; })
        return member_count<T, Values..., AnyValue>();
    else
        return sizeof...(Values);
}

/// A visitor for the check: counts the members with a call.
template <class Params>
class NamedMembers {
  public:
    constexpr explicit NamedMembers(const Params& params) noexcept : params_(params) {}

    template <class Get>
    constexpr void field(const char* /*name*/, const Get& get, const FieldRule& /*rule*/) noexcept {
        note(get);
    }
    template <class Get>
    constexpr void unchosen(const Get& get) noexcept {
        note(get);
    }
    template <class... Get>
    constexpr void ignored(const Get&... get) noexcept {
        (note(get), ...);
    }
    template <class Part, class... Get>
    constexpr void part(const Part& /*part*/, const Get&... get) noexcept {
        (note(get), ...);
    }

    /// Whether each member has exactly one call.
    [[nodiscard]] constexpr bool are_all() const noexcept { return !is_twice_ && named_.count == wanted_; }

  private:
    struct Places {
        std::array<const void*, 64> list{};
        std::size_t count = 0;

        constexpr bool add(const void* place) noexcept {
            for (std::size_t i = 0; i < count; ++i)
                if (list[i] == place) return false;
            list[count++] = place;
            return true;
        }
    };

    template <auto only>
    constexpr void note(const Member<only>& get) noexcept {
        is_twice_ = !named_.add(std::addressof(get(params_))) || is_twice_;
    }
    template <auto outer, auto inner>
    constexpr void note(const Member<outer, inner>& get) noexcept {
        const auto& whole = params_.*outer;
        if (wholes_.add(std::addressof(whole))) wanted_ += member_count<std::decay_t<decltype(whole)>>() - 1;
        is_twice_ = !named_.add(std::addressof(get(params_))) || is_twice_;
    }
    template <class Function>
    constexpr void note(const Function& /*get*/) noexcept {}

    const Params& params_;
    Places named_;
    Places wholes_; ///< members named part by part
    std::size_t wanted_ = member_count<Params>();
    bool is_twice_ = false;
};

/// Whether `fields` of these parameters has a call for each member.
template <class Params>
constexpr bool has_all_fields() noexcept {
    constexpr Params params{};
    NamedMembers<Params> named(params);
    fields(params, named);
    return named.are_all();
}

} // namespace cudag::detail
