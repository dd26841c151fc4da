// The body functions of conditional nodes, without their types.
#pragma once

#include <cudag/condition.hpp>
#include <cudag/config.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <concepts>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace cudag {
class GraphBuilder;
}

namespace cudag::detail {

class GraphState;

/// A function for building the body of a conditional node.
template <class Callable>
concept GraphBodyFunction = requires(Callable& function, GraphBuilder& builder) {
    { function(builder) } -> std::same_as<void>;
};

/// Refers to a body function for the time of one call.
class GraphBody {
  public:
    template <class Callable>
    requires(!std::same_as<std::remove_cvref_t<Callable>, GraphBody>)
    GraphBody(Callable&& function) {
        using Function = std::remove_reference_t<Callable>;
        static_assert(GraphBodyFunction<Function>,
                      "cudag: a body is a function that takes a GraphBuilder& and returns nothing: "
                      "[&](cudag::GraphBuilder& body) { ... }");
        if constexpr (GraphBodyFunction<Function>) {
            if constexpr (std::is_function_v<Function>) {
                function_ = function;
            } else {
                object_ = const_cast<void*>(static_cast<const void*>(std::addressof(function)));
                call_ = [](void* object, GraphBuilder& builder) { (*static_cast<Function*>(object))(builder); };
            }
        }
    }

    void operator()(GraphBuilder& builder) const {
        if (call_ != nullptr)
            call_(object_, builder);
        else
            function_(builder);
    }

  private:
    void* object_ = nullptr;
    void (*call_)(void*, GraphBuilder&) = nullptr;
    void (*function_)(GraphBuilder&) = nullptr;
};

/// A range of body functions. The concepts of `<ranges>` would take an eighth of the compile time of cudag.hpp.
template <class Bodies>
concept GraphBodies = std::forward_iterator<decltype(std::ranges::begin(std::declval<Bodies&>()))> &&
                      requires(Bodies& bodies) { std::ranges::end(bodies); };

/// Makes a condition for `graph`. Without `initial`, its value starts undefined. Throws GraphError if the graph or the
/// body is finished.
CUDAG_EXPORT Condition make_condition(GraphState& graph, std::optional<unsigned> initial, const SourceLocation& where);

} // namespace cudag::detail
