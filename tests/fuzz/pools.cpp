// Pools released and restored, and pools in an order: which launches are refused, and what the others find.
#include "races.hpp"

#include "bench.hpp"
#include "kernels.hpp"
#include "random.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>
#include <cudag/pool_order.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using cudag::DeviceBuffer;
using cudag::DeviceSpan;

constexpr unsigned pool_count = 2;
constexpr unsigned no_pool = pool_count; ///< memory of CUDA's
constexpr unsigned most_words = 24;

/// Memory that graphs own or borrow. Its place in the list is its number.
struct PoolBlock {
    unsigned pool = no_pool;
    unsigned words = 1;
    std::uint32_t* address = nullptr;
    std::optional<DeviceBuffer<std::uint32_t>> buffer; ///< until it ends
    bool is_owned = false;                             ///< graphs own it: it does not end with `buffer`
    bool is_lasting = false;                           ///< an Exec owns it after an update: `buffer` lasts
    [[nodiscard]] bool lives() const { return buffer.has_value() || is_owned; }
};

struct PoolWords {
    std::size_t block = 0;
    unsigned first = 0;
    unsigned count = 1;
};

enum class PoolWork { combine, fill, copy };
enum class Given { buffer, span, pointer };

struct PoolStep {
    PoolWork work = PoolWork::combine;
    Given given = Given::span;
    PoolWords to, a, b;
    std::uint32_t salt = 0;
    cudag::Node node = {};
    bool is_updated = false;

    [[nodiscard]] std::vector<PoolWords> operands() const {
        if (work == PoolWork::fill) return {to};
        if (work == PoolWork::copy) return {to, a};
        return {to, a, b};
    }
};

enum class JobKind { built, captured, in_cache, segmented, in_exec_cache };
constexpr const char* names_of_jobs[] = {"built", "captured", "in the cache", "segmented", "in an ExecCache"};

/// A graph, or several with breaks between them.
struct PoolJob {
    JobKind kind = JobKind::built;
    std::vector<std::vector<PoolStep>> parts;
    std::set<unsigned> kept; ///< pools
    std::set<unsigned> retained;
    std::optional<cudag::Graph> graph;
    std::optional<cudag::Exec> exec;
    std::optional<cudag::SegmentedGraph> program;
    std::optional<cudag::ExecCache> execs; ///< of this graph alone
    bool shares_execs = false;             ///< so that a launch may instantiate
    std::set<std::size_t> fresh;           ///< blocks that updates have given to the Exec since its last launch
    bool is_uploaded = true;               ///< launched since the last update
    bool is_cached = false;                ///< its cache has a graph
    bool is_dangling = false;              ///< it borrows memory of CUDA's that has been freed
};

/// A PoolOrder, and what it must refuse.
struct OrderModel {
    cudag::PoolOrder order;
    unsigned pool;
    std::vector<std::size_t> jobs;
    cudag::PoolOrderOptions options;
    std::set<unsigned> kept; ///< pools kept by its graphs, whose free memory may be used
    std::unordered_map<const std::uint32_t*, std::size_t> known;
    std::optional<std::size_t> last = std::nullopt;
    std::size_t launches = 0;

    [[nodiscard]] std::optional<std::size_t> place_of(std::size_t job) const {
        const auto found = std::ranges::find(jobs, job);
        if (found == jobs.end()) return std::nullopt;
        return static_cast<std::size_t>(found - jobs.begin());
    }
    [[nodiscard]] bool may_follow(std::size_t place) const {
        if (place == 0) return true;
        const bool is_new_round = !last || *last + 1 == jobs.size();
        if (is_new_round && options.may_skip) return true;
        if (!last) return false;
        if (place == *last) return options.may_repeat;
        return place == *last + 1 || (place > *last && options.may_skip);
    }
};

class PoolsFuzz {
  public:
    PoolsFuzz(Bench& bench, std::uint64_t seed) : bench_(bench), random_(seed) {}

    void run() {
        for (unsigned i = 0; i < pool_count; ++i) {
            releasable_[i] = random_.percent(75);
            pools_.emplace_back(i == 0 ? "first" : "second", cudag::CapturePoolOptions{.releasable = releasable_[i]});
        }
        for (unsigned i = random_.between(2, 5); i-- > 0;)
            allocate();
        for (const unsigned count = random_.between(1, 4); jobs_.size() < count;)
            add_job();
        for (unsigned i = random_.between(10, 40); i-- > 0;)
            operate();
        for (cudag::CapturePool& pool : pools_)
            pool.restore();
        compare();
    }

  private:
    void operate() {
        const unsigned chance = random_.below(100);
        if (chance < 36) return launch(random_.below(jobs_.size()));
        if (chance < 45) return run_round();
        if (chance < 51) return release(random_.below(pool_count));
        if (chance < 56) return release_cached();
        if (chance < 66) return restore(random_.below(pool_count));
        if (chance < 72) return allocate();
        if (chance < 77) return end_block(draw_block());
        if (chance < 81) return add_job();
        if (chance < 87) return update();
        if (chance < 93) return state_order();
        if (chance < 95) return end_order();
        if (chance < 97) return restart_order();
        compare();
    }

    // Memory.

    [[nodiscard]] bool is_released(unsigned pool) const { return pool != no_pool && released_[pool]; }
    [[nodiscard]] const PoolBlock& block_of(const PoolWords& words) const { return blocks_[words.block]; }
    [[nodiscard]] std::uint32_t* address_of(const PoolWords& words) const {
        return block_of(words).address + words.first;
    }

    void allocate() { allocate(random_.below(pool_count + 1), random_.between(1, most_words)); }
    void allocate(unsigned pool, unsigned its_words) {
        PoolBlock block;
        block.pool = pool;
        block.words = its_words;
        const std::size_t words = random_.percent(3) ? (std::size_t{2} << 20U) : block.words;
        if (is_released(block.pool)) {
            note("an allocation in the released pool {}", block.pool);
            require_refusal<cudag::CaptureError>(
                cudaErrorNotReady, [&] { static_cast<void>(pools_[block.pool].allocate<std::uint32_t>(words)); });
            return;
        }
        block.buffer = block.pool == no_pool ? DeviceBuffer<std::uint32_t>(words)
                                             : pools_[block.pool].allocate<std::uint32_t>(words);
        block.address = block.buffer->data();
        note("block {}: {} words in pool {} at {}", blocks_.size(), words, block.pool,
             static_cast<void*>(block.address));
        blocks_.push_back(std::move(block));
    }

    /// A block, rather one that a job in an order uses.
    std::size_t draw_block() {
        if (orders_.empty() || random_.percent(40)) return random_.below(blocks_.size());
        const PoolJob& job = jobs_[random_.pick(random_.pick(orders_)->jobs)];
        const std::vector<PoolWords> operands = random_.pick(job.parts[0]).operands();
        return random_.pick(operands).block;
    }

    /// The test's buffer ends. Graphs may own it too; those that borrow from a pool find the memory still there.
    void end_block(std::size_t number) {
        PoolBlock& block = blocks_[number];
        const auto is_fresh = [&](const PoolJob& job) { return job.fresh.contains(number); };
        if (!block.buffer || block.is_lasting || std::ranges::any_of(jobs_, is_fresh)) return;
        note("block {} ends", number);
        bench_.streams[0].synchronize();
        block.buffer.reset();
        if (block.is_owned) return;
        if (block.pool != no_pool) {
            if (random_.percent(40)) allocate(block.pool, block.words); // rather at the same address
            return;
        }
        for (unsigned i = 0; i < block.words; ++i)
            memory_.erase(block.address + i); // other memory may get the address
        for (PoolJob& job : jobs_)
            job.is_dangling =
                job.is_dangling || uses(job, [&](const PoolWords& words) { return words.block == number; });
    }

    /// Gives all words of the operands a value that the model knows.
    void define(const PoolStep& step) {
        for (const PoolWords& words : step.operands()) {
            std::uint32_t* const first = address_of(words);
            std::array<std::uint32_t, most_words> values{};
            bool is_known = true;
            for (unsigned i = 0; i < words.count; ++i) {
                const auto [known, is_new] = memory_.try_emplace(first + i, 0);
                if (is_new) known->second = random_.word();
                is_known = is_known && !is_new;
                values[i] = known->second;
            }
            if (is_known) continue;
            bench_.streams[0].synchronize();
            cudag::check(cudaMemcpy(first, values.data(), words.count * sizeof values[0], cudaMemcpyDefault));
            cudag::check(cudaStreamSynchronize(cudaStreamLegacy)); // CUDA's copies may return earlier
        }
    }

    void perform(const PoolStep& step) {
        std::array<std::vector<std::uint32_t>, 3> values;
        const auto operands = step.operands();
        for (std::size_t i = 0; i < operands.size(); ++i)
            for (unsigned word = 0; word < operands[i].count; ++word)
                values[i].push_back(memory_.at(address_of(operands[i]) + word));
        std::vector<std::uint32_t>& to = values[0];
        if (step.work == PoolWork::combine) {
            // what the operands share is read before it is written
            static_cast<void>(combine_work(to.data(), step.to.count, values[1].data(), step.a.count, values[2].data(),
                                           step.b.count, step.salt));
        } else if (step.work == PoolWork::fill) {
            std::ranges::fill(to, step.salt);
        } else {
            to = values[1];
        }
        for (unsigned word = 0; word < step.to.count; ++word)
            memory_[address_of(step.to) + word] = to[word];
    }

    void compare() {
        note("compare");
        bench_.streams[0].synchronize();
        for (std::size_t number = 0; number < blocks_.size(); ++number) {
            const PoolBlock& block = blocks_[number];
            if (is_released(block.pool) || (block.pool == no_pool && !block.lives())) continue;
            std::array<std::uint32_t, most_words> found{};
            cudag::check(cudaMemcpy(found.data(), block.address, block.words * sizeof found[0], cudaMemcpyDefault));
            for (unsigned i = 0; i < block.words; ++i)
                if (const auto known = memory_.find(block.address + i); known != memory_.end())
                    require(found[i] == known->second, "word {} of block {} is {:#x}, not {:#x}", i, number, found[i],
                            known->second);
        }
    }

    // Jobs.

    std::optional<PoolWords> draw_words(const std::vector<std::size_t>& among, Given given, unsigned count) {
        const std::size_t block = among[random_.below(among.size())];
        const unsigned words = blocks_[block].words;
        if (count > words) return std::nullopt;
        if (count == 0) count = random_.between(1, words);
        return PoolWords{block, given == Given::buffer ? 0 : random_.below(words - count + 1), count};
    }

    std::optional<PoolStep> draw_step(const std::vector<std::size_t>& among) {
        PoolStep step;
        step.work = static_cast<PoolWork>(random_.below(3));
        step.given = static_cast<Given>(random_.below(3));
        step.salt = random_.word();
        // fills and copies of buffers take them whole
        const bool is_whole = step.given == Given::buffer && step.work != PoolWork::combine;
        const auto to = draw_words(among, step.given, 0);
        step.to = *to;
        if (is_whole) step.to.count = block_of(step.to).words;
        if (is_whole && block_of(step.to).buffer->size() > most_words) return std::nullopt;
        const auto a = draw_words(among, step.given, step.work == PoolWork::copy ? step.to.count : 0);
        if (!a) return std::nullopt;
        step.a = *a;
        step.b = *draw_words(among, step.given, 0);
        if (step.work != PoolWork::combine) step.b = step.to; // memory that it does not use may end
        if (step.work == PoolWork::fill) step.a = step.to;
        if (step.work != PoolWork::copy) return step;
        if (is_whole && block_of(step.a).buffer->size() != step.a.count) return std::nullopt;
        const std::uint32_t *const to_begin = address_of(step.to), *const from = address_of(step.a);
        if (to_begin < from + step.a.count && from < to_begin + step.to.count) return std::nullopt;
        return step;
    }

    void add_job() {
        if (jobs_.size() == 8) return;
        std::vector<std::size_t> among;
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            if (blocks_[i].buffer && !is_released(blocks_[i].pool)) among.push_back(i);
        if (among.empty()) return;
        PoolJob job;
        job.kind = static_cast<JobKind>(random_.below(5));
        for (unsigned part = job.kind == JobKind::segmented ? random_.between(2, 3) : 1; part-- > 0;) {
            std::vector<PoolStep>& steps = job.parts.emplace_back();
            for (unsigned i = random_.between(1, 3); i-- > 0;)
                if (const auto step = draw_step(among)) steps.push_back(*step);
            if (steps.empty()) return;
        }
        for (unsigned pool = 0; pool < pool_count; ++pool)
            if (job.kind != JobKind::in_cache && random_.percent(40)) job.retained.insert(pool);
        job.kept = job.retained;
        for (const auto& part : job.parts)
            for (const PoolStep& step : part)
                if (step.given == Given::buffer)
                    for (const PoolWords& words : step.operands()) {
                        if (job.kind != JobKind::in_cache) blocks_[words.block].is_owned = true;
                        if (block_of(words).pool != no_pool) job.kept.insert(block_of(words).pool);
                    }
        job.shares_execs = random_.percent(30);
        describe(job);
        make(job);
        jobs_.push_back(std::move(job));
    }

    void describe(const PoolJob& job) const {
        note("job {}, {}, retains {} pools", jobs_.size(), names_of_jobs[static_cast<int>(job.kind)],
             job.retained.size());
        for (const auto& part : job.parts) {
            note("  a part");
            for (const PoolStep& step : part) {
                std::string operands;
                for (const PoolWords& words : step.operands())
                    operands += fmt::format(" {}[{}, {}]", words.block, words.first, words.count);
                note("    work {} given {}:{}", static_cast<int>(step.work), static_cast<int>(step.given), operands);
            }
        }
    }

    void make(PoolJob& job) {
        const std::string label = fmt::format("job {}", jobs_.size());
        if (job.kind == JobKind::built || job.kind == JobKind::in_exec_cache) {
            cudag::GraphBuilder b;
            std::optional<cudag::Node> last;
            for (PoolStep& step : job.parts[0])
                with_operands(step, [&](const auto& to, const auto& a, const auto& c) {
                    const auto add = [&](const auto& node) {
                        if (last) node.after(*last);
                        last = step.node = node;
                    };
                    if (step.work == PoolWork::combine)
                        add(b.kernel({}, fuzz_combine, to, step.to.count, a, step.a.count, c, step.b.count, step.salt));
                    else if (step.work == PoolWork::fill)
                        add(b.memset(ranged(to, step.to), step.salt));
                    else
                        add(b.memcpy(ranged(to, step.to), ranged(a, step.a)));
                });
            for (const unsigned pool : job.retained)
                b.retain(pools_[pool]);
            job.graph = std::move(b).build().name(label);
        } else if (job.kind == JobKind::captured) {
            job.graph = cudag::capture(bench_.captured[0], [&](cudag::StreamCapture& c) {
                            enqueue(c.stream(), job.parts[0]);
                            for (const unsigned pool : job.retained)
                                c.retain(pools_[pool]);
                        }).name(label);
            const std::vector<cudag::Node> nodes = job.graph->nodes();
            for (std::size_t i = 0; i < nodes.size(); ++i)
                job.parts[0][i].node = nodes[i];
        } else if (job.kind == JobKind::segmented) {
            job.program = cudag::capture_segments(bench_.captured[0],
                                                  [&](cudag::StreamCapture& c) {
                                                      for (const unsigned pool : job.retained)
                                                          c.retain(pools_[pool]);
                                                      for (const auto& part : job.parts) {
                                                          if (&part != job.parts.data())
                                                              c.eager("between", [](cudaStream_t) {});
                                                          enqueue(c.stream(), part);
                                                      }
                                                  },
                                                  {}, {.share_execs = job.shares_execs});
        }
        if (job.kind == JobKind::in_exec_cache) {
            job.execs.emplace();
        } else if (job.graph) {
            job.exec = job.graph->instantiate();
        }
    }

    /// Calls `use(to, a, b)` with buffers, spans or pointers.
    template <class Use>
    void with_operands(const PoolStep& step, const Use& use) const {
        const auto span = [&](const PoolWords& words) {
            return DeviceSpan<std::uint32_t>(address_of(words), words.count);
        };
        if (step.given == Given::buffer)
            use(*block_of(step.to).buffer, *block_of(step.a).buffer, *block_of(step.b).buffer);
        else if (step.given == Given::span)
            use(span(step.to), span(step.a), span(step.b));
        else
            use(address_of(step.to), address_of(step.a), address_of(step.b));
    }
    /// Memory of fills and copies has a length.
    static const DeviceBuffer<std::uint32_t>& ranged(const DeviceBuffer<std::uint32_t>& buffer, const PoolWords&) {
        return buffer;
    }
    static DeviceSpan<std::uint32_t> ranged(DeviceSpan<std::uint32_t> span, const PoolWords&) { return span; }
    static DeviceSpan<std::uint32_t> ranged(std::uint32_t* address, const PoolWords& words) {
        return {address, words.count};
    }

    void enqueue(cudaStream_t stream, const std::vector<PoolStep>& steps) const {
        for (const PoolStep& step : steps)
            with_operands(step, [&](const auto& to, const auto& a, const auto& c) {
                if (step.work == PoolWork::combine)
                    cudag::launch(stream, {}, fuzz_combine, to, step.to.count, a, step.a.count, c, step.b.count,
                                  step.salt);
                else if (step.work == PoolWork::fill)
                    cudag::memset_async(stream, ranged(to, step.to), step.salt);
                else
                    cudag::memcpy_async(stream, ranged(to, step.to), ranged(a, step.a));
            });
    }

    template <class Predicate>
    static bool uses(const std::vector<PoolStep>& part, const Predicate& predicate) {
        for (const PoolStep& step : part)
            for (const PoolWords& words : step.operands())
                if (predicate(words)) return true;
        return false;
    }
    template <class Predicate>
    static bool uses(const PoolJob& job, const Predicate& predicate) {
        for (const auto& part : job.parts)
            if (uses(part, predicate)) return true;
        return false;
    }

    /// Other values, and other memory in place of the memory of one step.
    void update() {
        PoolJob& job = random_.pick(jobs_);
        if (!job.exec || job.is_dangling) return;
        PoolStep& step = random_.pick(job.parts[0]);
        if (step.work != PoolWork::combine) return;
        const auto kernel = step.node.as(fuzz_combine);
        if (random_.percent(50)) {
            step.is_updated = true;
            job.is_uploaded = false;
            step.salt = random_.word();
            note("update of job {}: a salt", &job - jobs_.data());
            job.exec->update(kernel, cudag::arg<6>(step.salt));
            if (random_.percent(20)) end_block(step.operands()[random_.below(step.operands().size())].block);
            return;
        }
        const std::size_t number = random_.below(blocks_.size());
        PoolBlock& block = blocks_[number];
        if (!block.buffer || block.words < step.to.count) return;
        if (step.given == Given::buffer && block.pool != no_pool && !job.kept.contains(block.pool)) return;
        note("update of job {}: block {}", &job - jobs_.data(), number);
        if (step.given == Given::buffer)
            block.is_lasting = true;
        else
            job.fresh.insert(number);
        step.to = {number, 0, step.to.count};
        step.is_updated = true;
        job.is_uploaded = false;
        if (step.given == Given::buffer)
            job.exec->update(kernel, cudag::arg<0>(*block.buffer));
        else
            job.exec->update(kernel, cudag::arg<0>(block.address));
    }

    // Launches.

    /// The error with which the launch of a part must be refused; cudaSuccess for none.
    [[nodiscard]] cudaError_t refusal_of(std::size_t number, std::size_t part) {
        const PoolJob& job = jobs_[number];
        for (unsigned pool = 0; pool < pool_count; ++pool)
            if (released_[pool] && (job.kept.contains(pool) || uses(job.parts[part], [&](const PoolWords& words) {
                                        return block_of(words).pool == pool;
                                    })))
                return cudaErrorNotReady;
        std::vector<std::pair<OrderModel*, std::optional<std::size_t>>> taken;
        const auto take_back = [&](cudaError_t error) {
            for (const auto& [order, last] : taken) {
                order->last = last;
                --order->launches;
            }
            return error;
        };
        for (const auto& order : orders_) {
            const auto place = order->place_of(number);
            if (!place) {
                if (job.kept.contains(order->pool)) return take_back(cudaErrorNotPermitted);
                continue;
            }
            if (!order->may_follow(*place)) return take_back(cudaErrorNotPermitted);
            if (!is_memory_known(*order, job)) return take_back(cudaErrorIllegalAddress);
            taken.emplace_back(order.get(), std::exchange(order->last, place));
            ++order->launches;
        }
        return cudaSuccess;
    }

    /// The number of the live block at an address; nothing for memory that an order need not look after.
    [[nodiscard]] std::optional<std::size_t> number_at(const OrderModel& order, const PoolWords& words) const {
        const PoolBlock& used = block_of(words);
        if (order.kept.contains(used.pool)) return std::nullopt;
        const std::uint32_t* const address = address_of(words);
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const PoolBlock& block = blocks_[i];
            const unsigned extent = block.pool == no_pool ? block.words : 64; // of pools, in pieces of 256 bytes
            if (block.lives() && block.pool == used.pool && block.address <= address &&
                address < block.address + extent)
                return i;
        }
        return std::nullopt;
    }
    bool is_memory_known(OrderModel& order, const PoolJob& job) const {
        for (const PoolStep& step : job.parts[0])
            for (const PoolWords& words : step.operands()) {
                const auto known = order.known.find(address_of(words));
                const auto number = number_at(order, words);
                const bool is_new = step.is_updated && !job.is_uploaded && number;
                if (known != order.known.end() && !is_new && number != known->second) return false;
                if (number) order.known[address_of(words)] = *number;
            }
        return true;
    }

    void launch(std::size_t number) {
        PoolJob& job = jobs_[number];
        if (job.is_dangling && !is_watched(number)) return;
        if (job.kind == JobKind::in_cache && !job.is_cached) {
            // an eager run is not looked at
            const auto is_gone = [&](const PoolWords& words) {
                return is_released(block_of(words).pool) || !block_of(words).buffer;
            };
            if (uses(job, is_gone)) return;
        }
        note("launch of job {}", number);
        cudaError_t expected = cudaSuccess;
        std::size_t done = 0;
        while (done < job.parts.size()) {
            expected = refusal_of(number, done);
            if (expected != cudaSuccess) break;
            ++done;
        }
        for (std::size_t part = 0; part < done; ++part)
            for (const PoolStep& step : job.parts[part])
                define(step);
        for (std::size_t part = 0; part < done; ++part)
            for (const PoolStep& step : job.parts[part])
                perform(step);
        note("  {} parts{}", done, expected == cudaSuccess ? "" : ", then a refusal");
        if (expected == cudaSuccess)
            launch_now(number, job);
        else
            require_refusal<cudag::Error>(
                expected, [&] { launch_now(number, job); }, job.execs || (job.program && job.shares_execs));
        if (job.execs && expected == cudaSuccess) job.is_cached = true;
        if (job.kind == JobKind::in_cache && !job.is_cached && expected == cudaSuccess) {
            job.is_cached = true; // from now on the graph owns what it was given
            for (const PoolStep& step : job.parts[0])
                for (const PoolWords& words : step.operands())
                    if (step.given == Given::buffer) blocks_[words.block].is_owned = true;
        }
        for (const auto& order : orders_)
            require(order->order.launches() == order->launches, "an order has counted {} launches, not {}",
                    order->order.launches(), order->launches);
    }

    void launch_now(std::size_t number, PoolJob& job) {
        const cudag::Stream& stream = bench_.streams[0];
        ++report->launches;
        if (job.program) return job.program->launch(stream);
        if (job.execs) {
            static_cast<void>(job.execs->launch(*job.graph, stream));
            return;
        }
        if (job.exec) {
            job.exec->launch(stream);
            job.is_uploaded = true;
            job.fresh.clear();
            return;
        }
        const cudag::RunKind kind =
            cache_.run(stream, number, [this, number](cudaStream_t s) { enqueue(s, jobs_[number].parts[0]); });
        require((kind == cudag::RunKind::replayed) == job.is_cached, "a run is of kind {}", static_cast<int>(kind));
    }

    template <class E>
    void require_refusal(cudaError_t expected, const std::function<void()>& call, bool by_cuda = false) const {
        try {
            call();
        } catch (const E& error) {
            note("  refused: {}", error.what());
            // an ExecCache instantiates first: CUDA refuses freed memory
            const bool is_of_cuda =
                by_cuda && error.code().value() == cudaErrorInvalidValue && expected != cudaErrorNotReady;
            require(error.code().value() == expected || is_of_cuda, "the error has the code {}, not {}: {}",
                    error.code().value(), static_cast<int>(expected), error.what());
            ++report->refused;
            return;
        }
        wrong("what should be refused with {} is accepted", static_cast<int>(expected));
    }

    // Releases.

    cudag::KeptContents draw_contents() { return static_cast<cudag::KeptContents>(random_.below(3)); }

    /// What the pool no longer knows after a restoration.
    void forget_contents(unsigned pool, cudag::KeptContents contents) {
        if (contents == cudag::KeptContents::all) return;
        std::unordered_map<const std::uint32_t*, std::uint32_t> rest;
        for (const PoolBlock& block : blocks_) {
            if (block.pool == pool && (contents == cudag::KeptContents::none || !block.lives())) continue;
            for (unsigned i = 0; i < block.words; ++i)
                if (const auto known = memory_.find(block.address + i); known != memory_.end()) rest.insert(*known);
        }
        memory_ = std::move(rest);
    }

    void release(unsigned pool) {
        const cudag::KeptContents contents = draw_contents();
        note("release of pool {}, contents {}", pool, static_cast<int>(contents));
        if (!releasable_[pool]) {
            require_refusal<cudag::Error>(cudaErrorNotPermitted,
                                          [&] { static_cast<void>(pools_[pool].release({contents})); });
            return;
        }
        const std::size_t reserved = pools_[pool].reserved_bytes();
        const cudag::ReleasedMemory released = pools_[pool].release({contents});
        require(released.pools == (released_[pool] ? 0 : reserved), "{} bytes are released", released.pools);
        mark_released(pool, contents);
    }

    void mark_released(unsigned pool, cudag::KeptContents contents) {
        if (released_[pool]) return;
        released_[pool] = true;
        forget_contents(pool, contents);
        require(pools_[pool].is_released() && pools_[pool].reserved_bytes() == 0, "a released pool has memory");
    }

    /// Releases or restores the memory of a cache, or of a program with breaks: the pools that their graphs keep.
    void release_cached() {
        PoolJob& chosen = random_.pick(jobs_);
        const bool is_alone = chosen.program || chosen.execs;
        std::set<unsigned> kept;
        for (const PoolJob& job : jobs_)
            if (is_alone ? &job == &chosen && (job.program || job.is_cached) : job.is_cached && !job.execs)
                kept.insert(job.kept.begin(), job.kept.end());
        const auto with_owner = [&](const auto& use) {
            return chosen.program ? use(*chosen.program) : chosen.execs ? use(*chosen.execs) : use(cache_);
        };
        const char* const name = is_alone ? names_of_jobs[static_cast<int>(chosen.kind)] : "in the cache";
        if (random_.percent(30)) {
            note("restoration of memory {}", name);
            with_owner([](auto& owner) { return owner.restore_memory(); });
            for (const unsigned pool : kept)
                released_[pool] = false;
            return;
        }
        const cudag::KeptContents contents = draw_contents();
        note("release of memory {}, contents {}", name, static_cast<int>(contents));
        std::size_t bytes = 0, rest = 0;
        for (const unsigned pool : kept)
            (releasable_[pool] ? bytes : rest) += pools_[pool].reserved_bytes();
        const cudag::ReleasedMemory released =
            with_owner([&](auto& owner) { return owner.release_memory({contents}); });
        require(released.pools == bytes && released.not_released == rest, "released: {}", to_string(released));
        for (const unsigned pool : kept)
            if (releasable_[pool]) mark_released(pool, contents);
    }

    void restore(unsigned pool) {
        note("restoration of pool {}", pool);
        const std::size_t bytes = pools_[pool].restore();
        require((bytes == 0) == (!released_[pool] || pools_[pool].reserved_bytes() == 0), "{} bytes are restored",
                bytes);
        released_[pool] = false;
        require(!pools_[pool].is_released(), "a restored pool is released");
        if (random_.percent(50)) compare();
    }

    // Orders.

    [[nodiscard]] bool is_watched(std::size_t job) const {
        return std::ranges::any_of(
            orders_, [&](const auto& order) { return order->place_of(job) && !order->kept.contains(no_pool); });
    }

    void state_order() {
        if (orders_.size() == 2) return;
        const unsigned pool = random_.below(pool_count);
        std::vector<std::size_t> jobs;
        std::vector<std::reference_wrapper<const cudag::Graph>> graphs;
        std::set<unsigned> kept;
        for (std::size_t i = 0; i < jobs_.size(); ++i)
            if (jobs_[i].graph && !jobs_[i].is_dangling && jobs_[i].kept.contains(pool) && random_.percent(80))
                jobs.insert(jobs.begin() + random_.below(jobs.size() + 1), i);
        for (const std::size_t job : jobs) {
            graphs.emplace_back(*jobs_[job].graph);
            kept.insert(jobs_[job].kept.begin(), jobs_[job].kept.end());
        }
        const cudag::PoolOrderOptions options{
            .checked = true, .may_skip = random_.percent(30), .may_repeat = random_.percent(30)};
        note("an order of pool {}: {} jobs", pool, jobs.size());
        if (jobs.empty()) {
            require_refusal<cudag::GraphError>(cudaErrorInvalidValue,
                                               [&] { const cudag::PoolOrder order(pools_[pool], graphs, options); });
            return;
        }
        orders_.push_back(std::make_unique<OrderModel>(
            OrderModel{cudag::PoolOrder(pools_[pool], graphs, options), pool, jobs, options, std::move(kept), {}}));
        OrderModel& order = *orders_.back();
        for (const std::size_t job : jobs)
            static_cast<void>(is_memory_known(order, jobs_[job]));
    }

    void end_order() {
        if (orders_.empty()) return;
        note("an order ends");
        orders_.erase(orders_.begin() + random_.below(orders_.size()));
    }
    /// Launches the jobs of an order in their order, or nearly so.
    void run_round() {
        if (orders_.empty()) return state_order();
        const std::vector<std::size_t> jobs = random_.pick(orders_)->jobs;
        for (const std::size_t job : jobs)
            if (random_.percent(90)) launch(job);
    }

    void restart_order() {
        if (orders_.empty()) return;
        note("an order begins again");
        OrderModel& order = *random_.pick(orders_);
        order.order.restart();
        order.last.reset();
    }

    Bench& bench_;
    Random random_;
    std::vector<cudag::CapturePool> pools_;
    std::array<bool, pool_count> releasable_{}, released_{};
    std::vector<PoolBlock> blocks_;
    std::unordered_map<const std::uint32_t*, std::uint32_t> memory_; ///< the words that are known
    std::vector<PoolJob> jobs_;
    cudag::CaptureCache cache_{cudag::CaptureCacheOptions{.warm_up = 0}};
    std::vector<std::unique_ptr<OrderModel>> orders_;
};

} // namespace

void fuzz_pools(Bench& bench, std::uint64_t seed) {
    run_leaving_nothing<PoolsFuzz>(bench, seed);
}
