// DAGs in plain C++: what the scenarios build with cudag, and what must come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// What one step of a DAG does to its own cell. A join has none.
enum class Action {
    hash_on_device, ///< a kernel: the hash of the inputs
    hash_on_host,   ///< a host node: the same
    copy,           ///< a memcpy: the value of the first input
    fill,           ///< a memset: a value
    join,
    hash_in_child,  ///< a child graph with such a kernel
    hash_in_branch, ///< such a kernel in a body of a conditional
};

struct Step {
    Action action;
    std::vector<std::size_t> after;  ///< the steps that it waits for
    std::vector<std::size_t> inputs; ///< the cells that it reads: those of `after`, seen through joins
};

struct Dag {
    std::string name;
    std::vector<Step> steps;
};

/// One set of parameters for all steps of a DAG.
struct Version {
    std::uint32_t salt; ///< enters every hash and fill
    bool copies_decoy;  ///< copies read a constant cell instead of their input
};

constexpr std::uint32_t poison = 0xdeadbeef;
constexpr std::uint32_t decoy = 7777;

/// The hash that both the kernel and the host nodes compute, of the cells at `inputs`.
std::uint32_t hash_of(const std::uint32_t* cells, const std::vector<std::size_t>& inputs, std::uint32_t salt);

/// The salt of one step.
std::uint32_t salt_of(const Version& version, std::size_t step);

/// What every cell holds after a run; the cells of joins stay poisoned.
std::vector<std::uint32_t> expected(const Dag& dag, const Version& version);

/// Who comes after whom, at once or through others: order[a][b] if step a comes after step b. That is all of a DAG that
/// matters to what runs when, and the same however its edges are written. Joins, which do nothing, are left out.
using Order = std::vector<std::vector<bool>>;
Order order_of(const Dag& dag);

/// Some steps in a row: [first, end).
struct Part {
    std::size_t first;
    std::size_t end;
};
inline Part whole(const Dag& dag) {
    return {0, dag.steps.size()};
}

/// For each step of a part the number of the stream to enqueue it in: three at least, and as many as it takes for no
/// stream to order steps that the DAG does not: the last step before it in the stream comes before it in the DAG, too.
/// Means nothing for joins and others.
std::vector<std::size_t> lanes_of(const Dag& dag, const Part& part);

/// Whether steps can be enqueued in streams that are captured: CUDA captures no graph launches, hence no children, and
/// no stream call makes a conditional.
bool is_recordable(const Step& step);
bool is_recordable(const Dag& dag);

/// The DAG cut into parts of `limit` steps at most; a step that is not recordable is a part of its own.
std::vector<Part> parts_of(const Dag& dag, std::size_t limit);

Dag diamond();
Dag line(std::size_t length);
/// 1 step -> `width` steps -> a join -> `width` steps -> 1 step
Dag fan(std::size_t width);
/// Steps of all kinds but those with graphs inside, with up to three predecessors each; the same for the same seed,
/// everywhere.
Dag random_dag(std::uint32_t seed, std::size_t length);
/// `dag` with every other kernel inside a child graph, and inside a conditional if `branches`, in turn.
Dag nested(Dag dag, bool branches);
