// Programs with breaks: the graphs between them, and the functions that run eagerly, have the results of eager runs.
#include "races.hpp"

#include "act_nodes.hpp"
#include "acts.hpp"
#include "bench.hpp"
#include "report.hpp"
#include "runtime.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr unsigned client_count = 2; ///< each with a stream and buffers of its own
constexpr unsigned buffers_of_client = 4;
constexpr unsigned programs_of_client = 3;

enum class PartKind {
    step,
    aside,  ///< a step in another stream, forked around it
    waits,  ///< a step that waits for its stream in some calls, which breaks a capture
    eager,  ///< a break
    decide, ///< a break that reads memory, and enqueues work or not
    detour, ///< likewise, and a step follows or not
    stops,  ///< a break that ends some calls by an exception
};
constexpr const char* names_of_parts[] = {"step", "aside", "waits", "eager", "decide", "detour", "stops"};

struct ProgramPart {
    PartKind kind = PartKind::step;
    std::vector<Act> acts;
    unsigned often = 1; ///< what happens in some calls happens in each n-th

    [[nodiscard]] bool happens(unsigned call) const { return call % often == often - 1; }
    [[nodiscard]] bool is_break() const { return kind >= PartKind::eager; }
    [[nodiscard]] bool decides() const { return kind == PartKind::decide || kind == PartKind::detour; }
};

/// A program, and the number of its present call.
struct BrokenProgram {
    unsigned client = 0;
    std::vector<ProgramPart> parts;
    unsigned calls = 0;
    unsigned words = 0; ///< where decisions look

    [[nodiscard]] bool decides(const ProgramPart& part, const std::uint32_t* memory) const {
        return (memory[words] + part.often) % 2 == 0;
    }
};

/// A program as a SegmentedGraph: the acts of each segment, in the order of its nodes.
struct Segmented {
    std::shared_ptr<BrokenProgram> program;
    std::optional<cudag::SegmentedGraph> graph;
    bool shares = false;
    std::vector<std::vector<Act*>> segments;
    std::vector<bool> has_fork;
    std::vector<std::uint64_t> runs; ///< by break
    std::uint64_t launches = 0;
};

class SegmentsFuzz {
  public:
    SegmentsFuzz(Bench& bench, std::uint64_t seed) : bench_(bench), random_(seed) {}
    ~SegmentsFuzz() { static_cast<void>(cudaDeviceSynchronize()); } // host nodes are in here

    void run() {
        memory_ = fresh_memory(bench_, client_count * buffers_of_client);
        for (unsigned client = 0; client < client_count; ++client) {
            caches_.emplace_back(cudag::CaptureCacheOptions{
                .warm_up = random_.below(3), .capacity = random_.between(1, 3), .learn_breaks = random_.percent(60)});
            for (unsigned i = 0; i < programs_of_client; ++i) {
                keyed_[client][i] = draw_program(client, true);
                segmented_[client][i] = capture(client);
            }
        }
        const unsigned operations = random_.between(5, 30);
        for (unsigned i = 0; i < operations; ++i)
            operate();
        // some programs replay often: learned breaks are tried again
        if (random_.percent(5))
            for (unsigned i = 0; i < 150; ++i)
                run_keyed(0, 0);
        synchronize();
    }

  private:
    void operate() {
        const unsigned client = random_.below(client_count), chance = random_.below(100);
        const unsigned number = random_.below(programs_of_client);
        if (chance < 45) return run_keyed(client, number);
        if (chance < 75) return launch(segmented_[client][number]);
        if (chance < 85) return update(segmented_[client][number]);
        if (chance < 90) return look_at(segmented_[client][number]);
        if (chance < 93) {
            note("a program of client {} is captured anew", client); // the former one may be in flight
            segmented_[client][number] = capture(client);
        } else if (chance < 97) {
            synchronize();
        } else {
            note("a CaptureCache is cleared");
            caches_[client].clear();
        }
    }

    [[nodiscard]] const cudag::Stream& stream_of(unsigned client) const { return bench_.streams[client]; }
    [[nodiscard]] const cudag::Stream& side_of(unsigned client) const { return bench_.captured[client]; }
    [[nodiscard]] static ActOptions options_of(unsigned client) {
        ActOptions options;
        options.first_buffer = client * buffers_of_client;
        options.buffers = buffers_of_client;
        return options;
    }

    std::shared_ptr<BrokenProgram> draw_program(unsigned client, bool in_cache) {
        auto program = std::make_shared<BrokenProgram>();
        program->client = client;
        program->words = buffer_at(client * buffers_of_client + random_.below(buffers_of_client)).first;
        const unsigned breaks = random_.below(60), waits = random_.percent(50) ? random_.below(20) : 0;
        for (unsigned i = random_.between(1, 7); i-- > 0;) {
            ProgramPart part;
            part.often = random_.between(1, 4);
            if (random_.percent(breaks))
                part.kind = static_cast<PartKind>(random_.between(3, 6));
            else if (in_cache && random_.percent(waits))
                part.kind = PartKind::waits;
            else if (random_.percent(20))
                part.kind = PartKind::aside;
            if (part.kind == PartKind::detour && !in_cache) part.kind = PartKind::decide;
            for (unsigned acts = random_.between(part.kind == PartKind::aside ? 1 : 0, 3); acts-- > 0;)
                part.acts.push_back(random_act(options_of(client), random_));
            program->parts.push_back(std::move(part));
        }
        note("a program of client {}{}", client, in_cache ? " for its cache" : "");
        for (const ProgramPart& part : program->parts) {
            note("  {}, {}", names_of_parts[static_cast<int>(part.kind)], part.often);
            for (const Act& act : part.acts)
                note("    {}", describe(act));
        }
        return program;
    }

    void enqueue(cudaStream_t stream, const std::vector<Act>& acts) {
        for (const Act& act : acts)
            enqueue_act(stream, bench_, act, [&](auto owner) { kept_.push_back(std::move(owner)); });
    }

    /// What a break does in the present call of the program.
    void run_break(cudaStream_t stream, const BrokenProgram& program, const ProgramPart& part) {
        if (part.kind == PartKind::stops && part.happens(program.calls)) throw Planned();
        if (part.decides()) {
            cudag::check(cudaStreamSynchronize(stream));
            decision_ = program.decides(part, bench_.words.data());
            if (!decision_ || part.kind == PartKind::detour) return;
        }
        enqueue(stream, part.acts);
    }

    /// The same in plain C++. Returns whether it ends by an exception. `runs` counts the breaks that end.
    bool perform_call(const BrokenProgram& program, std::vector<std::uint64_t>* runs) {
        std::size_t breaks = 0;
        for (const ProgramPart& part : program.parts) {
            if (part.kind == PartKind::stops && part.happens(program.calls)) return true;
            if (!part.decides() || program.decides(part, memory_.data()))
                for (const Act& act : part.acts)
                    perform(act, memory_.data());
            if (part.is_break() && runs != nullptr) ++(*runs)[breaks++];
        }
        return false;
    }

    /// Calls `call` as the next call of the program, which throws if the program does.
    template <class Call>
    void expect_call(BrokenProgram& program, std::vector<std::uint64_t>* runs, const Call& call) {
        ++program.calls;
        // decisions look at memory while the call is under way, and the model does so before
        const bool throws = perform_call(program, runs);
        ++report->launches;
        try {
            call();
        } catch (const Planned&) {
            require(throws, "a program throws that should not");
            ++report->refused;
            return;
        }
        require(!throws, "what a break throws is lost");
    }

    // CaptureCaches.

    void run_keyed(unsigned client, unsigned number) {
        BrokenProgram& program = *keyed_[client][number];
        if (random_.percent(3)) {
            note("cache {}: forget {}", client, number);
            caches_[client].forget(number);
        }
        note("cache {}: call {} of {}", client, program.calls + 1, number);
        cudag::CaptureCache& cache = caches_[client];
        const cudag::CaptureCacheStats before = cache.stats();
        bool ends = false;
        expect_call(program, nullptr, [&] {
            const cudag::RunKind kind = cache.run(stream_of(client), number, [this, &program](cudag::Steps& steps) {
                for (const ProgramPart& part : program.parts)
                    run_part(steps, program, part);
            });
            note("    {}", static_cast<int>(kind));
            ends = true;
        });
        const cudag::CaptureCacheStats after = cache.stats();
        if (ends)
            require(after.eager_runs + after.captures + after.replays ==
                        before.eager_runs + before.captures + before.replays + 1,
                    "a run is none of an eager one, a capture and a replay");
    }

    void run_part(cudag::Steps& steps, const BrokenProgram& program, const ProgramPart& part) {
        const std::string label = fmt::format("part {}", &part - program.parts.data());
        const cudag::Stream& side = side_of(program.client);
        switch (part.kind) {
        case PartKind::step:
            return steps.step(label, [&](cudaStream_t s) { enqueue(s, part.acts); });
        case PartKind::aside:
            steps.fork(side);
            steps.step(label, [&] { enqueue(side.get(), part.acts); });
            return steps.join(side);
        case PartKind::waits:
            return steps.step(label, [&](cudaStream_t s) {
                if (part.happens(program.calls)) cudag::check(cudaStreamSynchronize(s));
                enqueue(s, part.acts);
            });
        case PartKind::detour:
            steps.eager(label, [&](cudaStream_t s) { run_break(s, program, part); });
            if (!std::exchange(decision_, false)) return;
            return steps.step("detour", [&](cudaStream_t s) { enqueue(s, part.acts); });
        default:
            return steps.eager(label, [&](cudaStream_t s) { run_break(s, program, part); });
        }
    }

    // SegmentedGraphs.

    Segmented capture(unsigned client) {
        Segmented made;
        made.program = draw_program(client, false);
        made.shares = random_.percent(35);
        bool is_open = false;
        for (ProgramPart& part : made.program->parts) {
            if (part.is_break()) {
                made.runs.push_back(0);
                is_open = false;
                continue;
            }
            for (Act& act : part.acts) {
                if (!is_open) {
                    made.segments.emplace_back();
                    made.has_fork.push_back(false);
                }
                is_open = true;
                made.segments.back().push_back(&act);
            }
            if (part.kind == PartKind::aside) made.has_fork.back() = true;
        }
        const cudag::Stream& captured = bench_.captured[2];
        made.graph =
            cudag::capture_segments(captured,
                                    [&](cudag::StreamCapture& c) {
                                        for (const ProgramPart& part : made.program->parts) {
                                            const std::string label =
                                                fmt::format("part {}", &part - made.program->parts.data());
                                            if (part.is_break()) {
                                                // the program lives as long as the function of its break
                                                c.eager(label, [this, program = made.program, &part](cudaStream_t s) {
                                                    run_break(s, *program, part);
                                                });
                                            } else if (part.kind == PartKind::aside) {
                                                c.fork(side_of(client));
                                                c.step(label, [&] { enqueue(side_of(client).get(), part.acts); });
                                                c.join(side_of(client));
                                            } else {
                                                c.step(label, [&](cudaStream_t s) { enqueue(s, part.acts); });
                                            }
                                        }
                                    },
                                    {.allow_empty = true}, {.share_execs = made.shares});
        require(made.graph->segment_count() == made.segments.size(), "there are {} segments, not {}",
                made.graph->segment_count(), made.segments.size());
        return made;
    }

    void launch(Segmented& segmented) {
        BrokenProgram& program = *segmented.program;
        note("client {}: launch {} of a SegmentedGraph", program.client, program.calls + 1);
        expect_call(program, &segmented.runs, [&] {
            segmented.graph->launch(stream_of(program.client));
            ++segmented.launches;
        });
    }

    void update(Segmented& segmented) {
        if (segmented.shares || segmented.segments.empty()) return;
        const unsigned segment = random_.below(segmented.segments.size());
        if (segmented.has_fork[segment]) return;
        const unsigned node = random_.below(segmented.segments[segment].size());
        Act& act = *segmented.segments[segment][node];
        if (is_opaque(act)) return;
        act = moved_act(act, options_of(segmented.program->client), random_);
        note("update of node {} of segment {}: {}", node, segment, describe(act));
        update_act(segmented.graph->exec(segment), bench_, segmented.graph->graph(segment).nodes().at(node), act);
    }

    void look_at(const Segmented& segmented) {
        const cudag::SegmentedReport found = segmented.graph->report();
        require(found.launches == segmented.launches && segmented.graph->replays() == segmented.launches,
                "{} launches are reported, not {}", found.launches, segmented.launches);
        require(found.breaks.size() == segmented.runs.size() && found.nodes.size() == segmented.segments.size(),
                "another number of parts is reported: {}", to_string(found));
        for (std::size_t i = 0; i < segmented.runs.size(); ++i)
            require(found.breaks[i].runs == segmented.runs[i], "break {} has run {} times, not {}", i,
                    found.breaks[i].runs, segmented.runs[i]);
        for (std::size_t i = 0; i < segmented.segments.size(); ++i)
            require(found.nodes[i] == segmented.segments[i].size(), "segment {} has {} nodes, not {}", i,
                    found.nodes[i], segmented.segments[i].size());
        require(segmented.shares || found.execs == segmented.segments.size(), "there are {} Execs", found.execs);
        static_cast<void>(to_string(segmented.graph->memory()));
    }

    void synchronize() {
        note("synchronize");
        for (const cudag::Stream& stream : bench_.streams)
            stream.synchronize();
        require_memory(bench_, memory_, "the launches");
    }

    Bench& bench_;
    Random random_;
    std::vector<std::uint32_t> memory_;
    bool decision_ = false;                         ///< of the last break that decides
    std::vector<std::shared_ptr<const void>> kept_; ///< by graphs of host functions
    std::array<std::array<std::shared_ptr<BrokenProgram>, programs_of_client>, client_count> keyed_;
    std::array<std::array<Segmented, programs_of_client>, client_count> segmented_;
    std::vector<cudag::CaptureCache> caches_;
};

} // namespace

void fuzz_segments(Bench& bench, std::uint64_t seed) {
    run_leaving_nothing<SegmentsFuzz>(bench, seed);
}
