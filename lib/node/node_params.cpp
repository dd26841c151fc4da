// The parameters of nodes of any kind.
#include "node_params.hpp"

#include "comparison.hpp"
#include "launch_check.hpp"

#include <string_view>
#include <utility>

namespace cudag::detail {

namespace {

/// The description of a copy: nodes of one kind differ in it only if they copy.
std::string_view operands_of(const NodeParams& params) {
    if (std::holds_alternative<const CopyParams*>(params)) return "ranges";
    return std::holds_alternative<const cudaMemcpy3DParms*>(params) ? "regions" : "unknown";
}

template <class... Block>
constexpr bool have_all_fields(const std::variant<std::monostate, const Block*...>* /*kinds*/) noexcept {
    const auto check = []<class Params>(const Params* /*kind*/) {
        static_assert(has_all_fields<Params>(), "a member of these parameters has no call, or two, in `fields`");
        return true;
    };
    return (check(static_cast<const Block*>(nullptr)) && ...);
}
static_assert(have_all_fields(static_cast<const NodeParams*>(nullptr)));
static_assert(has_all_fields<SemaphoreOperation>());
static_assert(has_all_fields<MemoryOperation>());

void compare_params(const NodeParams& before, const NodeParams& after, Differences& found) {
    const auto compare_blocks = [&](const auto& block) {
        if constexpr (!is_none<decltype(block)>) {
            if (const auto* other = std::get_if<std::decay_t<decltype(block)>>(&after)) {
                Comparison visit(*block, **other, found);
                fields(*block, visit);
            } else {
                found.compare("operands", operands_of(before), operands_of(after), fixed());
            }
        }
    };
    std::visit(compare_blocks, before);
}

/// The reason against a change that needs `least`, or more. Both have the same kind.
std::string first_refusal(const NodeParams& current, const NodeParams& next, ChangedBy least) {
    const auto refusal = [&](const auto& block) -> std::string {
        if constexpr (is_none<decltype(block)>) {
            return {};
        } else {
            FirstRefusal visit(*block, *std::get<std::decay_t<decltype(block)>>(next), least);
            fields(*block, visit);
            return std::move(visit).reason();
        }
    };
    return std::visit(refusal, current);
}

} // namespace

NativeResult set_native(const NodeTarget& target, const NodeParams& params) {
    const auto set = [&target](const auto& block) -> NativeResult {
        if constexpr (is_none<decltype(block)>)
            return cannot_be_set;
        else
            return set_native(target, *block);
    };
    return std::visit(set, params);
}

void raise_update(const NativeResult& result, const NodeParams& params, Subject&& subject) {
    if (const auto* kernel = std::get_if<const KernelParams*>(&params)) {
        if ((*kernel)->context != nullptr && (*kernel)->kernel == nullptr)
            refuse<UpdateError>(
                "the kernel was captured in a context that is not its device's own, such as a green context, and CUDA "
                "reports no kernel with which an update would stay there; capture it again",
                std::move(subject), result.status);
        raise_launch<UpdateError>(result.status, result.operation, std::move(subject), result.api, config_of(**kernel),
                                  (*kernel)->symbol);
    }
    if (std::holds_alternative<const CopyParams*>(params)) raise_copy_update(result, std::move(subject));
    raise_call<UpdateError>(result.status, result.operation, std::move(subject), result.api);
}

std::string problem_in_update(const NodeParams& current, const NodeParams& next) {
    if (current.index() != next.index())
        return std::holds_alternative<const CopyParams*>(current)
                   ? "the node copies a range, the update gives regions; make the node with memcpy2d or memcpy3d"
                   : "the node copies regions, the update gives ranges; make the node with memcpy";
    return first_refusal(current, next, ChangedBy::new_node);
}

std::string problem_in_exec(const NodeParams& current, const NodeParams& next) {
    if (current.index() != next.index()) return only_1d_in_exec; // two descriptions of copies
    return first_refusal(current, next, ChangedBy::instantiate);
}

const char* why_not_in_body(const NodeParams& params) {
    const auto reason = [](const auto& block) -> const char* {
        if constexpr (requires { why_not_in_body(*block); })
            return why_not_in_body(*block);
        else
            return nullptr;
    };
    return std::visit(reason, params);
}

std::vector<FieldDifference> diff_params(const NodeParams& before, const NodeParams& after,
                                         const SameConditions& conditions) {
    Differences found(Differences::Want::list, conditions);
    compare_params(before, after, found);
    return std::move(found).list();
}

bool same_params(const NodeParams& before, const NodeParams& after, const SameConditions& conditions) {
    if (before.index() != after.index()) return false;
    Differences found(Differences::Want::equality, conditions);
    compare_params(before, after, found);
    return found.equal();
}

std::size_t elements_of(const NodeParams& params) noexcept {
    const auto elements = [](const auto& block) -> std::size_t {
        if constexpr (requires { elements_of(*block); })
            return elements_of(*block);
        else
            return 0;
    };
    return std::visit(elements, params);
}

std::string title(const NodeParams& params) {
    const auto text = [](const auto& block) -> std::string {
        if constexpr (requires { title(*block); })
            return title(*block);
        else
            return {};
    };
    return std::visit(text, params);
}

} // namespace cudag::detail
