// Kernels of cudag's own for conditions, as PTX text: cudag is compiled without nvcc.
#include <cudag/detail/condition_kernels.hpp>

#include "cuda/failure.hpp"
#include "cuda/own_kernels.hpp"
#include "cuda/version.hpp"
#include "new_node.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

namespace cudag::detail {

namespace {

constexpr const char* head = R"(.version 8.0
.target sm_52
.address_size 64
.extern .func cudaGraphSetConditional
(
    .param .b64 handle,
    .param .b32 value
)
;
)";

/// A Condition begins with its handle.
constexpr std::size_t condition_bytes = sizeof(Condition);
static_assert(alignof(Condition) == 8);

/// Sets the condition at %rd1 to %r1.
constexpr const char* set_condition = R"(    {
        .param .b64 to;
        st.param.b64 [to+0], %rd1;
        .param .b32 what;
        st.param.b32 [what+0], %r1;
        call.uni cudaGraphSetConditional, (to, what);
    }
)";

std::string set_conditions_ptx(std::size_t count, const std::string& name) {
    std::string parameters, body;
    for (std::size_t i = 0; i < count; ++i) {
        parameters += fmt::format("{}\n    .param .align 8 .b8 condition{}[{}],\n    .param .u64 value{}",
                                  i == 0 ? "" : ",", i, condition_bytes, i);
        body += fmt::format("    ld.param.u64 %rd1, [condition{}];\n"
                            "    ld.param.u64 %rd2, [value{}];\n"
                            "    ld.u32 %r1, [%rd2];\n"
                            "{}",
                            i, i, set_condition);
    }
    return fmt::format("{}.visible .entry {}({}\n)\n{{\n    .reg .b32 %r<2>;\n    .reg .b64 %rd<3>;\n{}    ret;\n}}\n",
                       head, name, parameters, body);
}

std::string count_turns_ptx(const std::string& name) {
    return fmt::format(R"({}.visible .entry {}(
    .param .align 8 .b8 more[{}],
    .param .u64 turns,
    .param .u32 times
)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [more];
    ld.param.u64 %rd2, [turns];
    ld.param.u32 %r2, [times];
    ld.u32 %r3, [%rd2];
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, %r2;
    selp.u32 %r1, 1, 0, %p1;
    selp.u32 %r4, %r3, 0, %p1;
    st.u32 [%rd2], %r4;
{}    ret;
}}
)",
                       head, name, condition_bytes, set_condition);
}

template <std::size_t count>
const Function& set_conditions() {
    static const std::string name = fmt::format("cudag_set_conditions_{}", count);
    static const Function function(load_kernel(set_conditions_ptx(count, name).c_str(), name.c_str()));
    return function;
}

void require_own_kernels(const char* what, const SourceLocation& where) {
    require_version(since::kernels_from_images, what, [&] { return new_node_subject(NodeKind::kernel, where); });
}

} // namespace

const Function& set_conditions_function(std::size_t count, const SourceLocation& where) {
    require_own_kernels("set(condition, value)", where);
    constexpr std::array of_count{set_conditions<1>, set_conditions<2>, set_conditions<3>, set_conditions<4>};
    static_assert(of_count.size() == most_conditions);
    return of_count.at(count - 1)();
}

const Function& count_turns_function(const SourceLocation& where) {
    require_own_kernels("repeat(times, body)", where);
    static const std::string name = "cudag_count_turns"; // a constant
    static const Function function(load_kernel(count_turns_ptx(name).c_str(), name.c_str()));
    return function;
}

void refuse_turns(bool is_negative, const SourceLocation& where) {
    refuse(is_negative ? "the number of turns is negative" : "there are 2^32 turns or more; nest repetitions",
           new_node_subject(NodeKind::conditional, where, "repeat"));
}

void require_one(std::size_t count, const SourceLocation& where) {
    if (count != 1)
        refuse(
            fmt::format("a condition takes one value, not {}; pass one element, as in x.span().subspan(i, 1)", count),
            new_node_subject(NodeKind::kernel, where, "set"));
}

} // namespace cudag::detail
