// What of a node's parameters its partner in another graph must have, too, and what it has rather than another.
#include "compare/match_tree.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"

#include <cudag/launch_config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

using cudag::detail::AllocParams;
using cudag::detail::ConditionalKind;
using cudag::detail::ConditionalParams;
using cudag::detail::CopyParams;
using cudag::detail::EventParams;
using cudag::detail::FreeParams;
using cudag::detail::HostParams;
using cudag::detail::KernelParams;
using cudag::detail::KernelSignature;
using cudag::detail::LabelNumbers;
using cudag::detail::MatchGraph;
using cudag::detail::MatchNode;
using cudag::detail::MatchTree;
using cudag::detail::NodeParams;
using cudag::detail::NodePlace;
using cudag::detail::Parameter;
using cudag::detail::SemaphoreParams;
using cudag::detail::SetParams;

namespace {

int memory[16]{};

/// A node with these parameters, as partners see it.
template <class Params>
MatchNode node_with(const Params& block) {
    const auto graph = empty_graph();
    add_node(*graph);
    const NodeParams params = &block;
    class OneNode final : public cudag::detail::InForce {
      public:
        explicit OneNode(const NodeParams& params) : params_(params) {}
        [[nodiscard]] const NodeParams& params(const NodePlace&) const override { return params_; }
        void for_each_declared(const NodePlace&, const cudag::detail::AccessVisitor&) const override {}
        [[nodiscard]] std::uint32_t region(const NodePlace&) const override { return 0; }
        [[nodiscard]] std::uint64_t declared_version(const cudag::detail::GraphState&) const override { return 0; }

      private:
        const NodeParams& params_;
    };
    const OneNode in_force(params);
    LabelNumbers labels;
    return MatchTree(*graph, in_force, labels).with_fixed().nodes.at(0);
}

/// "fixed" if a partner must have it, "wanted" if one that has it is preferred, "" if it is of no meaning.
template <class Params>
std::string told(const Params& before, const Params& after) {
    const MatchNode one = node_with(before);
    const MatchNode other = node_with(after);
    std::string text;
    if (one.more != other.more) text += "fixed";
    if (one.preference != other.preference) text += "wanted";
    return text;
}
template <class Params, class Change>
std::string told_of(const Params& before, const Change& change) {
    CHECK(told(before, before).empty());
    Params after = before;
    change(after);
    return told(before, after);
}

} // namespace

TEST_CASE("partners of copies have their directions, and rather their memory", "[matching]") {
    const CopyParams copy{memory, memory + 8, 4, 4, sizeof(int), cudaMemcpyHostToDevice};
    CHECK(told_of(copy, [](CopyParams& c) { c.kind = cudaMemcpyDeviceToHost; }) == "fixed");
    CHECK(told_of(copy, [](CopyParams& c) { c.destination = memory + 1; }) == "wanted");
    CHECK(told_of(copy, [](CopyParams& c) { c.source = memory + 9; }) == "wanted");
    CHECK(told_of(copy, [](CopyParams& c) { c.source_size = c.destination_size = 3; }) == "wanted");
    CHECK(told_of(copy, [](CopyParams& c) {
              c.source_size = c.destination_size = 2;
              c.element_bytes = sizeof(double);
          }).empty()); // the same bytes
}

TEST_CASE("partners of copies of boxes have all fields alike", "[matching]") {
    int object = 0;
    const auto array = reinterpret_cast<cudaArray_t>(&object);
    cudaMemcpy3DParms copy{};
    copy.dstPtr = {memory, 64, 8, 4};
    copy.srcPtr = {memory + 8, 64, 8, 4};
    copy.dstPos = copy.srcPos = {1, 2, 3};
    copy.extent = {4, 2, 2};
    copy.kind = cudaMemcpyDeviceToDevice;
    using Copy = cudaMemcpy3DParms;
    CHECK(told_of(copy, [](Copy& c) { c.kind = cudaMemcpyHostToDevice; }) == "fixed");
    CHECK(told_of(copy, [&](Copy& c) { c.dstArray = array; }) == "fixed");
    CHECK(told_of(copy, [&](Copy& c) { c.srcArray = array; }) == "fixed");
    CHECK(told_of(copy, [](Copy& c) { c.extent.width = 3; }) == "fixed");
    CHECK(told_of(copy, [](Copy& c) { c.extent.height = 1; }) == "fixed");
    CHECK(told_of(copy, [](Copy& c) { c.extent.depth = 1; }) == "fixed");
    for (const auto side : {&Copy::dstPtr, &Copy::srcPtr}) {
        CHECK(told_of(copy, [&](Copy& c) { (c.*side).ptr = memory + 4; }) == "fixed");
        CHECK(told_of(copy, [&](Copy& c) { (c.*side).pitch = 32; }) == "fixed");
        CHECK(told_of(copy, [&](Copy& c) { (c.*side).ysize = 3; }) == "fixed");
    }
    for (const auto side : {&Copy::dstPos, &Copy::srcPos}) {
        CHECK(told_of(copy, [&](Copy& c) { (c.*side).x = 4; }) == "fixed");
        CHECK(told_of(copy, [&](Copy& c) { (c.*side).y = 4; }) == "fixed");
        CHECK(told_of(copy, [&](Copy& c) { (c.*side).z = 4; }) == "fixed");
    }
}

TEST_CASE("partners of fills have as many rows, and of several rows their shape", "[matching]") {
    const SetParams row{memory, 4, 4, 7};
    CHECK(told_of(row, [](SetParams& s) { s.destination = memory + 1; }) == "wanted");
    CHECK(told_of(row, [](SetParams& s) { s.value = 8; }) == "wanted");
    CHECK(told_of(row, [](SetParams& s) { s.size = 3; }) == "wanted");
    CHECK(told_of(row, [](SetParams& s) { s.element_bytes = 2; }) == "wanted");
    CHECK(told_of(row, [](SetParams& s) { s.pitch = 32; }).empty());
    const SetParams rows{memory, 4, 4, 7, 2, 16};
    CHECK(told_of(rows, [](SetParams& s) { s.height = 3; }) == "fixed");
    CHECK(told_of(rows, [](SetParams& s) { s.size = 3; }) == "fixed");
    CHECK(told_of(rows, [](SetParams& s) { s.pitch = 32; }) == "fixed");
    CHECK(told_of(rows, [](SetParams& s) { s.element_bytes = 2; }) == "fixed");
    CHECK(told_of(rows, [](SetParams& s) { s.value = 8; }) == "wanted");
}

TEST_CASE("partners of kernels have their attributes, and rather their shapes and arguments", "[matching]") {
    const Parameter parameters[]{{.offset = 0, .size = sizeof(int)}, {.offset = 8, .size = sizeof(double)}};
    const KernelSignature signature{parameters, 2, 16};
    struct Values {
        alignas(8) std::byte bytes[16]{};
    };
    Values values, others, gap;
    others.bytes[9] = std::byte{1};
    gap.bytes[5] = std::byte{1};
    cudag::LaunchConfig cooperative, other_attribute;
    cooperative.cooperative = true;
    other_attribute.device_updatable = true;
    KernelParams kernel{};
    kernel.signature = &signature;
    kernel.values = values.bytes;
    kernel.shape = {{2, 2, 2}, {4, 4, 4}, 8};
    using Kernel = KernelParams;
    CHECK(told_of(kernel, [](Kernel& k) { k.shape.grid.x = 1; }) == "wanted");
    CHECK(told_of(kernel, [](Kernel& k) { k.shape.grid.y = 1; }) == "wanted");
    CHECK(told_of(kernel, [](Kernel& k) { k.shape.grid.z = 1; }) == "wanted");
    CHECK(told_of(kernel, [](Kernel& k) { k.shape.block.x = 1; }) == "wanted");
    CHECK(told_of(kernel, [](Kernel& k) { k.shape.block.y = 1; }) == "wanted");
    CHECK(told_of(kernel, [](Kernel& k) { k.shape.block.z = 1; }) == "wanted");
    CHECK(told_of(kernel, [](Kernel& k) { k.shape.shared_bytes = 16; }) == "wanted");
    CHECK(told_of(kernel, [&](Kernel& k) { k.values = others.bytes; }) == "wanted");
    CHECK(told_of(kernel, [&](Kernel& k) { k.values = gap.bytes; }).empty());
    CHECK(told_of(kernel, [&](Kernel& k) { k.attributes = &cooperative; }) == "fixed");
    kernel.attributes = &cooperative;
    CHECK(told_of(kernel, [&](Kernel& k) { k.attributes = &other_attribute; }) == "fixed");
}

TEST_CASE("partners of conditionals, semaphores, host calls, events and graph memory have what they must",
          "[matching]") {
    int objects[2]{};
    const ConditionalParams conditional{ConditionalKind::if_, 7, 1};
    CHECK(told_of(conditional, [](ConditionalParams& c) { c.kind = ConditionalKind::while_; }) == "fixed");
    CHECK(told_of(conditional, [](ConditionalParams& c) { c.condition = 8; }) == "fixed");
    CHECK(told_of(conditional, [](ConditionalParams& c) { c.bodies = 2; }) == "fixed");
    const auto semaphore = [&](std::size_t i) { return reinterpret_cast<cudaExternalSemaphore_t>(objects + i); };
    cudag::detail::SemaphoreOperation one{semaphore(0), 1}, signalled{semaphore(1), 1}, later{semaphore(0), 2};
    const SemaphoreParams semaphores{true, 1, &one};
    CHECK(told_of(semaphores, [](SemaphoreParams& s) { s.count = 0; }) == "fixedwanted");
    CHECK(told_of(semaphores, [&](SemaphoreParams& s) { s.operations = &signalled; }) == "wanted");
    CHECK(told_of(semaphores, [&](SemaphoreParams& s) { s.operations = &later; }) == "wanted");
    const AllocParams alloc{memory, 16, 0};
    CHECK(told_of(alloc, [](AllocParams& a) { a.address = memory + 1; }) == "fixed");
    CHECK(told_of(alloc, [](AllocParams& a) { a.bytes = 8; }) == "fixed");
    const FreeParams free{memory};
    CHECK(told_of(free, [](FreeParams& f) { f.address = memory + 1; }) == "fixed");
    const HostParams host{nullptr, &objects[0]};
    CHECK(told_of(host, [](HostParams& h) { h.fn = [](void*) {}; }) == "wanted");
    CHECK(told_of(host, [&](HostParams& h) { h.userData = &objects[1]; }) == "wanted");
    CHECK(told_of(host, [](HostParams& h) { h.sync_mode = 1; }) == "fixed");
    const EventParams event{reinterpret_cast<cudaEvent_t>(&objects[0]), true};
    CHECK(told_of(event, [&](EventParams& e) { e.event = reinterpret_cast<cudaEvent_t>(&objects[1]); }) == "wanted");
}
