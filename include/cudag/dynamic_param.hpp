// DynamicParam: one value that many kernel arguments follow.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/updates.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cudag {

namespace detail {

/// A number that no other parameter of this process has.
[[nodiscard]] CUDAG_EXPORT std::uint64_t next_dynamic_id() noexcept;

/// Gives every argument that is bound to `id` the value at `value`, in all targets or, with an exception, in none.
/// Returns how many arguments that were.
CUDAG_EXPORT std::size_t set_dynamic(std::uint64_t id, const void* value, std::size_t bytes,
                                     const UpdateTarget* targets, std::size_t count);

} // namespace detail

/// A value for kernel arguments that change together, such as the position of a decoder in all its layers:
///
///     cudag::DynamicParam<int> position(0);
///     b.kernel(config, attention, cache, position);
///     ...
///     position.set(17, exec);
///
/// A kernel node made with it as an argument is bound to it from then on, in its graph, in clones of that, where it
/// becomes a child, and in every Exec. The parameter must be of type T, or a pointer that T converts to.
/// Graphs and parameters may go in any order. Move-only.
/// Threads: one at a time on one parameter, but for const calls; `set` counts as an update of each Exec that it is
/// given.
template <class T>
class DynamicParam {
    static_assert(std::is_trivially_copyable_v<T> && std::is_same_v<T, std::remove_cvref_t<T>>,
                  "cudag: a DynamicParam holds a trivially copyable value; it owns nothing");

  public:
    using value_type = T;

    explicit DynamicParam(const T& initial) noexcept : value_(initial) {}
    DynamicParam(DynamicParam&&) noexcept = default;
    DynamicParam& operator=(DynamicParam&&) noexcept = default;
    DynamicParam(const DynamicParam&) = delete;            // cudag: a DynamicParam has no copies: pass it by reference
    DynamicParam& operator=(const DynamicParam&) = delete; // cudag: a DynamicParam has no copies: pass it by reference
    DynamicParam& operator=(const T&) = delete; // cudag: a DynamicParam is set by set(value, execs and graphs...)

    /// The value set last: what nodes made from now on start with.
    [[nodiscard]] const T& value() const noexcept { return value_; }

    /// Gives `value` to every argument bound to this parameter in `targets`, Execs or Graphs: in an Exec for launches
    /// to come, in a Graph as `Graph::update` does. Costs what `update(node, arg<I>(value))` costs for each of them.
    /// Returns how many arguments that were. Throws UpdateError, and changes nothing anywhere, if one is refused.
    template <class... Targets>
    std::size_t set(const T& value, Targets&&... targets) {
        static_assert(
            ((std::same_as<Targets, Exec&> || std::same_as<Targets, Graph&>)&&...),
            "cudag: a DynamicParam is set in Execs and Graphs, which it changes: no const ones, no temporaries");
        if constexpr (((std::same_as<Targets, Exec&> || std::same_as<Targets, Graph&>)&&...))
            return set_in(value, targets...);
        else
            return 0;
    }

    /// What bindings know this parameter by.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

  private:
    template <class... Targets>
    std::size_t set_in(const T& value, Targets&... targets) {
        const std::array<detail::UpdateTarget, sizeof...(Targets) + 1> list{target_of(targets)..., {}};
        const std::size_t changed = detail::set_dynamic(id_, &value, sizeof(T), list.data(), sizeof...(Targets));
        value_ = value;
        return changed;
    }

    template <class Self>
    static detail::UpdateTarget target_of(detail::Updates<Self>& target) {
        return target.target();
    }

    std::uint64_t id_ = detail::next_dynamic_id();
    T value_;
};

} // namespace cudag
