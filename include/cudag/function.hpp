// Function: a kernel known only at run time, and the handle of its nodes.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/given_arguments.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/node.hpp>

#include <driver_types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

class FunctionNode;
class Library;
template <class... Parameter>
class TypedFunction;

namespace detail {

template <>
inline constexpr bool is_kernel_node<FunctionNode> = true;

} // namespace detail

/// The place of one kernel parameter in CUDA's parameter block, in bytes.
struct FunctionParameter {
    std::size_t offset;
    std::size_t size;
    friend bool operator==(const FunctionParameter&, const FunctionParameter&) = default;
};

/// A kernel not compiled with the program: from a Library, or loaded by CUDA's own functions. It may be passed wherever
/// a `__global__` function may.
///
///     cudaFunction_t loaded = nullptr;
///     cudag::check(cudaGetFuncBySymbol(&loaded, reinterpret_cast<const void*>(scale)));
///     const cudag::Function function(loaded);
///     b.kernel(config, function, x, 2.0f, n).label("checked at run time");
///     b.kernel(config, function.typed<float*, float, int>(), x, 2.0f, n).label("checked by the compiler");
///
/// CUDA reports number and sizes of its parameters, but not their types. So arguments are passed without conversion,
/// a number in its own type, and their number and sizes are checked when they are given; `typed` adds checks by the
/// compiler. The graph keeps arguments that own memory, as for other kernels.
/// A cheap value. The source of the kernel must outlive it, its nodes and their launches, except a Library:
/// they keep it loaded.
/// Threads: const calls may run concurrently.
class CUDAG_EXPORT Function {
  public:
    /// Refers to a kernel for all devices, from `cudaLibraryGetKernel` or `cudaGetKernel`. Makes CUDA load it on the
    /// current device. Throws GraphError if it is null or unknown to CUDA.
    explicit Function(cudaKernel_t kernel);
    /// Refers to a kernel of the current device only, from `cuModuleGetFunction` or `cudaGetFuncBySymbol`: on other
    /// devices, nodes throw GraphError and launches Error. Throws GraphError if it is null or unknown to CUDA.
    explicit Function(cudaFunction_t function);
    Function(const Function&) = default; // moves copy: no Function is without a kernel
    Function& operator=(const Function&) = default;

    /// Returns the demangled name, without the list of parameters: "scale<float>".
    [[nodiscard]] std::string_view name() const noexcept;
    /// Returns the offset and size of each parameter, in order.
    [[nodiscard]] std::vector<FunctionParameter> parameters() const;

    /// Returns the kernel with typed parameters. The types must be those of the compiled kernel: CUDA cannot check
    /// them. Throws GraphError if their number, sizes or offsets differ from the kernel's parameters.
    template <class... Parameter>
    [[nodiscard]] TypedFunction<Parameter...>
    typed() const { // cudag: typed<float*, int>() takes the types of the parameters
        require_layout(detail::SignatureOf<Parameter...>::value);
        return TypedFunction<Parameter...>(detail::Passkey(), *this);
    }

    /// Returns true if both refer to the same kernel.
    friend CUDAG_EXPORT bool operator==(const Function& a, const Function& b) noexcept;

  private:
    friend struct detail::Access;
    friend class Library;
    explicit Function(std::shared_ptr<const detail::FunctionState> state) noexcept : state_(std::move(state)) {}

    void require_layout(const detail::KernelSignature& signature) const;

    std::shared_ptr<const detail::FunctionState> state_;
};

/// Describes the kernel: "scale of 3 parameters (8, 8 and 4 bytes)".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Function& function);

inline const detail::FunctionState& detail::Access::state(const Function& function) noexcept {
    return *function.state_;
}

/// A Function with typed parameters, made by `function.typed<Parameter...>()`. Its nodes are KernelNode<Parameter...>.
template <class... Parameter>
class TypedFunction {
  public:
    TypedFunction(detail::Passkey, const Function& function) noexcept : function_(function) {}

    /// Returns the same kernel without types.
    [[nodiscard]] const Function& function() const noexcept { return function_; }

  private:
    Function function_;
};

/// The handle of a kernel node without known parameter types: of a Function, of a captured library kernel, or of any
/// other kernel by `node.as<FunctionNode>()`.
///
///     const auto node = graph.nodes().at(0).as<cudag::FunctionNode>();
///     exec.update(node, cudag::arg(1, 3.0f)); // scale's factor
///     exec.update(node, x, 4.0f, n);
///
/// Updates take all arguments, or `arg(i, value)` for each changed one.
class FunctionNode : public detail::TypedNode<FunctionNode> {
  public:
    static constexpr NodeKind node_kind = NodeKind::kernel;
    using TypedNode::TypedNode;
};

namespace detail {

template <>
inline constexpr bool is_kernel<Function> = true;
template <class... Parameter>
inline constexpr bool is_kernel<TypedFunction<Parameter...>> = true;

CUDAG_EXPORT void require_function(const Node& node, const Function& function);

} // namespace detail

template <class... Parameter>
KernelNode<Parameter...> Node::as(const TypedFunction<Parameter...>& function) const {
    detail::require_function(*this, function.function());
    return KernelNode<Parameter...>(detail::Passkey(), *this);
}

} // namespace cudag
