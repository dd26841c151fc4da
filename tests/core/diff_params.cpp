// In which fields the parameters of two nodes differ, and whether that is seen without the texts, too.
#include "compare/diff.hpp"
#include "lists/hash.hpp"
#include "node/field_hash.hpp"
#include "node/node_params.hpp"
#include "node/owned_params.hpp"

#include "catch.hpp"

#include <algorithm>
#include <cstdint>
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
using cudag::detail::HostParams;
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
        names.push_back(field.field + (field.needs_instantiate() ? "!" : ""));
    }
    CHECK(same_params(one, other) == names.empty());
    return names;
}

using Names = std::vector<std::string>;

template <cudag::detail::HashedFields which>
std::uint64_t hash_of(const NodeParams& params) {
    cudag::detail::Hash hash;
    cudag::detail::add_fields<which>(hash, params);
    return hash.value();
}

/// Whether an exec's node refuses the change; refusal, differences and hash of the fixed fields agree.
template <class Params>
bool is_fixed(const Params& before, const Params& after) {
    using cudag::detail::HashedFields;
    using cudag::detail::HostParams;
    const bool refused = !problem_in_exec(&before, &after).empty();
    const std::vector<FieldDifference> found = diff_params(&before, &after);
    CHECK(std::ranges::any_of(found, &FieldDifference::is_fixed_in_node) == refused);
    CHECK((hash_of<HashedFields::fixed>(&before) != hash_of<HashedFields::fixed>(&after)) == refused);
    if (!refused)
        CHECK((hash_of<HashedFields::changing>(&before) == hash_of<HashedFields::changing>(&after)) == found.empty());
    CHECK(hash_of<HashedFields::structure>(&before) == hash_of<HashedFields::structure>(&after));
    return refused;
}

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

TEST_CASE("copies of regions differ in each field of both sides, all fixed in an exec", "[node][diff]") {
    int arrays[2]{};
    cudaMemcpy3DParms before{};
    before.dstPtr = {memory, 16, 8, 2};
    before.srcPtr = {memory + 8, 32, 8, 3};
    before.dstPos = {1, 2, 3};
    before.srcPos = {4, 5, 6};
    before.extent = {8, 2, 2};
    before.kind = cudaMemcpyDeviceToDevice;
    const auto changed = [&](auto change) {
        cudaMemcpy3DParms after = before;
        change(after);
        return differences(before, after);
    };
    const auto array = [&](std::size_t i) { return reinterpret_cast<cudaArray_t>(arrays + i); };
    using Copy = cudaMemcpy3DParms;
    CHECK(changed([](Copy&) {}).empty());
    CHECK(changed([](Copy& copy) { copy.kind = cudaMemcpyDeviceToHost; }) == Names{"direction!"});
    CHECK(changed([](Copy& copy) { copy.dstPtr.ptr = memory + 1; }) == Names{"destination!"});
    CHECK(changed([](Copy& copy) { copy.srcPtr.ptr = memory + 9; }) == Names{"source!"});
    CHECK(changed([&](Copy& copy) { copy.dstArray = array(0); }) == Names{"destination array!"});
    CHECK(changed([&](Copy& copy) { copy.srcArray = array(1); }) == Names{"source array!"});
    CHECK(changed([](Copy& copy) { copy.dstPtr.pitch = 24; }) == Names{"destination pitch!"});
    CHECK(changed([](Copy& copy) { copy.srcPtr.pitch = 24; }) == Names{"source pitch!"});
    CHECK(changed([](Copy& copy) { copy.dstPtr.ysize = 4; }) == Names{"destination slice height!"});
    CHECK(changed([](Copy& copy) { copy.srcPtr.ysize = 4; }) == Names{"source slice height!"});
    for (std::size_t cudaPos::*axis : {&cudaPos::x, &cudaPos::y, &cudaPos::z}) {
        CHECK(changed([&](Copy& copy) { copy.dstPos.*axis = 7; }) == Names{"destination position!"});
        CHECK(changed([&](Copy& copy) { copy.srcPos.*axis = 7; }) == Names{"source position!"});
    }
    for (std::size_t cudaExtent::*axis : {&cudaExtent::width, &cudaExtent::height, &cudaExtent::depth})
        CHECK(changed([&](Copy& copy) { copy.extent.*axis = 1; }) == Names{"extent!"});
}

TEST_CASE("refusal, differences and hash agree about the fields of a fill fixed in an exec", "[node][diff]") {
    const SetParams row{memory, 4, 4, 7}, rows{memory, 4, 4, 7, 2, 16};
    const auto after = [](SetParams set, auto SetParams::*field, auto value) {
        set.*field = value;
        return set;
    };
    CHECK(is_fixed(row, rows));
    CHECK(is_fixed(rows, after(rows, &SetParams::height, 3U)));
    for (const SetParams& set : {row, rows}) {
        const bool is_2d = set.height != 1;
        CHECK_FALSE(is_fixed(set, set));
        CHECK_FALSE(is_fixed(set, after(set, &SetParams::destination, memory + 1)));
        CHECK_FALSE(is_fixed(set, after(set, &SetParams::value, 8U)));
        CHECK_FALSE(is_fixed(set, after(set, &SetParams::parts, 2U)));
        CHECK(is_fixed(set, after(set, &SetParams::size, 3U)) == is_2d);
        CHECK(is_fixed(set, after(set, &SetParams::element_bytes, 2U)) == is_2d);
        CHECK(is_fixed(set, after(set, &SetParams::pitch, 32U)) == is_2d);
    }
}

TEST_CASE("refusal, differences and hash agree about the fields of a copy fixed in an exec", "[node][diff]") {
    const CopyParams before{memory, memory + 8, 4, 4, sizeof(int), cudaMemcpyHostToDevice};
    CopyParams after = before;
    after.kind = cudaMemcpyDeviceToHost;
    CHECK(is_fixed(before, after));
    CHECK_FALSE(is_fixed(before, CopyParams{memory, memory + 9, 4, 4, sizeof(int), cudaMemcpyHostToDevice}));
    CHECK_FALSE(is_fixed(before, CopyParams{memory, memory + 8, 3, 3, sizeof(int), cudaMemcpyHostToDevice}));
    CHECK_FALSE(is_fixed(before, CopyParams{memory, memory + 8, 8, 8, 2, cudaMemcpyHostToDevice}));
}

TEST_CASE("a copy of ranges differs from one of regions in its operands", "[node][diff]") {
    const CopyParams ranges{memory, memory + 8, 4, 4, sizeof(int), cudaMemcpyHostToDevice};
    const cudaMemcpy3DParms regions{};
    const auto difference = [](const NodeParams& before, const NodeParams& after) {
        CHECK_FALSE(same_params(before, after));
        const std::vector<FieldDifference> fields = diff_params(before, after, {});
        REQUIRE(fields.size() == 1);
        CHECK(fields[0].needs_instantiate());
        return fields[0].field + ": " + fields[0].before + " -> " + fields[0].after;
    };
    CHECK(difference(&ranges, &regions) == "operands: ranges -> regions");
    CHECK(difference(&regions, &ranges) == "operands: regions -> ranges");
    CHECK(difference(&ranges, {}) == "operands: ranges -> unknown");
}

TEST_CASE("calls of the host differ in function and callable", "[node][diff]") {
    const cudaHostFn_t one = [](void*) {}, other = [](void*) { memory[0] = 1; };
    const HostParams before{one, memory};
    CHECK(differences(before, HostParams{one, memory}).empty());
    CHECK(differences(before, HostParams{other, memory}) == Names{"function"});
    CHECK(differences(before, HostParams{one, memory + 1}) == Names{"callable"});
    CHECK(differences(before, HostParams{one, memory, 1}) == Names{"sync mode!"});
}

TEST_CASE("a copy of one row of memory to memory is one of ranges, any other is not", "[node][copy]") {
    int array = 0;
    cudaMemcpy3DParms row{};
    row.dstPtr = {memory, 16, 16, 1};
    row.srcPtr = {memory + 8, 16, 16, 1};
    row.dstPos = {4, 0, 0};
    row.srcPos = {8, 0, 0};
    row.extent = {8, 1, 1};
    row.kind = cudaMemcpyDeviceToHost;
    const auto copy = cudag::detail::to_copy(row);
    REQUIRE(copy);
    CHECK(copy->destination == memory + 1);
    CHECK(copy->source == memory + 10);
    CHECK(bytes_of(*copy) == 8);
    CHECK(copy->kind == cudaMemcpyDeviceToHost);
    const auto is_ranges = [&](auto change) {
        cudaMemcpy3DParms changed = row;
        change(changed);
        return cudag::detail::to_copy(changed).has_value();
    };
    CHECK_FALSE(is_ranges([&](cudaMemcpy3DParms& of) { of.srcArray = reinterpret_cast<cudaArray_t>(&array); }));
    CHECK_FALSE(is_ranges([&](cudaMemcpy3DParms& of) { of.dstArray = reinterpret_cast<cudaArray_t>(&array); }));
    CHECK_FALSE(is_ranges([](cudaMemcpy3DParms& of) { of.extent.height = 2; }));
    CHECK_FALSE(is_ranges([](cudaMemcpy3DParms& of) { of.extent.depth = 2; }));
}

TEST_CASE("a picture of a copy of regions tells rows, and slices if there are several", "[node][copy]") {
    int array = 0;
    cudaMemcpy3DParms copy{};
    copy.extent = {8, 2, 1};
    const auto title = [&] { return cudag::detail::title(NodeParams(&copy)); };
    CHECK(title() == "memcpy 8 bytes x 2 rows");
    copy.extent.depth = 3;
    CHECK(title() == "memcpy 8 bytes x 2 rows x 3 slices");
    copy.srcArray = reinterpret_cast<cudaArray_t>(&array);
    CHECK(title() == "memcpy 8 elements x 2 rows x 3 slices");
}

TEST_CASE("conditionals differ in what they are, and by themselves not in their conditions", "[node][diff]") {
    const ConditionalParams before{ConditionalKind::if_, 1, 1};
    const auto changed = [&](const ConditionalParams& after) {
        const std::vector<FieldDifference> fields = diff_params(&before, &after, {});
        CHECK(same_params(&before, &after) == fields.empty());
        for (const FieldDifference& field : fields)
            CHECK((field.kind == DifferenceKind::node_kind && field.needs_instantiate()));
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

TEST_CASE("ten differences are listed, and the others counted", "[core][diff]") {
    const auto listed = [](std::size_t count) {
        return cudag::detail::list_differences(std::vector<cudag::Difference>(count));
    };
    const auto lines = [&](std::size_t count) {
        const std::string text = listed(count);
        return std::count(text.begin(), text.end(), '\n');
    };
    CHECK(listed(0).empty());
    CHECK(lines(9) == 9);
    CHECK(lines(10) == 10);
    CHECK(listed(10).find("more") == std::string::npos);
    CHECK(lines(11) == 11);
    CHECK(listed(12).find("\n  and 2 more") != std::string::npos);
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
