// The run-time half of the argument rules.
#include <cudag/detail/argument.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/format.hpp>

#include "cuda/failure.hpp"
#include "graph/graph_identity.hpp"
#include "graph/names.hpp"
#include "node/function.hpp"

namespace cudag::detail {

void refuse_integer(const ArgumentSite& site, std::uintmax_t magnitude, bool negative, const TypeTag& parameter) {
    const std::string reason =
        fmt::format("argument {}: {}{} does not fit the parameter type {}; pass a value that it holds exactly",
                    site.position, negative ? "-" : "", magnitude, parameter.name);
    const CallSite& call = site.call;
    if (call.node != nullptr) {
        const GraphState& graph = GraphIdentity::of(*call.node);
        refuse<UpdateError>(reason, node_subject(graph, GraphIdentity::index_unchecked(*call.node), "update of "));
    }
    const std::string kernel = kernel_name(call);
    std::string subject = kernel.empty() ? "memset" : "kernel " + kernel;
    if (call.location.line != 0) subject += fmt::format(" at {}", call.location);
    refuse(reason, {std::move(subject), {}, call.location});
}

void refuse_pattern(std::size_t bytes, const CallSite& call) {
    const std::string reason =
        fmt::format("the {} bytes of the value do not repeat, and CUDA fills memory with repeated units of 1, 2 or 4 "
                    "bytes; copy such elements from memory, have a kernel write them, or clear(range) for bytes of 0",
                    bytes);
    if (call.node != nullptr)
        refuse<UpdateError>(reason, node_subject(GraphIdentity::of(*call.node),
                                                 GraphIdentity::index_unchecked(*call.node), "update of "));
    refuse(reason,
           {call.location.line != 0 ? fmt::format("memset at {}", call.location) : "memset", {}, call.location});
}

void refuse_null_operand() {
    refuse("an operand is a null shared_ptr; it must point at a buffer, span or host range");
}

} // namespace cudag::detail
