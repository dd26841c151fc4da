// DynamicParam: one value that arguments, launch shapes and sizes of many nodes follow.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/driven.hpp>
#include <cudag/detail/updates.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/memory_node.hpp>
#include <cudag/node.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>

namespace cudag {

namespace detail {

template <class Number>
concept Count = std::integral<std::remove_cvref_t<Number>>;

/// A number that no other parameter of this process has.
[[nodiscard]] CUDAG_EXPORT std::uint64_t next_dynamic_id() noexcept;

/// The value of a DynamicParam.
struct DynamicValue {
    const void* value;
    std::size_t bytes;
    MemoryRegion (*region)(const void* value); ///< of such a value; null if it is no span
};

/// Gives every argument that is bound to `id` a value, and what it drives what that makes of it, in all targets or,
/// with an exception, in none. Returns how many that were.
CUDAG_EXPORT std::size_t set_dynamic(std::uint64_t id, const DynamicValue& value, const UpdateTarget* targets,
                                     std::size_t count);

template <class Value>
constexpr auto dynamic_region() noexcept -> MemoryRegion (*)(const void*) {
    if constexpr (is_span_parameter<Value>)
        return [](const void* bytes) {
            std::array<std::byte, sizeof(Value)> copy; // they may stand anywhere
            std::memcpy(copy.data(), bytes, sizeof(Value));
            return region_of(std::bit_cast<Value>(copy));
        };
    else
        return nullptr;
}

/// `node`, of a graph under construction, follows `id`, whose value is at `value`.
CUDAG_EXPORT void drive(std::uint64_t id, const Node& node, Driven&& driven, const void* value);

} // namespace detail

/// A value for kernel arguments that change together, such as the position of a decoder in all its layers:
///
///     cudag::DynamicParam<int> position(0);
///     b.kernel(config, step, x, position);
///     ...
///     position.set(17, exec);
///
/// A kernel node made with it as an argument is bound to it from then on, in its graph, in clones of that, where it
/// becomes a child, and in every Exec. The parameter must be of type Value, or a pointer that Value converts to. Launch
/// shapes, and the sizes of copies and fills, follow it by `drive`:
///
///     cudag::DynamicParam<int> count(1000);
///     count.drive(b.kernel(config, step, x, count), [](int now) { return cudag::grid_1d(now, 256); });
///     count.drive(b.memcpy(y, x)); // the first `count` elements
///
/// A parameter that is a span counts as that span for inferred edges and races: `in(param)`, `atomic(param)` and the
/// like say more of it. A `set` that moves it into a race is refused as an update would be. Edges are inferred for the
/// value that the graph is built with, and for the largest sizes of what is driven.
///
/// Graphs and parameters may go in any order. Move-only.
/// Threads: one at a time on one parameter, but for const calls; `set` counts as an update of each Exec that it is
/// given.
template <class Value>
class DynamicParam {
    static_assert(std::is_trivially_copyable_v<Value> && std::is_same_v<Value, std::remove_cvref_t<Value>>,
                  "cudag: a DynamicParam holds a trivially copyable value; it owns nothing");

  public:
    using value_type = Value;

    explicit DynamicParam(const Value& initial) noexcept : value_(initial) {}
    DynamicParam(DynamicParam&&) noexcept = default;
    DynamicParam& operator=(DynamicParam&&) noexcept = default;
    DynamicParam(const DynamicParam&) = delete;            // cudag: a DynamicParam has no copies: pass it by reference
    DynamicParam& operator=(const DynamicParam&) = delete; // cudag: a DynamicParam has no copies: pass it by reference
    DynamicParam& operator=(const Value&) = delete; // cudag: a DynamicParam is set by set(value, execs and graphs...)

    /// The value set last: what nodes made from now on start with.
    [[nodiscard]] const Value& value() const noexcept { return value_; }

    /// Lets the launch of a kernel node of a graph under construction follow this parameter: it has the grid, block and
    /// shared bytes of `config(value)`, now and after every `set`; what else is in that must be as the node was made.
    /// The graph and its clones keep `config`, which may be called on any thread that sets the parameter. Throws
    /// GraphError if the graph is built, UpdateError if the launch is refused; the node is as before then.
    template <class Handle, class Callable>
    requires detail::is_kernel_node<Handle>
    void drive(const Handle& node, Callable&& config) const {
        constexpr bool makes_config = std::is_invocable_r_v<LaunchConfig, const std::decay_t<Callable>&, const Value&>;
        static_assert(makes_config, "cudag: a kernel is driven by a function that makes a LaunchConfig of the "
                                    "parameter's value: [](int n) { return cudag::grid_1d(n, 256); }");
        if constexpr (makes_config)
            detail::drive(
                id_, node,
                {[config = std::decay_t<Callable>(std::forward<Callable>(config))](const void* value) -> LaunchConfig {
                     return std::invoke(config, *static_cast<const Value*>(value));
                 },
                 {}},
                &value_);
    }

    /// Lets the size of a copy or fill in one dimension follow this parameter: it takes the first `count(value)`
    /// elements, the value itself if there is no function, of what it was made with, which is the most. Updates that
    /// give it other memory must give as much. Throws as above; also, here and in `set`, if that is not 1 or more.
    template <class Handle, class Callable = std::identity>
    requires std::same_as<Handle, MemcpyNode> || std::same_as<Handle, MemsetNode>
    void drive(const Handle& node, Callable&& count = {}) const {
        constexpr bool makes_count = requires(const std::decay_t<Callable>& f, const Value& value) {
            { std::invoke(f, value) } -> detail::Count;
        };
        static_assert(makes_count, "cudag: a copy or fill is driven by a number of elements, or by a function that "
                                   "makes one of the parameter's value");
        if constexpr (makes_count)
            detail::drive(id_, node,
                          {{},
                           [count = std::decay_t<Callable>(std::forward<Callable>(count))](const void* value) {
                               return detail::element_count(std::invoke(count, *static_cast<const Value*>(value)));
                           }},
                          &value_);
    }

    template <class Handle, class... Callable>
    requires(!(detail::is_kernel_node<Handle> && sizeof...(Callable) == 1) && !std::same_as<Handle, MemcpyNode> &&
             !std::same_as<Handle, MemsetNode>)
    void drive(const Handle&, Callable&&...) const {
        static_assert(sizeof(Handle) == 0,
                      "cudag: a DynamicParam drives the launch of a kernel, by a function, and the size "
                      "of a MemcpyNode or MemsetNode");
    }

    /// Gives `value` to every argument bound to this parameter in `targets`, Execs or Graphs, and to what it drives: in
    /// an Exec for launches to come, in a Graph as `Graph::update` does. Costs what `update(node, arg<I>(value))` costs
    /// for each of them. Returns how many that were. Throws UpdateError, and changes nothing anywhere, if one is
    /// refused.
    template <class... Targets>
    std::size_t set(const Value& value, Targets&&... targets) {
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
    std::size_t set_in(const Value& value, Targets&... targets) {
        const std::array<detail::UpdateTarget, sizeof...(Targets) + 1> list{target_of(targets)..., {}};
        const std::size_t changed = detail::set_dynamic(id_, {&value, sizeof(Value), detail::dynamic_region<Value>()},
                                                        list.data(), sizeof...(Targets));
        value_ = value;
        return changed;
    }

    template <class Self>
    static detail::UpdateTarget target_of(detail::Updates<Self>& target) {
        return target.target();
    }

    std::uint64_t id_ = detail::next_dynamic_id();
    Value value_;
};

} // namespace cudag
