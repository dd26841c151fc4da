// What the table of node kinds says, also of kinds that it does not have.
#include "node/rules.hpp"

#include "catch.hpp"

using cudag::NodeKind;
using cudag::detail::DeviceLaunch;
using cudag::detail::KindRules;
using cudag::detail::rules_of;

TEST_CASE("each kind of node has its row, under its name", "[node]") {
    CHECK(rules_of(NodeKind::kernel).name == "kernel");
    CHECK(rules_of(NodeKind::wait_semaphore).kind == NodeKind::wait_semaphore);
    CHECK(to_string(NodeKind::conditional) == "conditional");
}

TEST_CASE("a kind that cudag does not know is for CUDA to judge, but for what cudag promises", "[node]") {
    const auto later = static_cast<NodeKind>(15); // of a CUDA to come
    const KindRules& rules = rules_of(later);
    CHECK(to_string(later) == "unknown");
    CHECK(rules.can_be_cloned);
    CHECK(rules.can_have_execs);
    CHECK(rules.allowed_in_child);
    CHECK_FALSE(rules.allowed_in_body);
    CHECK_FALSE(rules.can_be_disabled);
    CHECK(rules.device_launch == DeviceLaunch::refused);
    CHECK(rules.read == nullptr);
}

TEST_CASE("batch memory operations, which only the driver knows, have their name and CUDA's rules", "[node]") {
    const KindRules& rules = rules_of(NodeKind::batch_mem_op);
    CHECK(rules.name == "batch_mem_op");
    CHECK(rules.can_be_cloned);
    CHECK(rules.can_have_execs);
    CHECK(rules.allowed_in_child);
    CHECK_FALSE(rules.allowed_in_body);
    CHECK_FALSE(rules.can_be_disabled);
    CHECK(rules.device_launch == DeviceLaunch::refused);
    CHECK(rules.read != nullptr);
}

TEST_CASE("batches of copies, which only CUDA 13.5 knows, have their name and the rules of copies", "[node]") {
    const KindRules& rules = rules_of(NodeKind::memcpy_batch);
    CHECK(rules.name == "memcpy_batch");
    CHECK(rules.can_be_cloned);
    CHECK(rules.can_have_execs);
    CHECK(rules.allowed_in_child);
    CHECK_FALSE(rules.allowed_in_body);
    CHECK(rules.can_be_disabled);
    CHECK(rules.device_launch == DeviceLaunch::refused);
    CHECK(rules.read != nullptr);
}

TEST_CASE("of copies, fills, graph memory and memory operations the parameters tell what they do to memory", "[node]") {
    using cudag::detail::has_memory_operands;
    for (const NodeKind kind : {NodeKind::memcpy, NodeKind::memset, NodeKind::alloc, NodeKind::free,
                                NodeKind::batch_mem_op, NodeKind::memcpy_batch})
        CHECK(has_memory_operands(kind));
    for (const NodeKind kind : {NodeKind::kernel, NodeKind::host, NodeKind::child, NodeKind::empty,
                                NodeKind::conditional, NodeKind::wait_event, NodeKind::signal_semaphore})
        CHECK_FALSE(has_memory_operands(kind));
}

TEST_CASE("each body of a conditional has its role", "[node]") {
    using cudag::detail::ConditionalKind;
    using cudag::detail::role_of_body;
    CHECK(role_of_body(ConditionalKind::if_, 0) == "then");
    CHECK(role_of_body(ConditionalKind::if_, 1) == "else");
    CHECK(role_of_body(ConditionalKind::while_, 0) == "body");
    CHECK(role_of_body(ConditionalKind::switch_, 0) == "case 0");
    CHECK(role_of_body(ConditionalKind::switch_, 2) == "case 2");
}
