// Graphs that allocate and free memory, with edges left out at random.
#include "memory.hpp"

#include "inject.hpp"
#include "kernels.hpp"
#include "random.hpp"
#include "report.hpp"
#include "round_trip.hpp"
#include "updates.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace {

using cudag::GraphBuilder;

enum class Operation { alloc, write, fill, read, copy, free };
/// Where the kernel that reads stands.
enum class Inside { graph, child, moved_child, body, region };

struct MemoryStep {
    Operation act = Operation::alloc;
    unsigned memory = 0;
    unsigned other = 0; ///< also read
    Inside inside = Inside::graph;
    std::uint32_t salt = 0;
    unsigned area = 0;           ///< what is read goes there
    std::vector<unsigned> after; ///< by place
};

struct Memory {
    unsigned words = 1;
    bool freed = true;
    unsigned alloc = 0;
    unsigned free = 0;
    unsigned writer = 0;
};

const char* name(Operation act) {
    constexpr const char* names[] = {"alloc", "write", "fill", "read", "copy", "free"};
    return names[static_cast<unsigned>(act)];
}

class MemoryFuzz {
  public:
    MemoryFuzz(Bench& bench, std::uint64_t seed, Faults faults)
        : bench_(bench), random_(seed), attempts_(seed + 1), injector_(faults, attempts_) {}

    void run() {
        plan();
        const bool right = is_right();
        GraphBuilder b({.races = cudag::Races::allowed}); // what uses memory wrongly is refused by another check
        write(b);
        std::optional<cudag::Graph> graph;
        try {
            graph = std::move(b).build();
        } catch (const cudag::GraphError& error) {
            note("refused: {}", error.what());
            require(!right, "a graph that is right is refused: {}", error.what());
            ++report->refused;
            return;
        }
        require(right, "a graph that is wrong is accepted");
        if (!injector_.active()) check_round_trip(*graph);
        launch(*graph);
    }

    [[nodiscard]] bool ignored_faults() const { return injector_.ignored(); }

  private:
    // The plan.

    unsigned add(MemoryStep step) {
        steps_.push_back(std::move(step));
        return static_cast<unsigned>(steps_.size() - 1);
    }

    void plan() {
        const unsigned generations = random_.between(1, 4);
        std::vector<unsigned> frees;
        for (unsigned generation = 0; generation < generations; ++generation) {
            const auto first = static_cast<unsigned>(memory_.size());
            const unsigned count = random_.between(1, 3);
            for (unsigned i = 0; i < count; ++i) {
                Memory memory;
                // never as much as CUDA gives out: a pointer to memory that lies behind would be the end of this, too
                memory.words = random_.percent(10) ? (1 << random_.between(10, 18)) - 1 : random_.between(1, 63);
                memory.freed = random_.percent(85);
                MemoryStep alloc{Operation::alloc, first + i, 0, {}, 0, 0, {}};
                for (const unsigned free : frees)
                    if (random_.percent(60)) alloc.after.push_back(free);
                memory.alloc = add(std::move(alloc));
                const Operation act = random_.percent(50) ? Operation::write : Operation::fill;
                memory.writer = add({act, first + i, 0, {}, random_.word(), 0, {memory.alloc}});
                memory_.push_back(memory);
            }
            std::vector<std::vector<unsigned>> last(count);
            for (unsigned i = 0; i < count; ++i)
                for (unsigned reads = random_.below(4); reads-- > 0;) {
                    MemoryStep read{
                        random_.percent(70) ? Operation::read : Operation::copy, first + i, first + i, {}, 0, 0, {}};
                    read.salt = random_.word();
                    read.area = areas_++;
                    read.after.push_back(memory_[first + i].writer);
                    if (read.act == Operation::read) {
                        read.inside = static_cast<Inside>(random_.percent(60) ? 0 : random_.below(5));
                        read.other = first + random_.below(count);
                        if (read.other != read.memory) read.after.push_back(memory_[read.other].writer);
                    }
                    const unsigned other = read.other - first;
                    const unsigned at = add(std::move(read));
                    last[i].push_back(at);
                    if (other != i) last[other].push_back(at);
                }
            for (unsigned i = 0; i < count; ++i) {
                if (!memory_[first + i].freed) continue;
                MemoryStep free{Operation::free, first + i, 0, {}, 0, 0, last[i]};
                free.after.push_back(memory_[first + i].writer);
                if (random_.percent(30)) free.after.push_back(memory_[first + i].alloc);
                memory_[first + i].free = add(std::move(free));
                frees.push_back(memory_[first + i].free);
            }
        }
        // Other edges, that order more, and edges that are missing.
        for (unsigned extra = random_.below(4); extra-- > 0;) {
            const unsigned to = random_.below(steps_.size());
            if (to == 0 || steps_[to].act == Operation::alloc) continue;
            connect(random_.below(to), to);
        }
        if (random_.percent(40))
            for (unsigned cuts = random_.between(1, 2); cuts-- > 0;)
                cut();
        describe();
    }

    void connect(unsigned from, unsigned to) {
        std::vector<unsigned>& after = steps_[to].after;
        if (std::find(after.begin(), after.end(), from) == after.end()) after.push_back(from);
    }

    /// Never an edge from who writes to who reads, without which there is no right result, nor one from a region:
    /// `build()` does not know which arguments of a kernel that it did not make are addresses.
    void cut() {
        for (int attempt = 0; attempt < 20; ++attempt) {
            MemoryStep& step = random_.pick(steps_);
            const bool can = step.act == Operation::write || step.act == Operation::fill || step.act == Operation::free;
            if (!can || step.after.empty()) continue;
            const auto edge = step.after.begin() + random_.below(step.after.size());
            if (steps_[*edge].inside == Inside::region) continue;
            step.after.erase(edge);
            return;
        }
    }

    void describe() {
        for (unsigned i = 0; i < steps_.size(); ++i) {
            const MemoryStep& step = steps_[i];
            std::string after;
            for (const unsigned from : step.after)
                after += " " + std::to_string(from);
            note("{}: {} memory {} ({} words){}, inside {}, after{}", i, name(step.act), step.memory,
                 memory_[step.memory].words,
                 step.act == Operation::read ? " and memory " + std::to_string(step.other) : std::string(),
                 static_cast<int>(step.inside), after);
        }
    }

    // Who comes after whom.

    [[nodiscard]] bool is_right() const {
        std::vector<std::vector<bool>> before(steps_.size(), std::vector<bool>(steps_.size()));
        for (std::size_t i = 0; i < steps_.size(); ++i)
            for (const unsigned from : steps_[i].after) {
                before[i][from] = true;
                for (std::size_t k = 0; k < from; ++k)
                    if (before[from][k]) before[i][k] = true;
            }
        const auto uses_right = [&](std::size_t step, unsigned number) {
            const Memory& memory = memory_[number];
            return before[step][memory.alloc] && (!memory.freed || before[memory.free][step]);
        };
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const MemoryStep& step = steps_[i];
            if (step.act == Operation::alloc) continue;
            if (step.act == Operation::free) {
                if (!before[i][memory_[step.memory].alloc]) return false;
            } else if (!uses_right(i, step.memory) || (step.act == Operation::read && !uses_right(i, step.other))) {
                return false;
            }
        }
        return true;
    }

    // The graph.

    [[nodiscard]] std::uint32_t* address(unsigned memory) const { return allocs_[memory].span().data(); }
    [[nodiscard]] unsigned copied(unsigned memory) const { return std::min(memory_[memory].words, area_words); }
    /// As many as both have.
    [[nodiscard]] unsigned both(const MemoryStep& step) const {
        return std::min(memory_[step.memory].words, memory_[step.other].words);
    }

    void write(GraphBuilder& b) {
        allocs_.resize(memory_.size());
        nodes_.resize(steps_.size());
        inner_.resize(steps_.size());
        for (unsigned i = 0; i < steps_.size(); ++i) {
            const MemoryStep& step = steps_[i];
            std::vector<cudag::Node> after;
            for (const unsigned from : step.after)
                after.push_back(nodes_[from]);
            const auto add = [&](const auto& node) {
                if (!after.empty()) node.after(after);
                nodes_[i] = node;
                if (inner_[i] == cudag::Node()) inner_[i] = node;
            };
            switch (step.act) {
            case Operation::alloc: {
                cudag::AllocOptions options;
                const bool at_once = random_.percent(70);
                if (at_once) options.after = after;
                allocs_[step.memory] = b.alloc<std::uint32_t>(memory_[step.memory].words, options);
                nodes_[i] = allocs_[step.memory];
                if (!at_once && !after.empty()) allocs_[step.memory].after(after);
                break;
            }
            case Operation::write:
                add(b.kernel({}, fuzz_write, address(step.memory), memory_[step.memory].words, step.salt));
                break;
            case Operation::fill:
                add(b.memset(allocs_[step.memory].span(), step.salt));
                break;
            case Operation::copy:
                add(b.memcpy(words_of(bench_, step.area, copied(step.memory)),
                             cudag::DeviceSpan<std::uint32_t>(address(step.memory), copied(step.memory))));
                break;
            case Operation::read:
                read(b, step, i, add, after);
                break;
            case Operation::free:
                add(b.free(allocs_[step.memory]));
                break;
            }
        }
    }

    template <class Add>
    void read(GraphBuilder& b, const MemoryStep& step, unsigned i, const Add& add,
              const std::vector<cudag::Node>& after) {
        const auto kernel = [&](GraphBuilder& to) {
            return to.kernel({}, fuzz_read, area(bench_, step.area), address(step.memory), address(step.other),
                             both(step), step.salt);
        };
        switch (step.inside) {
        case Inside::graph:
            return add(kernel(b));
        case Inside::child:
        case Inside::moved_child: {
            GraphBuilder inner({.races = cudag::Races::allowed});
            const cudag::Node node = kernel(inner);
            cudag::Graph graph = std::move(inner).build();
            if (step.inside == Inside::child) {
                const cudag::ChildNode child = b.child(graph);
                inner_[i] = child.inside(node);
                return add(child);
            }
            inner_[i] = node;
            return add(b.child(std::move(graph)));
        }
        case Inside::body:
            return add(b.if_(b.condition(1), [&](GraphBuilder& body) { inner_[i] = kernel(body); }));
        case Inside::region: {
            const auto region = b.capture(bench_.captured[0], [&](cudaStream_t s) {
                cudag::launch(s, {}, fuzz_read, area(bench_, step.area), address(step.memory), address(step.other),
                              both(step), step.salt);
            });
            if (!after.empty()) region.after(after);
            nodes_[i] = inner_[i] = region.nodes().at(0);
            return;
        }
        }
    }

    // Launches.

    [[nodiscard]] std::uint32_t value(unsigned memory, unsigned word) const {
        const MemoryStep& writer = steps_[memory_[memory].writer];
        return writer.act == Operation::write ? writer.salt + word : writer.salt;
    }

    void compare() const {
        for (const MemoryStep& step : steps_) {
            const std::uint32_t* const found = area(bench_, step.area);
            if (step.act == Operation::copy)
                for (unsigned word = 0; word < copied(step.memory); ++word)
                    require(found[word] == value(step.memory, word), "word {} of memory {} is {:#x}", word, step.memory,
                            found[word]);
            if (step.act != Operation::read) continue;
            std::uint32_t hash = step.salt;
            for (const unsigned memory : {step.memory, step.other})
                for (const unsigned word : {0U, both(step) - 1})
                    hash = hash * 31 + value(memory, word);
            require(*found == hash, "what is read of memory {} and {} is {:#x}, not {:#x}", step.memory, step.other,
                    *found, hash);
        }
    }

    void launch(const cudag::Graph& graph) {
        const bool unfreed =
            std::any_of(memory_.begin(), memory_.end(), [](const Memory& memory) { return !memory.freed; });
        const bool auto_free = unfreed && random_.percent(50);
        const cudag::Stream& stream = bench_.streams[0];
        std::optional<cudag::Exec> exec;
        const auto instantiate = [&] { exec.emplace(graph.instantiate({.auto_free_on_launch = auto_free})); };
        injector_.run("instantiate", instantiate, [] {});
        if (!injector_.active()) {
            try {
                static_cast<void>(graph.instantiate());
                wrong("a second Exec of a graph with memory nodes");
            } catch (const cudag::InstantiateError&) {
            }
        }
        const auto free_rest = [&] {
            for (unsigned i = 0; i < memory_.size(); ++i)
                if (!memory_[i].freed) cudag::check(cudaFreeAsync(address(i), stream.get()));
        };
        for (int count = 0; count < 3; ++count) {
            note("launch {}", count);
            std::fill_n(bench_.words.begin(), std::size_t{areas_} * area_words, 0xA5A5A5A5U);
            exec->launch(stream);
            ++report->launches;
            if (!auto_free || count == 2) free_rest();
            stream.synchronize();
            compare();
            for (unsigned i = 0; i < steps_.size(); ++i)
                if (steps_[i].act == Operation::read && random_.percent(30)) {
                    const std::uint32_t salt = random_.word();
                    note("update of {} to salt {:#x}", i, salt);
                    injector_.run(
                        "update", [&] { exec->update(inner_[i].as(fuzz_read), cudag::arg<4>(salt)); }, [] {});
                    steps_[i].salt = salt;
                }
            if (count == 1 && random_.percent(40)) {
                note("another exec");
                if (auto_free) { // what the last launch of the Exec that goes has left allocated
                    free_rest();
                    stream.synchronize();
                }
                exec.reset();
                injector_.run("instantiate", instantiate, [] {});
                restore();
            }
        }
    }

    /// An Exec made anew has what the graph has.
    void restore() {
        for (unsigned i = 0; i < steps_.size(); ++i)
            if (steps_[i].act == Operation::read) steps_[i].salt = inner_[i].as(fuzz_read).get<4>();
    }

    Bench& bench_;
    Random random_;
    Random attempts_;
    Injector injector_;
    std::vector<Memory> memory_;
    std::vector<MemoryStep> steps_;
    unsigned areas_ = 0;
    std::vector<cudag::AllocNode<std::uint32_t>> allocs_;
    std::vector<cudag::Node> nodes_;
    std::vector<cudag::Node> inner_; ///< the kernels that read
};

} // namespace

void fuzz_memory(Bench& bench, std::uint64_t seed, Faults faults) {
    const LeakCheck leaks;
    bool ignored = false;
    {
        MemoryFuzz fuzz(bench, seed, faults);
        try {
            fuzz.run();
        } catch (...) {
            static_cast<void>(cudaDeviceSynchronize());
            bench.end_captures();
            throw;
        }
        ignored = fuzz.ignored_faults();
    }
    if (!ignored) leaks.require_nothing_left(false);
}
