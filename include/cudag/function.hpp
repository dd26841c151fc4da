// Function: a kernel that is known at run time only, and the handle of its launches.
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

/// Where CUDA has one parameter of a kernel, in bytes.
struct FunctionParameter {
    std::size_t offset;
    std::size_t size;
    friend bool operator==(const FunctionParameter&, const FunctionParameter&) = default;
};

/// A kernel that the program has not been compiled with: of a Library, or loaded by CUDA's own functions. Where a
/// `__global__` function is taken, it is, too. CUDA tells how many parameters it has and their sizes, but not their
/// types, so each argument is passed as what it is, a number in its own type, and checked for number and size when it
/// is given; `typed` has the compiler check them. Arguments that own memory are kept as those of other kernels.
/// A cheap value. What it was made of must outlive it, its nodes and their launches, but a Library keeps itself alive.
/// Threads: const calls may run at once.
class CUDAG_EXPORT Function {
  public:
    /// A kernel of all devices, as `cudaLibraryGetKernel` and `cudaGetKernel` give it. Has CUDA load it on the current
    /// device. Throws GraphError if it is null or CUDA does not know it.
    explicit Function(cudaKernel_t kernel);
    /// A kernel of the current device only, as `cuModuleGetFunction` and `cudaGetFuncBySymbol` give it: nodes and
    /// launches on others throw. Throws GraphError if it is null or CUDA does not know it.
    explicit Function(cudaFunction_t function);
    Function(const Function&) = default; // moves copy: no Function is without a kernel
    Function& operator=(const Function&) = default;

    /// Demangled, without the list of parameters: "scale<float>".
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] std::vector<FunctionParameter> parameters() const;

    /// The same kernel with its types, which CUDA cannot tell: they must be those that it was compiled with.
    /// Throws GraphError if their number, sizes or places are not those of the kernel's parameters.
    template <class... Parameter>
    [[nodiscard]] TypedFunction<Parameter...>
    typed() const { // cudag: typed<float*, int>() takes the types of the parameters
        require_layout(detail::SignatureOf<Parameter...>::value);
        return TypedFunction<Parameter...>(detail::Passkey(), *this);
    }

    /// What the library knows of it.
    [[nodiscard]] const detail::FunctionState& state() const noexcept { return *state_; }

    /// The same kernel.
    friend CUDAG_EXPORT bool operator==(const Function& a, const Function& b) noexcept;

  private:
    friend class Library;
    explicit Function(std::shared_ptr<const detail::FunctionState> state) noexcept : state_(std::move(state)) {}

    void require_layout(const detail::KernelSignature& signature) const;

    std::shared_ptr<const detail::FunctionState> state_;
};

/// "scale of 3 parameters (8, 8 and 4 bytes)"
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Function& function);

/// A Function whose parameters have these types, made by `function.typed<Parameter...>()`. Its nodes are
/// KernelNode<Parameter...>.
template <class... Parameter>
class TypedFunction {
  public:
    TypedFunction(detail::Passkey, const Function& function) noexcept : function_(function) {}

    [[nodiscard]] const Function& function() const noexcept { return function_; }

  private:
    Function function_;
};

/// A launch of a kernel of which CUDA alone knows the parameters: of a Function, of a library that was captured, or of
/// any other kernel by `node.as<FunctionNode>()`. Updates take all arguments, or `arg(i, value)` for each that changes.
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
