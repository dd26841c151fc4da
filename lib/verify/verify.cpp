// verify(): the runs from equal memory, and the search for the first node with another output.
#include <cudag/verify.hpp>

#include "compared_memory.hpp"
#include "cuda/failure.hpp"
#include "graph_steps.hpp"
#include "known_writes.hpp"

#include <cudag/capture.hpp>
#include <cudag/diff.hpp>
#include <cudag/exec.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace cudag {

namespace detail {

namespace {

/// Two results of equal work, and their differences.
struct Compared {
    Contents expected;
    Contents actual;
    std::vector<ByteRange> differences;
};

std::size_t size_of(std::size_t element_bytes) {
    return std::max<std::size_t>(element_bytes, 1);
}

/// The number of elements of `size` bytes, counted from `origin`, with bytes in `ranges`.
std::size_t count_elements(const std::vector<ByteRange>& ranges, std::uintptr_t origin, std::size_t size) {
    std::size_t count = 0;
    std::optional<std::size_t> counted; // the last one
    for (const ByteRange& range : ranges) {
        const std::size_t first = (range.begin - origin) / size, last = (range.end - 1 - origin) / size;
        count += last - first + (counted == first ? 0 : 1);
        counted = last;
    }
    return count;
}

/// The runs of one verification.
class Verifier {
  public:
    Verifier(const Graph& graph, StreamRef stream, const VerifyOptions& options)
        : graph_(graph), stream_(stream), options_(options), known_(known_accesses(graph, options)),
          memory_(known_.written(options), options.memory) {
        checked(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
        before_ = memory_.save();
        result_.unverified = known_.unverified;
        result_.bytes = memory_.bytes();
    }

    /// Calls `function`, and restores the memory if it throws.
    template <class Function>
    Verification guarded(const Function& function) {
        try {
            function();
        } catch (...) {
            ignore(cudaStreamSynchronize(stream_.get())); // what was enqueued before the exception
            memory_.restore(before_);
            throw;
        }
        return std::move(result_);
    }

    void compare_with_steps() {
        expected_ = run_steps(nodes());
        if (Compared found = launched(expected_); !found.differences.empty()) located(std::move(found));
        memory_.restore(expected_);
    }

    /// `run` runs the function eagerly, `again` captures it once more.
    void compare_with_run(const std::function<void()>& run, const std::function<Graph()>& again) {
        run();
        checked(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
        expected_ = memory_.save();
        if (Compared found = launched(expected_); !found.differences.empty()) {
            note_changes(again);
            find_cause(std::move(found));
        }
        memory_.restore(expected_);
    }

  private:
    [[nodiscard]] std::size_t nodes() const noexcept { return known_.order.size(); }

    /// Runs the first `count` nodes one after another, from the last known contents before them.
    Contents run_steps(std::size_t count) {
        const bool is_known = known_steps_ <= count;
        memory_.restore(is_known && known_steps_ != 0 ? after_steps_ : before_);
        for (std::size_t place = is_known ? known_steps_ : 0; place < count; ++place) {
            std::vector<bool> only(nodes());
            only[known_.order[place]] = true;
            steps().run(only, stream_);
        }
        return memory_.save();
    }

    /// Runs the first `count` nodes as a graph.
    Contents run_prefix(std::size_t count) {
        memory_.restore(before_);
        std::vector<bool> first(nodes());
        for (std::size_t place = 0; place < count; ++place)
            first[known_.order[place]] = true;
        steps().run(first, stream_);
        return memory_.save();
    }

    GraphSteps& steps() {
        if (!steps_) steps_.emplace(graph_);
        return *steps_;
    }

    /// Launches the whole graph until a result differs.
    Compared launched(const Contents& expected) {
        Exec exec = graph_.instantiate();
        for (unsigned launch = 0; launch < options_.launches; ++launch) {
            memory_.restore(before_);
            run_once(exec, stream_);
            ++result_.launches;
            Contents actual = memory_.save();
            std::vector<ByteRange> differences = memory_.differences(expected, actual);
            if (!differences.empty()) return {expected, std::move(actual), std::move(differences)};
        }
        return {};
    }

    /// Compares the first `count` nodes as a graph with `expected`, that of the same nodes one after another.
    Compared compare_prefix(std::size_t count, const Contents& expected) {
        for (unsigned launch = 0; launch < options_.launches; ++launch) {
            Contents actual = run_prefix(count);
            std::vector<ByteRange> differences = memory_.differences(expected, actual);
            if (!differences.empty()) return {expected, std::move(actual), std::move(differences)};
        }
        return {};
    }

    /// Finds the shortest prefix with a difference, by bisection.
    void located(Compared found) {
        result_.cause = VerifyCause::order;
        std::size_t equal = 0, different = nodes();
        while (options_.locate && different - equal > 1) {
            const std::size_t middle = equal + (different - equal) / 2;
            Contents expected = run_steps(middle);
            if (Compared part = compare_prefix(middle, expected); part.differences.empty()) {
                equal = known_steps_ = middle;
                after_steps_ = std::move(expected);
            } else {
                different = middle;
                found = std::move(part);
            }
        }
        const std::vector<std::uint32_t> writers = attribute(found, different);
        if (!options_.locate || writers.empty()) return;
        if (const std::uint32_t last = known_.order[different - 1]; writers.front() != last)
            result_.disturbed_by = to_string(graph_.nodes()[last]);
        add_inputs(writers.front());
    }

    void find_cause(Compared found) {
        result_.cause = VerifyCause::unknown;
        if (!options_.locate || why_not_stepwise(graph_)) {
            attribute(found, nodes());
            return;
        }
        Contents stepped = run_steps(nodes());
        std::vector<ByteRange> differences = memory_.differences(expected_, stepped);
        if (differences.empty()) return located(std::move(found));
        result_.cause = VerifyCause::recorded;
        attribute({expected_, std::move(stepped), std::move(differences)}, nodes());
    }

    void note_changes(const std::function<Graph()>& again) {
        memory_.restore(expected_);
        try {
            const Graph other = again();
            for (const Difference& difference : diff(graph_, other))
                result_.changes.push_back(to_string(difference));
        } catch (const CaptureError& error) {
            result_.changes.push_back(fmt::format("another capture failed: {}", error.what()));
        }
    }

    /// Adds a difference for each last writer among the first `count` nodes, and returns these nodes, in order.
    std::vector<std::uint32_t> attribute(const Compared& found, std::size_t count) {
        std::vector<ByteRange> rest = found.differences;
        std::vector<std::uint32_t> writers;
        std::vector<VerifiedDifference> differences; // from last to first
        for (std::size_t place = count; place-- > 0;) {
            const std::uint32_t node = known_.order[place];
            std::optional<VerifiedDifference> of_node;
            for (const KnownAccess& access : known_.all) {
                if (access.number != node || !access.writes || rest.empty()) continue;
                WrittenPart part = part_of(rest, access.block);
                rest = std::move(part.rest);
                if (part.written.empty()) continue;
                if (!of_node || part.written.front().begin < of_node->address) {
                    const std::size_t elements = of_node ? of_node->elements : 0;
                    of_node = difference(found, access, part.written.front().begin);
                    of_node->elements = elements;
                }
                of_node->elements += count_elements(part.written, access.block.begin, size_of(access.element_bytes));
            }
            if (!of_node) continue;
            differences.push_back(std::move(*of_node));
            writers.push_back(node);
        }
        std::reverse(writers.begin(), writers.end());
        result_.differences.assign(std::make_move_iterator(differences.rbegin()),
                                   std::make_move_iterator(differences.rend()));
        if (!rest.empty()) result_.differences.push_back(unattributed(found, rest));
        return writers;
    }

    VerifiedDifference difference(const Compared& found, const KnownAccess& access, std::uintptr_t address) const {
        const std::size_t size = size_of(access.element_bytes);
        const std::uintptr_t begin = address - (address - access.block.begin) % size;
        VerifiedDifference difference;
        difference.node = to_string(access.inside);
        difference.label = access.inside.label();
        difference.location = access.inside.location();
        difference.argument = access.argument;
        difference.address = begin;
        difference.element = (begin - access.block.begin) / size;
        difference.expected = value_text(memory_.at(found.expected, begin, size));
        difference.actual = value_text(memory_.at(found.actual, begin, size));
        return difference;
    }

    VerifiedDifference unattributed(const Compared& found, const std::vector<ByteRange>& rest) const {
        VerifiedDifference difference;
        std::size_t size = 1;
        difference.address = rest.front().begin;
        for (const VerifiedRange& range : options_.memory)
            if (difference.address - range.begin() < range.bytes()) {
                size = range.element_bytes();
                difference.element = (difference.address - range.begin()) / size;
                difference.address = range.begin() + difference.element * size;
            }
        difference.elements = count_elements(rest, difference.address, size);
        difference.expected = value_text(memory_.at(found.expected, difference.address, size));
        difference.actual = value_text(memory_.at(found.actual, difference.address, size));
        return difference;
    }

    /// Adds what the node reads in the reference.
    void add_inputs(std::uint32_t node) {
        constexpr std::size_t shown = 4;
        const auto place = std::find(known_.order.begin(), known_.order.end(), node);
        run_steps(static_cast<std::size_t>(place - known_.order.begin()));
        for (const KnownAccess& access : known_.all) {
            if (access.number != node || (access.writes && !reads_too(access))) continue;
            const std::size_t size = size_of(access.element_bytes);
            const std::size_t first_row = access.block.row_bytes / size;
            VerifiedInput input{access.argument, access.block.begin, access.block.end() - access.block.begin, {}};
            for (std::size_t i = 0; i < std::min(shown, first_row); ++i) {
                std::vector<std::byte> element(size);
                checked(cudaMemcpy(element.data(), reinterpret_cast<const void*>(access.block.begin + i * size), size,
                                   cudaMemcpyDefault),
                        "cudaMemcpy");
                input.values += (i == 0 ? "" : ", ") + value_text(element);
            }
            if (first_row > shown) input.values += ", ...";
            result_.differences.front().inputs.push_back(std::move(input));
        }
    }

    /// Whether a writer may read the memory, too: copies and fills do not.
    static bool reads_too(const KnownAccess& access) {
        const NodeKind kind = access.inside.kind();
        return kind != NodeKind::memcpy && kind != NodeKind::memset && kind != NodeKind::memcpy_batch;
    }

    const Graph& graph_;
    StreamRef stream_;
    const VerifyOptions& options_;
    KnownAccesses known_;
    ComparedMemory memory_;
    Contents before_;
    Contents expected_;
    std::size_t known_steps_ = 0; ///< number of nodes one after another with known contents after them
    Contents after_steps_;
    std::optional<GraphSteps> steps_;
    Verification result_;
};

void require_launches(const VerifyOptions& options, const SourceLocation& location) {
    if (options.launches == 0)
        refuse("launches is 0; compare at least one", Subject{fmt::format("verify at {}", location), {}, location});
}

} // namespace

Verification verify_function(StreamRef stream, const std::function<void(cudaStream_t)>& function,
                             const VerifyOptions& options, const SourceLocation& location) {
    require_launches(options, location);
    const auto recorded = [&] { return capture(stream, function, {}, location); };
    checked(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
    const ComparedMemory given(KnownAccesses().written(options), {});
    const Contents before = given.save();
    const Graph graph = recorded();
    given.restore(before); // work outside of the stream has run
    Verifier verifier(graph, stream, options);
    return verifier.guarded([&] { verifier.compare_with_run([&] { function(stream.get()); }, recorded); });
}

} // namespace detail

void VerifiedRange::set_tolerance(double tolerance) {
    if (!(tolerance >= 0)) detail::refuse(fmt::format("a tolerance of {}; it must be at least 0", tolerance));
    tolerance_ = tolerance;
}

Verification verify(const Graph& graph, StreamRef stream, const VerifyOptions& options, SourceLocation location) {
    detail::require_launches(options, location);
    if (const auto why = detail::why_not_stepwise(graph))
        detail::refuse(fmt::format("{}, so the nodes cannot run one by one", *why),
                       detail::Subject{fmt::format("verify at {}", location), {}, location});
    detail::Verifier verifier(graph, stream, options);
    return verifier.guarded([&] { verifier.compare_with_steps(); });
}

} // namespace cudag
