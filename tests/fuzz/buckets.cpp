// Graphed functions with buckets: sizes change, outputs are those of eager calls, memory is released and restored.
#include "races.hpp"

#include "bench.hpp"
#include "kernels.hpp"
#include "random.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using cudag::DeviceSpan;
using WordSpan = DeviceSpan<std::uint32_t>;
/// Hashes of the items, the hash of all of the second input, and the first input, which the function has changed.
using BucketOutput = std::tuple<WordSpan, WordSpan, WordSpan>;

constexpr unsigned largest_bucket = 24;
constexpr unsigned most_elements = 3;

template <class First, class... ItsValid>
class BucketsFuzz {
    static constexpr bool has_steps = std::is_same_v<First, cudag::Steps&>;
    static constexpr bool has_valid = sizeof...(ItsValid) == 1;
    using Graphed = cudag::GraphedFunction<BucketOutput(First, WordSpan, DeviceSpan<const std::uint32_t>, ItsValid...)>;

  public:
    BucketsFuzz(Bench& bench, std::uint64_t seed) : bench_(bench), random_(seed) {}
    ~BucketsFuzz() { static_cast<void>(cudaDeviceSynchronize()); }

    void run() {
        is_releasable_ = random_.percent(60);
        pool_.emplace("buckets", cudag::CapturePoolOptions{.releasable = is_releasable_});
        a_elements_ = random_.between(1, most_elements);
        b_elements_ = random_.percent(20) ? 0 : random_.between(1, most_elements);
        out_elements_ = random_.between(1, most_elements);
        salt_ = random_.word();
        breaks_ = has_steps && random_.percent(70);
        pads_ = !has_valid || random_.percent(50);
        cudag::GraphedFunctionOptions options{.warm_up_runs = random_.below(3),
                                              .capacity = random_.between(1, 5),
                                              .verify = random_.percent(20) ? random_.between(1, 4) : 0U,
                                              .bucket = draw_bucket(),
                                              .item_elements = {a_elements_, b_elements_},
                                              .padding = pads_ ? cudag::Padding::zeros : cudag::Padding::none,
                                              .cut_outputs = random_.percent(85)};
        options.capture.pool = pool_->id();
        bucket_ = options.bucket;
        capacity_ = options.capacity;
        cuts_ = options.cut_outputs;
        note("a function{}{}{}, {} + {} elements, capacity {}, warm-up {}, verify {}", has_steps ? " of steps" : "",
             breaks_ ? " with a break" : "", has_valid ? " with a Valid" : "", a_elements_, b_elements_, capacity_,
             options.warm_up_runs, options.verify);
        function_.emplace([this](First first, WordSpan a, DeviceSpan<const std::uint32_t> b,
                                 ItsValid... valid) { return work(first, a, b, valid...); },
                          options);
        for (unsigned i = random_.between(5, 30); i-- > 0;)
            operate();
        restore();
        forward();
        compare();
    }

  private:
    cudag::Bucket draw_bucket() {
        switch (random_.below(3)) {
        case 0:
            return cudag::Bucket::powers_of_two(1U << random_.below(4), largest_bucket);
        case 1: {
            std::vector<std::size_t> sizes{largest_bucket};
            for (unsigned i = random_.below(4); i-- > 0;)
                sizes.push_back(random_.between(1, largest_bucket));
            return cudag::Bucket(std::move(sizes));
        }
        default:
            return [unit = random_.between(2, 9)](std::size_t size) { return (size + unit - 1) / unit * unit; };
        }
    }

    // The function.

    template <class Function>
    static void step(First first, const Function& function) {
        if constexpr (has_steps)
            first.step("step", function);
        else
            function(first);
    }

    BucketOutput work(First first, WordSpan a, DeviceSpan<const std::uint32_t> b, ItsValid... its_valid) {
        ++calls_;
        if (fails_) throw Planned();
        const auto items = static_cast<unsigned>(a.size() / a_elements_);
        const unsigned* const valid = pointer(its_valid...);
        const auto scratch = pool_->allocate<std::uint32_t>(items * std::size_t{out_elements_});
        std::uint32_t* const hashes = scratch.data();
        step(first, [&](cudaStream_t s) {
            cudag::launch(s, {}, fuzz_items, hashes, out_elements_, a.data(), a_elements_, items, valid, salt_);
        });
        const auto fold = [this, b, valid = pads_ || b_elements_ == 0 ? nullptr : valid](cudaStream_t s) {
            cudag::launch(s, {}, fuzz_fold, total_.data(), b.data(), static_cast<unsigned>(b.size()), valid,
                          b_elements_, salt_);
        };
        if constexpr (has_steps) {
            if (breaks_)
                first.eager("fold", fold);
            else
                first.step("fold", fold);
        } else {
            fold(first);
        }
        const WordSpan out = out_.span().first(items * std::size_t{out_elements_});
        step(first, [&](cudaStream_t s) {
            if (!out.empty()) cudag::memcpy_async(s, out, WordSpan(hashes, out.size()));
            cudag::launch(s, {}, fuzz_items, a.data(), a_elements_, a.data(), a_elements_, items, valid, salt_ + 1);
        });
        return {out, total_.span(), a};
    }
    static const unsigned* pointer() { return nullptr; }
    static const unsigned* pointer(cudag::Valid valid) { return valid.data(); }

    // The same in plain C++.

    struct Inputs {
        std::vector<std::uint32_t> a, b;
        bool is_former = false; ///< a is the last output
    };
    struct Expected {
        std::vector<std::uint32_t> words;
        const std::uint32_t* found; ///< once the streams have been waited for
        std::size_t call;
    };

    [[nodiscard]] std::size_t items_of(const Inputs& inputs) const { return inputs.a.size() / a_elements_; }

    [[nodiscard]] std::vector<std::uint32_t> hashes_of(const Inputs& inputs) const {
        std::vector<std::uint32_t> hashes(items_of(inputs) * out_elements_);
        items_work(hashes.data(), out_elements_, inputs.a.data(), a_elements_, static_cast<unsigned>(items_of(inputs)),
                   salt_);
        return hashes;
    }
    [[nodiscard]] std::uint32_t total_of(const Inputs& inputs) const {
        std::vector<std::uint32_t> b = inputs.b;
        if (pads_ && b_elements_ != 0) b.resize(bucket_.round_up(items_of(inputs)) * b_elements_);
        return fold_work(b.data(), static_cast<unsigned>(b.size()), salt_);
    }
    [[nodiscard]] std::vector<std::uint32_t> changed(const Inputs& inputs) const {
        std::vector<std::uint32_t> a = inputs.a;
        items_work(a.data(), a_elements_, a.data(), a_elements_, static_cast<unsigned>(items_of(inputs)), salt_ + 1);
        return a;
    }

    // Operations.

    void operate() {
        const unsigned chance = random_.below(100);
        if (chance < 62) return forward();
        if (chance < 70) return forward_wrongly();
        if (chance < 80) return prepare();
        if (chance < 84) return reset();
        if (chance < 90) return release();
        if (chance < 95) return restore();
        compare();
    }

    std::vector<std::uint32_t> draw(std::size_t count) {
        std::vector<std::uint32_t> words(count);
        for (std::uint32_t& word : words)
            word = random_.percent(10) ? 0 : random_.word();
        return words;
    }

    Inputs draw_inputs() {
        Inputs inputs;
        const unsigned items = random_.percent(5) ? 0 : random_.between(1, largest_bucket);
        inputs.is_former = former_ && !is_released_ && random_.percent(40);
        inputs.a = inputs.is_former ? former_words_ : draw(items * std::size_t{a_elements_});
        inputs.b = draw(b_elements_ == 0 ? random_.between(1, 2) : items_of(inputs) * b_elements_);
        return inputs;
    }

    using Shape = std::pair<std::size_t, std::size_t>;
    [[nodiscard]] Shape shape_of(const Inputs& inputs) const {
        return {bucket_.round_up(items_of(inputs)), b_elements_ == 0 ? inputs.b.size() : 0};
    }

    /// Passes the inputs from host or device memory, which stays until the streams have been waited for.
    template <class Use>
    auto with_inputs(const cudag::Stream& stream, const Inputs& inputs, const Use& use) {
        const auto on_device = [&](const std::vector<std::uint32_t>& words) {
            cudag::DeviceBuffer<std::uint32_t>& buffer = buffers_.emplace_back(words.size());
            if (!words.empty()) cudag::memcpy_async(stream, buffer, vectors_.emplace_back(words));
            return buffer.span();
        };
        const auto& b = vectors_.emplace_back(inputs.b);
        if (inputs.is_former) return use(*former_, b);
        if (random_.percent(50)) return use(on_device(inputs.a), b);
        return use(vectors_.emplace_back(inputs.a), on_device(inputs.b));
    }

    /// Orders a stream behind what has been read in the other one.
    const cudag::Stream& draw_stream() {
        const unsigned number = random_.below(2);
        if (number != last_stream_) {
            const cudag::Event read({.timing = false});
            cudag::check(cudaEventRecord(read.get(), bench_.streams[last_stream_].get()));
            cudag::check(cudaStreamWaitEvent(bench_.streams[number].get(), read.get(), 0));
        }
        last_stream_ = number;
        return bench_.streams[number];
    }

    void forward() {
        const Inputs inputs = draw_inputs();
        const cudag::Stream& stream = draw_stream();
        const std::size_t size = function_->size(), calls = calls_;
        const std::uint64_t captures = function_->captures(), replays = function_->replays(),
                            eager = function_->eager_runs();
        note("forward {}: {} items, {} words{}, in stream {}", forwards_, items_of(inputs), inputs.b.size(),
             inputs.is_former ? ", the former output" : "", last_stream_);
        const bool fails = fails_ = random_.percent(4);
        BucketOutput output;
        try {
            output = with_inputs(stream, inputs,
                                 [&](const auto& a, const auto& b) { return function_->forward(stream, a, b); });
        } catch (const Planned&) {
            note("  the function throws");
            require(fails && function_->size() == size && function_->captures() == captures,
                    "a function that throws has changed the shapes");
            fails_ = false;
            former_.reset();
            return;
        } catch (const cudag::Error& error) {
            note("  refused: {}", error.what());
            require(is_released_ && error.code().value() == cudaErrorNotReady, "a forward is refused: {}",
                    error.what());
            require(function_->size() == size && function_->replays() == replays,
                    "a refused forward has changed shapes");
            ++report->refused;
            fails_ = false;
            return;
        }
        require(!fails || calls == calls_, "an exception of the function is lost");
        fails_ = false;
        require(!is_released_, "a forward runs in released memory");
        ++forwards_;
        ++report->launches;
        require(function_->replays() + function_->eager_runs() == replays + eager + 1, "a forward is no run");
        require(function_->size() <= capacity_, "there are {} shapes", function_->size());
        seen_.insert(shape_of(inputs));
        if (seen_.size() <= capacity_)
            require(function_->size() == seen_.size() && function_->eager_runs() == eager, "there are {} shapes of {}",
                    function_->size(), seen_.size());
        take(stream, inputs, output);
    }

    /// Copies the outputs to where they are compared.
    void take(const cudag::Stream& stream, const Inputs& inputs, const BucketOutput& output) {
        const std::size_t items = cuts_ ? items_of(inputs) : bucket_.round_up(items_of(inputs));
        const auto& [hashes, total, a] = output;
        require(hashes.size() == items * out_elements_ && total.size() == 1 && a.size() == items * a_elements_,
                "outputs of {}, {} and {} words", hashes.size(), total.size(), a.size());
        former_words_ = changed(inputs);
        former_ = a.first(former_words_.size());
        const std::vector<std::uint32_t> expected = hashes_of(inputs);
        expect(stream, hashes.first(expected.size()), expected);
        expect(stream, total, {total_of(inputs)});
        expect(stream, *former_, former_words_);
    }

    void expect(const cudag::Stream& stream, WordSpan found, std::vector<std::uint32_t> words) {
        if (words.empty()) return;
        if (taken_ + words.size() > bench_.words.size()) compare();
        std::uint32_t* const place = bench_.words.data() + taken_;
        taken_ += words.size();
        cudag::check(cudaMemcpyAsync(place, found.data(), words.size() * sizeof(std::uint32_t), cudaMemcpyDefault,
                                     stream.get()));
        expected_.push_back({std::move(words), place, forwards_ - 1});
    }

    void compare() {
        for (const cudag::Stream& stream : bench_.streams)
            stream.synchronize();
        for (const Expected& each : expected_)
            for (std::size_t i = 0; i < each.words.size(); ++i)
                require(each.found[i] == each.words[i], "word {} of {} of an output of forward {} is {:#x}, not {:#x}",
                        i, each.words.size(), each.call, each.found[i], each.words[i]);
        expected_.clear();
        taken_ = 0;
        vectors_.clear();
        buffers_.clear();
    }

    template <class Error>
    void require_refusal(const auto& call) {
        try {
            call();
        } catch (const Error& error) {
            note("  refused: {}", error.what());
            ++report->refused;
            return;
        }
        wrong("a wrong call is accepted");
    }

    /// Sizes that do not fit to each other, or to any bucket.
    void forward_wrongly() {
        Inputs inputs = draw_inputs();
        inputs.is_former = false;
        if (a_elements_ > 1 && random_.percent(40))
            inputs.a.push_back(1);
        else if (b_elements_ != 0 && random_.percent(60))
            inputs.b.resize(inputs.b.size() + b_elements_);
        else
            return;
        note("a wrong forward of {} and {} words", inputs.a.size(), inputs.b.size());
        const cudag::Stream& stream = bench_.streams[last_stream_];
        require_refusal<cudag::GraphError>([&] {
            with_inputs(stream, inputs, [&](const auto& a, const auto& b) { return function_->forward(stream, a, b); });
        });
    }

    void prepare() {
        std::vector<std::size_t> sizes;
        for (unsigned i = random_.between(1, 4); i-- > 0;)
            sizes.push_back(random_.percent(5) ? 0 : random_.between(1, largest_bucket));
        const bool is_certain = seen_.size() <= capacity_; // otherwise only the function knows its shapes
        std::set<Shape> added;
        for (const std::size_t size : sizes)
            if (const Shape shape(bucket_.round_up(size), 0); !seen_.contains(shape)) added.insert(shape);
        const std::size_t size = function_->size();
        const bool is_wrong = std::ranges::find(sizes, 0U) != sizes.end() || b_elements_ == 0;
        note("prepare of {}", fmt::join(sizes, ", "));
        const unsigned stop = random_.percent(20) ? random_.between(1, 2) : 0;
        fails_ = random_.percent(10);
        std::size_t count = 0, last = largest_bucket * 10;
        const auto call = [&] {
            function_->prepare(draw_stream(), sizes, [&](const cudag::PreparedBucket& one) {
                require(one.done == ++count && one.size < last && one.count >= count, "progress {} of {}: bucket {}",
                        one.done, one.count, one.size);
                last = one.size;
                if (count == stop) throw Planned();
            });
        };
        former_.reset();
        const std::size_t before = calls_;
        if (is_wrong) {
            require_refusal<cudag::GraphError>(call);
        } else {
            try {
                call();
                require(!is_certain || count == added.size(), "{} buckets are prepared, not {}", count, added.size());
                require(!(fails_ && calls_ != before), "an exception of the function is lost");
                require(function_->size() == size + count, "there are {} shapes", function_->size());
                if (is_certain) seen_.insert(added.begin(), added.end());
            } catch (const Planned&) {
                note("  it throws");
                require(fails_ || count == stop, "nothing should throw");
                require(function_->size() == size, "a failed prepare leaves shapes");
            } catch (const cudag::Error& error) {
                note("  refused: {}", error.what());
                require(is_released_ || !is_certain || seen_.size() + added.size() > capacity_,
                        "a prepare is refused: {}", error.what());
                require(function_->size() == size, "a refused prepare leaves shapes");
                ++report->refused;
            }
        }
        fails_ = false;
    }

    void reset() {
        note("reset");
        function_->reset();
        former_.reset();
        seen_.clear();
        require(function_->size() == 0, "there are shapes after a reset");
    }

    void release() {
        const auto contents = static_cast<cudag::KeptContents>(random_.below(3));
        note("release, contents {}", static_cast<int>(contents));
        const std::size_t reserved = pool_->reserved_bytes(), size = function_->size();
        const cudag::ReleasedMemory released = function_->release_memory({contents});
        // a function that has not been called may have no pool yet
        const bool has_pool = released.pools != 0 || released.not_released != 0;
        require(!has_pool || (is_releasable_ ? released.pools : released.not_released) == reserved, "released: {}",
                to_string(released));
        require(size == 0 || reserved == 0 || has_pool, "released: {}", to_string(released));
        is_released_ = pool_->is_released();
        if (is_released_ && contents != cudag::KeptContents::all) former_.reset();
    }

    void restore() {
        note("restore");
        function_->restore_memory();
        is_released_ = false;
        require(!pool_->is_released(), "a restored pool is released");
    }

    Bench& bench_;
    Random random_;
    std::optional<cudag::CapturePool> pool_;
    bool is_releasable_ = false, is_released_ = false;
    unsigned a_elements_ = 1, b_elements_ = 1, out_elements_ = 1;
    std::uint32_t salt_ = 0;
    bool breaks_ = false, pads_ = true, cuts_ = true;
    cudag::Bucket bucket_;
    std::size_t capacity_ = 1;
    std::size_t calls_ = 0; ///< of the function
    bool fails_ = false;    ///< the function throws
    cudag::DeviceBuffer<std::uint32_t> out_{std::size_t{largest_bucket} * 2 * most_elements}, total_{1};
    std::optional<Graphed> function_;
    std::set<Shape> seen_; ///< since the last reset: all have graphs, as long as there is room
    std::optional<WordSpan> former_;
    std::vector<std::uint32_t> former_words_;
    std::deque<std::vector<std::uint32_t>> vectors_;
    std::deque<cudag::DeviceBuffer<std::uint32_t>> buffers_;
    std::vector<Expected> expected_;
    std::size_t taken_ = 0;
    std::size_t forwards_ = 0;
    unsigned last_stream_ = 0;
};

} // namespace

void fuzz_buckets(Bench& bench, std::uint64_t seed) {
    switch (seed % 4) {
    case 0:
        return run_leaving_nothing<BucketsFuzz<cudaStream_t>>(bench, seed);
    case 1:
        return run_leaving_nothing<BucketsFuzz<cudaStream_t, cudag::Valid>>(bench, seed);
    case 2:
        return run_leaving_nothing<BucketsFuzz<cudag::Steps&>>(bench, seed);
    default:
        return run_leaving_nothing<BucketsFuzz<cudag::Steps&, cudag::Valid>>(bench, seed);
    }
}
