// In which fields the parameters of two nodes differ, and whether that is seen without the texts, too.
#include "node/node_params.hpp"
#include "node/owned_params.hpp"

#include "catch.hpp"

#include <algorithm>
#include <cstring>
#include <memory_resource>
#include <string>
#include <vector>

using cudag::DifferenceKind;
using cudag::detail::ConditionalKind;
using cudag::detail::ConditionalParams;
using cudag::detail::CopyParams;
using cudag::detail::diff_params;
using cudag::detail::EventParams;
using cudag::detail::FieldDifference;
using cudag::detail::NodeParams;
using cudag::detail::same_params;
using cudag::detail::SetParams;

namespace {

int memory[16]{};

/// The names of the fields, those that need a new instance with "!"; that both answers agree is checked.
template <class Params>
std::vector<std::string> differences(const Params& before, const Params& after) {
    const NodeParams one = &before;
    const NodeParams other = &after;
    std::vector<std::string> names;
    for (const FieldDifference& field : diff_params(one, other, {})) {
        CHECK(field.kind == DifferenceKind::parameter);
        CHECK(field.before != field.after);
        names.push_back(field.field + (field.needs_instantiate ? "!" : ""));
    }
    CHECK(same_params(one, other) == names.empty());
    return names;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("fills differ in each field that CUDA is given", "[node][diff]") {
    const SetParams before{memory, 4, 4, 7};
    const auto changed = [&](auto change) {
        SetParams after = before;
        change(after);
        return differences(before, after);
    };
    CHECK(changed([](SetParams&) {}).empty());
    CHECK(changed([](SetParams& set) { set.destination = memory + 1; }) == Names{"destination"});
    CHECK(changed([](SetParams& set) { set.size = 5; }) == Names{"elements"});
    CHECK(changed([](SetParams& set) { set.element_bytes = 2; }) == Names{"bytes of an element"});
    CHECK(changed([](SetParams& set) { set.value = 8; }) == Names{"value"});
    CHECK(changed([](SetParams& set) { set.height = 2; }) == Names{"rows!"});
    CHECK(changed([](SetParams& set) { set.pitch = 32; }).empty()); // of no meaning for one row
}

TEST_CASE("of a fill of several rows only address and value can change in an exec", "[node][diff]") {
    const SetParams before{memory, 4, 4, 7, 2, 16};
    const SetParams after{memory + 1, 3, 2, 8, 2, 32};
    CHECK(differences(before, after) == Names{"destination", "elements!", "pitch!", "bytes of an element!", "value"});
}

TEST_CASE("copies differ in addresses, bytes and direction", "[node][diff]") {
    const CopyParams before{memory, memory + 8, 4, 4, sizeof(int), cudaMemcpyHostToDevice};
    const auto changed = [&](auto change) {
        CopyParams after = before;
        change(after);
        return differences(before, after);
    };
    CHECK(changed([](CopyParams&) {}).empty());
    CHECK(changed([](CopyParams& copy) { copy.destination = memory + 1; }) == Names{"destination"});
    CHECK(changed([](CopyParams& copy) { copy.source = memory + 9; }) == Names{"source"});
    CHECK(changed([](CopyParams& copy) { copy.destination_size = copy.source_size = 3; }) == Names{"bytes"});
    CHECK(changed([](CopyParams& copy) { copy.kind = cudaMemcpyDeviceToHost; }) == Names{"direction!"});
}

TEST_CASE("sixteen bytes are copied alike as ints and as doubles", "[node][diff]") {
    CHECK(differences(CopyParams{memory, memory + 8, 4, 4, sizeof(int), cudaMemcpyHostToDevice},
                      CopyParams{memory, memory + 8, 2, 2, sizeof(double), cudaMemcpyHostToDevice})
              .empty());
}

TEST_CASE("conditionals differ in what they are, and by themselves not in their conditions", "[node][diff]") {
    const ConditionalParams before{ConditionalKind::if_, 1, 1};
    const auto changed = [&](const ConditionalParams& after) {
        const std::vector<FieldDifference> fields = diff_params(&before, &after, {});
        CHECK(same_params(&before, &after) == fields.empty());
        for (const FieldDifference& field : fields)
            CHECK((field.kind == DifferenceKind::node_kind && field.needs_instantiate));
        return fields.empty() ? std::string() : fields.front().field;
    };
    CHECK(changed(before).empty());
    CHECK(changed({ConditionalKind::if_, 2, 1}).empty());
    CHECK(changed({ConditionalKind::while_, 1, 1}) == "conditional");
    CHECK(changed({ConditionalKind::if_, 1, 2}) == "bodies");
}

TEST_CASE("nodes of different kinds have no parameters in common, and those that cudag does not know no difference",
          "[node][diff]") {
    const SetParams set{memory, 4, 4, 7};
    const EventParams event{nullptr, true};
    CHECK_FALSE(same_params(&set, &event));
    CHECK(same_params({}, {}));
    CHECK(diff_params({}, {}, {}).empty());
}

TEST_CASE("parameters that are assigned have the arguments, too", "[core][params]") {
    const cudag::detail::Parameter parameter{.offset = 0, .size = sizeof(int)};
    const cudag::detail::KernelSignature signature{&parameter, 1, sizeof(int)};
    int one = 1, other = 2;
    cudag::detail::KernelParams first{}, second{};
    first.signature = second.signature = &signature;
    first.values = reinterpret_cast<std::byte*>(&one);
    second.values = reinterpret_cast<std::byte*>(&other);
    std::pmr::monotonic_buffer_resource arena;
    cudag::detail::OwnedParams params(arena, NodeParams(&first));
    params.assign(&second);
    other = 3; // no part of them
    int value = 0;
    std::memcpy(&value, params.find<cudag::detail::KernelParams>()->values, sizeof value);
    CHECK(value == 2);
}
