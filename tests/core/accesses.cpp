// Which memory the parameters of a node tell that it reads and writes.
#include "node/node_params.hpp"

#include "catch.hpp"

#include <cstdint>
#include <cstring>
#include <typeinfo>
#include <vector>

using cudag::detail::AccessMode;
using cudag::detail::AllocParams;
using cudag::detail::CopyParams;
using cudag::detail::EventParams;
using cudag::detail::KernelParams;
using cudag::detail::KernelSignature;
using cudag::detail::NodeParams;
using cudag::detail::Parameter;
using cudag::detail::ParameterType;
using cudag::detail::SetParams;
using cudag::detail::TypeOf;
using cudag::detail::UsedRange;

namespace cudag::detail {

static bool operator==(const UsedRange& a, const UsedRange& b) {
    return a.begin == b.begin && a.bytes == b.bytes;
}

} // namespace cudag::detail

namespace {

void* at(std::uintptr_t address) {
    return reinterpret_cast<void*>(address);
}

std::vector<UsedRange> accesses_of(const NodeParams& params) {
    std::vector<UsedRange> found;
    for_each_access(params, [&](const UsedRange& access) { found.push_back(access); });
    return found;
}

std::vector<AccessMode> modes_of(const NodeParams& params) {
    std::vector<AccessMode> found;
    for_each_block(params, [&](const auto& access) { found.push_back(access.mode); });
    return found;
}

} // namespace

TEST_CASE("a copy writes its destination and reads its source", "[node]") {
    const CopyParams copy{at(0x1000), at(0x2000), 8, 8, 4, cudaMemcpyDeviceToDevice};
    CHECK(accesses_of(&copy) == std::vector<UsedRange>{{0x1000, 32}, {0x2000, 32}});
    CHECK(modes_of(&copy) == std::vector{AccessMode::write, AccessMode::read});
}

TEST_CASE("a fill writes from its first row to the end of its last one", "[node]") {
    const SetParams row{at(0x1000), 5, 2, 0};
    CHECK(accesses_of(&row) == std::vector<UsedRange>{{0x1000, 10}});
    CHECK(modes_of(&row) == std::vector{AccessMode::write});
    const SetParams rows{at(0x1000), 5, 2, 0, 3, 64};
    CHECK(accesses_of(&rows) == std::vector<UsedRange>{{0x1000, 2 * 64 + 10}});
}

TEST_CASE("a copy of slices touches what is between its first byte and its last one", "[node]") {
    cudaMemcpy3DParms copy{};
    copy.dstPtr = {at(0x10000), 64, 64, 8}; // 8 rows of 64 bytes a slice
    copy.srcPtr = {at(0x20000), 32, 32, 4};
    copy.dstPos = {16, 1, 1};
    copy.extent = {24, 3, 2};
    const std::size_t first = (8 + 1) * 64 + 16;
    CHECK(accesses_of(&copy) ==
          std::vector<UsedRange>{{0x10000 + first, (8 + 2) * 64 + 24}, {0x20000, (4 + 2) * 32 + 24}});
    CHECK(modes_of(&copy) == std::vector{AccessMode::write, AccessMode::read});
}

TEST_CASE("of a copy with an array the accesses are those of its memory, in bytes", "[node]") {
    cudaMemcpy3DParms copy{};
    copy.dstArray = static_cast<cudaArray_t>(at(0x30000));
    copy.srcPtr = {at(0x20000), 48, 40, 4}; // 10 elements of 4 bytes in a row
    copy.srcPos = {0, 1, 0};
    copy.extent = {10, 3, 1};
    CHECK(accesses_of(&copy) == std::vector<UsedRange>{{0x20000 + 48, 2 * 48 + 40}});
}

TEST_CASE("of a kernel's arguments, pointers and spans are accesses of unknown length", "[node]") {
    const Parameter parameters[] = {{0, 8, ParameterType::pointer, &TypeOf<int*>::tag},
                                    {8, 8, ParameterType::unsigned_integer, &TypeOf<std::uint64_t>::tag},
                                    {16, 16, ParameterType::span, &TypeOf<int>::tag},
                                    {32, 8, ParameterType::object, &TypeOf<int>::tag}};
    const KernelSignature signature{parameters, 4, 40};
    alignas(16) std::byte values[40] = {};
    const std::uint64_t words[] = {0x1000, 0x2000, 0x3000, 7, 0x4000};
    std::memcpy(values, words, sizeof words);
    const KernelParams kernel{nullptr, nullptr, &signature, {}, values};
    CHECK(accesses_of(&kernel) == std::vector<UsedRange>{{0x1000, 0}, {0x3000, 0}});
}

TEST_CASE("of a recorded kernel, whatever has a pointer's size may be an access", "[node]") {
    const Parameter parameters[] = {{0, 8}, {8, 4}, {16, 8}};
    const KernelSignature signature{parameters, 3, 24};
    alignas(16) std::byte values[24] = {};
    const std::uint64_t words[] = {0x1000, 0x2000, 0x3000};
    std::memcpy(values, words, sizeof words);
    const KernelParams kernel{nullptr, nullptr, &signature, {}, values};
    CHECK(accesses_of(&kernel) == std::vector<UsedRange>{{0x1000, 0}, {0x3000, 0}});
}

TEST_CASE("events and allocations read and write nothing", "[node]") {
    const EventParams event{nullptr, true};
    const AllocParams alloc{at(0x1000), 64, 0};
    CHECK(accesses_of(&event).empty());
    CHECK(accesses_of(&alloc).empty());
    CHECK(accesses_of({}).empty());
}
