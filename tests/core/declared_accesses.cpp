// What nodes declare about memory, in whichever order it comes.
#include "graph/declared_accesses.hpp"

#include "catch.hpp"

#include <cstdint>
#include <vector>

using namespace cudag::detail;

namespace {

std::vector<ArgumentAccess> accesses(std::initializer_list<std::uint32_t> arguments) {
    std::vector<ArgumentAccess> list;
    for (const std::uint32_t argument : arguments)
        list.push_back({argument, AccessMode::read, 1, {argument + 1, 1}});
    return list;
}

using Arguments = std::vector<std::uint32_t>;

Arguments of(const DeclaredAccesses& declared, std::uint32_t node) {
    Arguments found;
    declared.for_each(node, [&](const ArgumentAccess& access) { found.push_back(access.argument); });
    return found;
}

} // namespace

TEST_CASE("what a node declares comes in the order in which it was added", "[graph][declared]") {
    DeclaredAccesses declared;
    CHECK(declared.empty());
    declared.add(3, {});
    CHECK(declared.empty());
    declared.add(3, accesses({0, 1}));
    declared.add(1, accesses({2}));
    declared.add(3, accesses({4}));
    declared.add(1, accesses({5}));
    CHECK_FALSE(declared.empty());
    CHECK(of(declared, 3) == Arguments{0, 1, 4});
    CHECK(of(declared, 1) == Arguments{2, 5});
    CHECK(of(declared, 2).empty());
    CHECK(of(declared, 100).empty());
}

TEST_CASE("what a node declares is replaced by more, by less and by nothing", "[graph][declared]") {
    DeclaredAccesses declared;
    declared.add(0, accesses({0, 1}));
    declared.add(1, accesses({2}));
    declared.replace(0, accesses({3, 4, 5}));
    declared.replace(1, {});
    declared.replace(2, accesses({6}));
    declared.replace(2, accesses({8}));
    declared.replace(2, accesses({6}));
    CHECK(of(declared, 0) == Arguments{3, 4, 5});
    CHECK(of(declared, 1).empty());
    CHECK(of(declared, 2) == Arguments{6});
    declared.add(1, accesses({7}));
    CHECK(of(declared, 1) == Arguments{7});
    declared.close_up();
    CHECK(declared.size() == 5);
    const DeclaredAccesses copy(declared);
    CHECK(of(copy, 0) == Arguments{3, 4, 5});
    CHECK(of(copy, 1) == Arguments{7});
}

TEST_CASE("what a node declares is replaced by as much, in order", "[graph][declared]") {
    DeclaredAccesses declared;
    declared.add(0, accesses({0, 1, 2}));
    declared.add(1, accesses({7}));
    declared.replace(0, accesses({3, 4, 5}));
    CHECK(of(declared, 0) == Arguments{3, 4, 5});
    CHECK(of(declared, 1) == Arguments{7});
}

TEST_CASE("what a node was launched with goes with it", "[graph][declared]") {
    const KernelSignature first{}, second{}, third{};
    DeclaredAccesses declared;
    declared.add_launch(2, third);
    declared.add_launch(0, first);
    declared.add_launch(1, second);
    CHECK(declared.signature_of(1) == &second);
    const std::uint32_t gone[] = {1};
    declared.renumber(Renumbering(3, gone));
    CHECK(declared.signature_of(0) == &first);
    CHECK(declared.signature_of(1) == &third);
    CHECK(declared.signature_of(2) == nullptr);
    declared.forget_from(1);
    CHECK(declared.signature_of(0) == &first);
    CHECK(declared.signature_of(1) == nullptr);
}

TEST_CASE("what nodes declare follows them when others go", "[graph][declared]") {
    DeclaredAccesses declared;
    for (std::uint32_t node = 0; node < 5; ++node)
        declared.add(node, accesses({node}));
    declared.add(2, accesses({7}));
    declared.replace(4, accesses({8, 9}));
    const std::uint32_t gone[] = {1, 3};
    declared.renumber(Renumbering(5, gone));
    CHECK(of(declared, 0) == Arguments{0});
    CHECK(of(declared, 1) == Arguments{2, 7});
    CHECK(of(declared, 2) == Arguments{8, 9});
    CHECK(of(declared, 3).empty());
    declared.forget_from(1);
    CHECK(of(declared, 0) == Arguments{0});
    CHECK(of(declared, 1).empty());
    declared.add(1, accesses({5}));
    CHECK(of(declared, 1) == Arguments{5});
    declared.forget_from(0);
    CHECK(declared.empty());
}
