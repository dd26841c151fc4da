// Two caches of either kind, and several streams.
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
#include <utility>
#include <vector>

namespace {

constexpr unsigned stream_count = 3;
constexpr unsigned buffers_of_stream = 4;
constexpr unsigned key_count = 3;

/// A line of acts on the buffers of one stream. Those of different streams never touch the same memory.
struct Line {
    std::vector<Act> acts;
    std::optional<cudag::Graph> graph;
    std::vector<cudag::Node> nodes;
};

/// What a CaptureCache is asked for by one key: acts on buffer 0, which changes, and on others.
struct Keyed {
    std::vector<Act> acts;
    unsigned calls = 0;
};

class CachesFuzz {
  public:
    CachesFuzz(Bench& bench, std::uint64_t seed) : bench_(bench), random_(seed) {
        streams_ = {&bench.streams[0], &bench.streams[1], &bench.captured[0]};
    }

    void run() {
        memory_ = fresh_memory(bench_, stream_count * buffers_of_stream);
        for (unsigned i = 0; i < 2; ++i) {
            execs_.emplace_back(
                cudag::ExecCacheOptions{.capacity = random_.between(1, 4), .stream_affine = random_.percent(30)});
            captures_.emplace_back(cudag::CaptureCacheOptions{.warm_up = random_.below(3),
                                                              .capacity = random_.between(1, 4),
                                                              .refuse_legacy_stream = random_.percent(50),
                                                              .max_bytes = random_.percent(30) ? random_.below(400'000)
                                                                                               : std::size_t{1} << 40U,
                                                              .min_graphs = random_.between(1, 2),
                                                              .known_keys = random_.between(1, 9)});
        }
        // few shapes, so that execs are updated from one line to another
        for (unsigned stream = 0; stream < stream_count; ++stream)
            for (unsigned i = 0; i < 3; ++i)
                lines_[stream].push_back(line(stream, i % 2));
        for (auto& keys : keyed_)
            for (unsigned stream = 0; stream < stream_count; ++stream)
                for (unsigned key = 0; key < key_count; ++key)
                    keys[stream][key].acts = acts_of(stream, random_.between(1, 4));
        const unsigned operations = random_.between(5, 40);
        for (unsigned i = 0; i < operations; ++i)
            operate();
        synchronize();
        for (const cudag::ExecCache& cache : execs_) {
            const cudag::ExecCacheStats stats = cache.stats();
            require(!to_string(stats).empty(), "stats without words");
        }
    }

  private:
    [[nodiscard]] ActOptions options_of(unsigned stream) const {
        ActOptions options;
        options.first_buffer = stream * buffers_of_stream;
        options.buffers = buffers_of_stream;
        return options;
    }

    std::vector<Act> acts_of(unsigned stream, unsigned count) {
        std::vector<Act> acts;
        for (unsigned i = 0; i < count; ++i)
            acts.push_back(random_act(options_of(stream), random_));
        return acts;
    }

    /// Lines with the same number have acts of the same kinds.
    std::vector<Act> like(unsigned stream, unsigned shape) {
        std::vector<Act> acts;
        if (shapes_[shape].empty()) shapes_[shape] = acts_of(0, random_.between(1, 5));
        const unsigned shift = stream * buffers_of_stream * buffer_stride;
        for (Act act : shapes_[shape]) {
            const std::array operands{&act.to, &act.a, &act.b};
            for (Words* const words : operands)
                words->first += shift;
            act.salt = random_.word();
            acts.push_back(moved_act(act, options_of(stream), random_));
        }
        return acts;
    }

    Line line(unsigned stream, unsigned shape) {
        Line line;
        line.acts = like(stream, shape);
        cudag::GraphBuilder b;
        for (const Act& act : line.acts) {
            const ActNode added = add_act(b, bench_, act);
            if (!line.nodes.empty()) added.after({line.nodes.back()});
            line.nodes.push_back(added.node);
        }
        line.graph.emplace(std::move(b).build());
        return line;
    }

    void operate() {
        const unsigned stream = random_.below(stream_count);
        const unsigned chance = random_.below(100);
        if (chance < 35) return launch(stream);
        if (chance < 75) return run_keyed(stream);
        if (chance < 85) return update(stream);
        if (chance < 90) return renew(stream);
        if (chance < 94) return clear();
        if (chance < 97) return synchronize();
        fail(stream);
    }

    void launch(unsigned stream) {
        Line& line = random_.pick(lines_[stream]);
        cudag::ExecCache& cache = random_.pick(execs_);
        note("cache {}: launch of a line of {} in stream {}", &cache - execs_.data(), line.acts.size(), stream);
        const cudag::ExecCacheStats before = cache.stats();
        cache.launch(*line.graph, *streams_[stream]);
        ++report->launches;
        const cudag::ExecCacheStats after = cache.stats();
        require(after.hits + after.updates + after.instantiations ==
                    before.hits + before.updates + before.instantiations + 1,
                "a launch is none of a hit, an update and an instantiation");
        for (const Act& act : line.acts)
            perform(act, memory_.data());
    }

    void update(unsigned stream) {
        Line& line = random_.pick(lines_[stream]);
        const std::size_t i = random_.below(line.acts.size());
        line.acts[i] = moved_act(line.acts[i], options_of(stream), random_);
        note("update of a graph of stream {}: {}", stream, describe(line.acts[i]));
        update_act(*line.graph, bench_, line.nodes[i], line.acts[i]);
    }

    void renew(unsigned stream) {
        const unsigned i = random_.below(lines_[stream].size());
        note("a graph of stream {} is made anew", stream);
        lines_[stream][i] = line(stream, i % 2);
    }

    void run_keyed(unsigned stream) {
        const unsigned number = random_.below(captures_.size());
        const unsigned key = random_.below(key_count);
        Keyed& keyed = keyed_[number][stream][key];
        if (random_.percent(4)) {
            note("cache {}: forget {} of stream {}", number, key, stream);
            captures_[number].forget(std::pair(stream, key));
            keyed.acts = acts_of(stream, random_.between(1, 4));
        }
        const unsigned first = stream * buffers_of_stream;
        const bool changes = key == 0;
        const unsigned other = changes ? random_.below(2) : 0;
        // buffers 0 and 1 change places with each other: what is told of both is where they are
        std::vector<Act> acts = keyed.acts;
        if (other == 1)
            for (Act& act : acts) {
                const std::array operands{&act.to, &act.a, &act.b};
                for (Words* const words : operands)
                    if (words->buffer() == first || words->buffer() == first + 1)
                        words->first = (2 * first + 1 - words->buffer()) * buffer_stride + words->offset();
            }
        const bool has_host =
            std::any_of(acts.begin(), acts.end(), [](const Act& act) { return act.kind == ActKind::host; });
        if (changes && has_host) return; // which nothing moves
        const auto kept = std::make_shared<std::vector<std::shared_ptr<const void>>>();
        const auto function = [this, acts, kept](cudaStream_t s) {
            for (const Act& act : acts)
                enqueue_act(s, bench_, act, [&](const auto& owner) { kept->push_back(owner); });
            return kept;
        };
        note("cache {}: run of key {} in stream {}, {}", number, key, stream, other == 1 ? "exchanged" : "as it is");
        if (keyed.calls++ == 0)
            for (const Act& act : keyed.acts)
                note("    {}", describe(act));
        cudag::CaptureCache& cache = captures_[number];
        cudag::RunKind kind{};
        if (changes)
            kind = cache.run(*streams_[stream], std::pair(stream, key),
                             {span_of(bench_, buffer_at(first + other)), span_of(bench_, buffer_at(first + 1 - other))},
                             function);
        else
            kind = cache.run(*streams_[stream], std::pair(stream, key), function);
        note("    {}", static_cast<int>(kind));
        // host functions of an eager run live until they have run
        if (kind == cudag::RunKind::eager) kept_.push_back(kept);
        ++report->launches;
        for (const Act& act : acts)
            perform(act, memory_.data());
    }

    /// A function that throws leaves the cache and the stream usable.
    void fail(unsigned stream) {
        cudag::CaptureCache& cache = random_.pick(captures_);
        note("a function throws in stream {}", stream);
        try {
            cache.run(*streams_[stream], std::pair(stream, key_count), [](cudaStream_t) { throw Planned(); });
        } catch (const Planned&) {
            ++report->refused;
            return;
        }
        wrong("what a function throws is lost");
    }

    void clear() {
        if (random_.percent(50)) {
            note("an ExecCache is cleared");
            random_.pick(execs_).clear();
        } else {
            note("a CaptureCache is cleared");
            random_.pick(captures_).clear();
        }
    }

    void synchronize() {
        note("synchronize");
        for (const cudag::Stream* stream : streams_)
            stream->synchronize();
        kept_.clear();
        require_memory(bench_, memory_, "the launches");
    }

    Bench& bench_;
    Random random_;
    std::array<const cudag::Stream*, stream_count> streams_{};
    std::vector<std::shared_ptr<void>> kept_;
    std::array<std::vector<Act>, 2> shapes_;
    std::array<std::vector<Line>, stream_count> lines_;
    std::array<std::array<std::array<Keyed, key_count>, stream_count>, 2> keyed_;
    std::vector<std::uint32_t> memory_;
    std::vector<cudag::ExecCache> execs_;
    std::vector<cudag::CaptureCache> captures_; ///< after what their launches use
};

} // namespace

void fuzz_caches(Bench& bench, std::uint64_t seed) {
    run_leaving_nothing<CachesFuzz>(bench, seed);
}
