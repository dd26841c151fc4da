// GraphFunction: a graph that is called like a function, with the buffers and values of each call.
#pragma once

#include <cudag/arg.hpp>
#include <cudag/buffer_param.hpp>
#include <cudag/builder.hpp>
#include <cudag/builder_options.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/function_parameter.hpp>
#include <cudag/dynamic_param.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag {

/// The options of a GraphFunction.
struct GraphFunctionOptions {
    /// Number of Execs, at least 1, made as calls need them. A call takes the Exec with its arguments, or gives its
    /// arguments to the one used least recently. With 2, calls that swap two buffers in turn cost a plain launch.
    /// Graphs with graph memory or device-updatable kernels have one Exec at a time, and need 1.
    std::size_t execs = 1;
    /// The options of the builder. Edges are inferred, so that the body needs none, and runs in a stream as well.
    BuilderOptions builder = {Races::refused, Dependencies::inferred};
    InstantiateOptions instantiate = {};
};

template <class Signature>
class GraphFunction {
    static_assert(detail::no_function_signature<Signature>,
                  "cudag: a GraphFunction has a signature such as void(In<float>, Out<float>, int)");
};

/// A graph called like a function. The body writes the graph once; each call replaces its buffers and values, and
/// launches it:
///
///     const auto body = [&](auto& b, const auto& from, const auto& to, const auto& count) {
///         b.kernel(cudag::grid_1d(n, 256), add, from, from, to, count);
///     };
///     cudag::GraphFunction<void(cudag::In<float>, cudag::Out<float>, int)> doubled(body, x, y, n);
///     doubled(stream, x, y, n);
///     doubled(stream, y, x, 17);         // other buffers, and another value
///     doubled(stream, cudag::arg<2>(16)); // the others are those of the last call
///
/// The parameters of the signature:
///   - `In<Element>`, `Out<Element>`, `InOut<Element>`: device memory. The body gets a BufferParam, a call takes a
///     DeviceBuffer, a DeviceSpan or a shared_ptr to a DeviceBuffer. The memory given to the constructor decides how
///     many elements the nodes use; that of a call must be as long or longer.
///   - any trivially copyable type: a value. The body gets a DynamicParam, for arguments of kernels, and for sizes and
///     launch shapes that follow it by `drive`.
///   - `Named<"count", int>`: one of these with a name, for `arg<"count">(17)`
///
/// A call with the arguments of an Exec costs its launch alone; otherwise a `bind` of the changed buffers and a `set`
/// of each changed value. Launches in flight keep their arguments. Buffers that own memory are kept alive as by
/// Exec::bind, and those of the constructor as long as the graph; spans are borrowed.
///
/// Move-only; a moved-from function throws GraphError. Threads: one at a time on one object.
template <class... Parameter>
class GraphFunction<void(Parameter...)> {
    static_assert((detail::is_function_parameter<Parameter> && ...),
                  "cudag: a parameter of a GraphFunction is In<T>, Out<T>, InOut<T>, a trivially copyable value but no "
                  "pointer, or Named<\"name\", one of these>");

  public:
    /// Calls `body(GraphBuilder&, parameters...)` and builds the graph. `arguments` are those that the Exec has before
    /// the first call; in place of memory, a number allocates so many elements. Exceptions of `body` and of `build`
    /// pass through. Throws GraphError, with the number of the parameter, if no node uses it, if a node writes the
    /// memory of an In, or if none writes that of an Out or InOut; UpdateError if calls could not replace its memory,
    /// as Exec::bind; InstantiateError as Graph::instantiate.
    template <class Body, class... Argument>
    requires(sizeof...(Argument) == sizeof...(Parameter))
    explicit GraphFunction( // cudag: GraphFunction<void(...)>(body, arguments...): one argument for each parameter
        const Body& body, const Argument&... arguments)
        : GraphFunction(GraphFunctionOptions(), body, arguments...) {}
    /// The same with options. Throws GraphError if `options.execs` is 0.
    template <class Body, class... Argument>
    requires(sizeof...(Argument) == sizeof...(Parameter))
    explicit GraphFunction( // cudag: GraphFunction<void(...)>(options, body, arguments...): one for each parameter
        const GraphFunctionOptions& options, const Body& body, const Argument&... arguments)
        : options_(options), parameters_(Kind<Parameter>::held(arguments)...), graph_(build(body)) {
        if (options_.execs == 0) detail::refuse_no_execs();
        check(Indices());
        add_exec(Indices());
    }

    /// Launches the graph in `stream` with `arguments`: one for each parameter, or some by `arg<index>(value)` and
    /// `arg<"name">(value)`, and the others as in the last call. Asynchronous. Throws UpdateError or RaceError if a
    /// buffer or value is refused, and as Exec::launch. Nothing is launched then, and the arguments of the last call
    /// stay.
    template <class... Argument>
    void operator()( // cudag: function(stream, arguments...)
        StreamRef stream, const Argument&... arguments) {
        using Call = detail::FunctionCall<std::tuple<Parameter...>, std::tuple<Argument...>>;
        if constexpr (Call::require()) {
            if constexpr (Call::require_types()) {
                if (execs_.empty()) detail::refuse_moved_function();
                call<Call>(stream, std::forward_as_tuple(arguments...), Indices());
            }
        }
    }

    /// Returns the graph. Its nodes have the memory and values of the constructor.
    [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
    /// Returns the number of Execs so far.
    [[nodiscard]] std::size_t execs() const noexcept { return execs_.size(); }

  private:
    template <class Type>
    using Kind = detail::ParameterKind<Type>;
    template <std::size_t Index>
    using KindAt = Kind<std::tuple_element_t<Index, std::tuple<Parameter...>>>;
    using Indices = std::index_sequence_for<Parameter...>;
    using Arguments = std::tuple<typename Kind<Parameter>::Argument...>;
    static constexpr std::size_t memories = (std::size_t{Kind<Parameter>::is_memory} + ... + 0);

    /// An Exec and its arguments.
    struct Instance {
        Exec exec;
        Arguments now;
        std::uint64_t used; ///< number of the call that used it last
    };

    /// The buffers to bind in one call.
    struct Bindings {
        std::vector<BufferBinding> list;
        Bindings() { list.reserve(memories); }
    };

    template <class Body>
    Graph build(const Body& body) {
        static_assert(
            std::is_invocable_v<const Body&, GraphBuilder&, const typename Kind<Parameter>::Held&...>,
            "cudag: the body of a GraphFunction takes a GraphBuilder& (or auto&) and, as const auto&, a BufferParam "
            "for each In, Out and InOut, and a DynamicParam for each value");
        GraphBuilder builder(options_.builder);
        if constexpr (std::is_invocable_v<const Body&, GraphBuilder&, const typename Kind<Parameter>::Held&...>)
            std::apply([&](const auto&... parameter) { body(builder, parameter...); }, parameters_);
        return std::move(builder).build();
    }

    template <std::size_t... Index>
    void check(std::index_sequence<Index...>) const {
        std::vector<detail::FunctionMemory> memory;
        const auto add = [&]<std::size_t At>(std::integral_constant<std::size_t, At>) {
            if constexpr (KindAt<At>::is_memory) {
                const auto& held = std::get<At>(parameters_);
                if (graph_.uses(held).empty()) detail::refuse_unused_parameter(At, KindAt<At>::name);
                memory.push_back({At, KindAt<At>::name, KindAt<At>::direction,
                                  reinterpret_cast<std::uintptr_t>(held.data()), held.size_bytes()});
            }
        };
        (add(std::integral_constant<std::size_t, Index>()), ...);
        detail::check_directions(graph_, memory.data(), memory.size());
    }

    /// Adds an Exec with the arguments of the constructor. Binding them shows whether calls can bind others.
    template <std::size_t... Index>
    void add_exec(std::index_sequence<Index...>) {
        Instance instance{graph_.instantiate(options_.instantiate),
                          Arguments(KindAt<Index>::initial(std::get<Index>(parameters_))...), 0};
        Bindings bindings;
        const auto try_out = [&]<std::size_t At>(std::integral_constant<std::size_t, At>) {
            if constexpr (KindAt<At>::is_memory)
                bindings.list.push_back(std::get<At>(instance.now).binding);
            else if (std::get<At>(parameters_).set(std::get<At>(instance.now), instance.exec) == 0)
                detail::refuse_unused_parameter(At, KindAt<At>::name);
        };
        (try_out(std::integral_constant<std::size_t, Index>()), ...);
        if (!bindings.list.empty()) instance.exec.bind(bindings.list);
        execs_.push_back(std::move(instance));
    }

    /// The argument of a call for a parameter.
    template <class Call, std::size_t At, class Given>
    static const auto& argument(const Given& given) {
        return detail::value_of_argument(std::get<Call::position(At)>(given));
    }

    template <class Call, class Given, std::size_t... Index>
    void call(StreamRef stream, const Given& given, std::index_sequence<Index...> indices) {
        const auto suits = [&]<std::size_t At>(const Instance& instance, std::integral_constant<std::size_t, At>) {
            const auto& now = std::get<At>(instance.now);
            if constexpr (Call::position(At) < Call::count)
                return KindAt<At>::is_same(now, std::get<At>(parameters_), argument<Call, At>(given));
            else
                return KindAt<At>::is_equal(std::get<At>(execs_[last_].now), now);
        };
        std::size_t taken = 0;
        while (taken < execs_.size() && !(suits(execs_[taken], std::integral_constant<std::size_t, Index>()) && ...))
            ++taken;
        if (taken == execs_.size()) {
            if (execs_.size() < options_.execs)
                add_exec(indices);
            else
                taken = oldest();
            const auto wanted = [&]<std::size_t At>(std::integral_constant<std::size_t, At>) {
                if constexpr (Call::position(At) < Call::count)
                    return KindAt<At>::argument(std::get<At>(parameters_), argument<Call, At>(given));
                else
                    return std::get<At>(execs_[last_].now);
            };
            give(execs_[taken], Arguments(wanted(std::integral_constant<std::size_t, Index>())...), indices);
        }
        execs_[taken].exec.launch(stream);
        execs_[taken].used = ++calls_;
        last_ = taken;
    }

    [[nodiscard]] std::size_t oldest() const {
        const auto found = std::min_element(execs_.begin(), execs_.end(),
                                            [](const Instance& a, const Instance& b) { return a.used < b.used; });
        return static_cast<std::size_t>(found - execs_.begin());
    }

    /// Gives an Exec the arguments that it does not have, all or none.
    template <std::size_t... Index>
    void give(Instance& instance, Arguments&& wanted, std::index_sequence<Index...>) {
        Bindings to;
        Bindings back;
        const auto collect = [&]<std::size_t At>(std::integral_constant<std::size_t, At>) {
            if constexpr (KindAt<At>::is_memory)
                if (!KindAt<At>::is_equal(std::get<At>(wanted), std::get<At>(instance.now))) {
                    to.list.push_back(std::get<At>(wanted).binding);
                    back.list.push_back(std::get<At>(instance.now).binding);
                }
        };
        (collect(std::integral_constant<std::size_t, Index>()), ...);
        if (!to.list.empty()) instance.exec.bind(to.list);
        std::size_t done = 0;
        const auto set = [&]<std::size_t At>(const Arguments& values, std::integral_constant<std::size_t, At>) {
            if constexpr (!KindAt<At>::is_memory)
                if (!KindAt<At>::is_equal(std::get<At>(wanted), std::get<At>(instance.now)))
                    std::get<At>(parameters_).set(std::get<At>(values), instance.exec);
        };
        try {
            ((set(wanted, std::integral_constant<std::size_t, Index>()), ++done), ...);
        } catch (...) {
            ((Index < done ? set(instance.now, std::integral_constant<std::size_t, Index>()) : void()), ...);
            if (!back.list.empty()) instance.exec.bind(back.list);
            throw;
        }
        instance.now = std::move(wanted);
    }

    GraphFunctionOptions options_;
    std::tuple<typename Kind<Parameter>::Held...> parameters_;
    Graph graph_;
    std::deque<Instance> execs_;
    std::size_t last_ = 0; ///< the one used last
    std::uint64_t calls_ = 0;
};

} // namespace cudag
