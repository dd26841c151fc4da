// DynamicParam: one value for the arguments, launch shapes and sizes of many nodes.
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

/// A type that counts elements: an integer of any kind.
template <class Number>
concept Count = std::integral<std::remove_cvref_t<Number>>;

/// Returns a number unique among the DynamicParams of this process.
[[nodiscard]] CUDAG_EXPORT std::uint64_t next_dynamic_id() noexcept;

/// The value of a DynamicParam, without its type.
struct DynamicValue {
    const void* value;
    std::size_t bytes;
    MemoryBlock (*region)(const void* value); ///< the memory of a span value; null for other types
};

/// Sets every argument bound to `id`, and every shape and size driven by it, from `value`: in all targets or, with an
/// exception, in none. Returns the number of arguments, shapes and sizes.
CUDAG_EXPORT std::size_t set_dynamic(std::uint64_t id, const DynamicValue& value, const UpdateTarget* targets,
                                     std::size_t count);

/// Returns the `region` of a DynamicValue of this type.
template <class Value>
constexpr auto dynamic_region() noexcept -> MemoryBlock (*)(const void*) {
    if constexpr (is_span_parameter<Value>)
        return [](const void* bytes) {
            std::array<std::byte, sizeof(Value)> copy; // the bytes may be unaligned
            std::memcpy(copy.data(), bytes, sizeof(Value));
            return block_of(std::bit_cast<Value>(copy));
        };
    else
        return nullptr;
}

/// Lets `node`, of a graph under construction, follow `id`. The current value is at `value`.
CUDAG_EXPORT void drive(std::uint64_t id, const Node& node, Driven&& driven, const void* value);

} // namespace detail

/// A value for many kernel arguments that change together, such as the position of a decoder in all its layers.
///
///     cudag::DynamicParam<int> position(0);
///     b.kernel(config, step, x, position);
///     ...
///     position.set(17, exec);
///
/// A kernel node that takes the parameter as an argument is bound to it: in its graph, in clones of the graph, inside
/// child nodes made of the graph, and in every Exec. The kernel's parameter must have the type Value, or a pointer type
/// to which Value converts.
/// Launch shapes, and the sizes of copies and fills, follow the parameter by `drive`:
///
///     cudag::DynamicParam<int> count(1000);
///     count.drive(b.kernel(config, step, x, count), [](int now) { return cudag::grid_1d(now, 256); });
///     count.drive(b.memcpy(y, x)); // the first `count` elements
///
/// A span value counts as an access to its memory, for inferred edges and races; `in(param)`, `atomic(param)` and the
/// like declare the access more precisely. A `set` that would make a race is refused like an update. Edges are inferred
/// for the value at the time of `build()`, and for the largest sizes of driven nodes.
///
/// Graphs and parameters may be destroyed in any order. Move-only.
/// Threads: calls on one parameter must not overlap, except const calls. `set` counts as an update of each Exec that it
/// is given.
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

    /// Returns the value set last. New nodes start with it.
    [[nodiscard]] const Value& value() const noexcept { return value_; }

    /// Lets the launch shape of a kernel node follow this parameter. Grid, block and shared bytes become those of
    /// `config(value)`, now and after every `set`. The other fields of the result must be omitted, or equal the node's.
    /// The graph must be under construction. It and its clones keep `config`, and each `set` calls it, on the thread of
    /// that `set`. `config` must not use a Graph or an Exec. Its exceptions pass through, here and in `set`. Throws
    /// GraphError if the graph is built, UpdateError if the launch is refused. The node is unchanged after an
    /// exception.
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

    /// Lets the size of a copy or fill in one dimension follow this parameter. The node takes the first `count(value)`
    /// elements of its original memory; without a function, the first `value` elements. The size at creation is the
    /// maximum: updates with other memory must give as much. The rules for `config` hold for `count`, too. Throws
    /// GraphError if the graph is built or the node has several dimensions. Throws UpdateError, here and in `set`, if
    /// the number is less than 1 or more than the maximum.
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

    /// Sets the parameter in `targets`, Execs or Graphs: every bound argument, driven shape and driven size takes its
    /// new value. An Exec changes for launches to come, a Graph as by `Graph::update`. Returns the number of these
    /// changes; all changes of one node cost as much as one `update(node, arg<I>(value))`. Throws UpdateError or
    /// RaceError if one is refused, and then changes nothing anywhere.
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

  private:
    friend struct detail::Access;

    template <class... Targets>
    std::size_t set_in(const Value& value, Targets&... targets) {
        const std::array<detail::UpdateTarget, sizeof...(Targets) + 1> list{detail::Access::target(targets)..., {}};
        const std::size_t changed = detail::set_dynamic(id_, {&value, sizeof(Value), detail::dynamic_region<Value>()},
                                                        list.data(), sizeof...(Targets));
        value_ = value;
        return changed;
    }

    std::uint64_t id_ = detail::next_dynamic_id();
    Value value_;
};

} // namespace cudag
