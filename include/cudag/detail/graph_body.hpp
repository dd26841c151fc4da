// The functions that write the bodies of conditionals, with their types erased.
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

template <class Callable>
concept GraphBodyFunction = requires(Callable& function, GraphBuilder& builder) {
    { function(builder) } -> std::same_as<void>;
};

/// Refers to such a function for the time of one call.
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

/// A range of such functions; all of <ranges> for its concept would be an eighth of the time that cudag.hpp takes.
template <class Bodies>
concept GraphBodies = std::forward_iterator<decltype(std::ranges::begin(std::declval<Bodies&>()))> &&
                      requires(Bodies& bodies) { std::ranges::end(bodies); };

/// Without an initial value, the condition starts undefined.
CUDAG_EXPORT Condition make_condition(GraphState& graph, std::optional<unsigned> initial, const SourceLocation& where);

} // namespace cudag::detail
