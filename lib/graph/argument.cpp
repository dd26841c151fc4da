// The run-time half of the argument rules.
#include <cudag/detail/argument.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/format.hpp>

#include "cuda/failure.hpp"
#include "graph_state.hpp"
#include "names.hpp"
#include "node/function.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace cudag::detail {

void refuse_integer(const ArgumentSite& site, std::uintmax_t magnitude, bool negative,
                    const std::type_info& parameter) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> type(abi::__cxa_demangle(parameter.name(), nullptr, nullptr, &status),
                                                      std::free);
    const std::string reason =
        fmt::format("argument {}: {}{} does not fit the parameter type {}; pass a value that it holds exactly",
                    site.position, negative ? "-" : "", magnitude, type ? type.get() : parameter.name());
    const CallSite& call = site.call;
    if (call.node != nullptr) {
        const GraphState& graph = GraphState::of(*call.node);
        refuse<UpdateError>(reason, node_subject(graph, GraphState::index_unchecked(*call.node), "update of "));
    }
    const std::string kernel = kernel_name(call);
    std::string subject = kernel.empty() ? "memset" : "kernel " + kernel;
    if (call.location.line != 0) subject += fmt::format(" at {}", call.location);
    refuse(reason, {std::move(subject), {}, call.location});
}

void refuse_null_operand() {
    refuse("an operand is a null shared_ptr; it must point at a buffer, span or host range");
}

} // namespace cudag::detail
