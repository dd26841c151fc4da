// The state of probes: runs, failures, and their reports.
#include <cudag/probe.hpp>

#include "cuda/failure.hpp"
#include "cuda/observing.hpp"
#include "cuda/relaxed_capture.hpp"

#include <cudag/buffer.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <exception>

namespace cudag {

namespace {

constexpr std::size_t most_probe_failures = 16;

std::string probe_name(std::string_view label, const SourceLocation& location) {
    return label.empty() ? fmt::format("probe at {}", location) : fmt::format("probe \"{}\" at {}", label, location);
}

std::string describe_failed_runs(const std::vector<ProbeFailure>& failures) {
    std::string text = "cudag: " + failures.front().text;
    if (failures.size() > 1)
        text += fmt::format("; {} more run{} failed", failures.size() - 1, failures.size() == 2 ? "" : "s");
    return text;
}

ErrorDetails failure_details(const ProbeFailure& failure) {
    ErrorDetails details;
    if (!failure.label.empty()) details.labels.push_back(failure.label);
    details.location = failure.location;
    return details;
}

} // namespace

ProbeError::ProbeError(detail::Passkey, std::vector<ProbeFailure> failures)
    : Error(cudaErrorUnknown, describe_failed_runs(failures), failure_details(failures.front())),
      failures_(std::make_shared<const std::vector<ProbeFailure>>(std::move(failures))) {}

namespace detail {

ProbeState::ProbeState(const ProbeOptions& options, const SourceLocation& location)
    : location_(location), keeps_only_(options.on_failure == OnProbeFailure::record) {}

ProbeState::~ProbeState() = default;

void ProbeState::run() {
    std::string label;
    ProbeRun run{{}, location_, 0};
    {
        const std::lock_guard lock(mutex_);
        label = label_;
        run.number = ++runs_;
    }
    run.label = label;
    const auto failure_of = [&](const ProbeFinding& found) {
        const std::string what = found.has_index
                                     ? fmt::format("element {} is {}: it {}", found.index, found.value, found.problem)
                                     : found.problem;
        return ProbeFailure{label,
                            location_,
                            run.number,
                            found.has_index ? found.index : 0,
                            found.has_index ? found.value : std::string(),
                            fmt::format("{}, run {}: {}", probe_name(label, location_), run.number, what)};
    };
    const auto thrown = [&](const char* what) {
        keep(failure_of({0, {}, fmt::format("the check threw: {}", what), false}));
    };
    std::optional<ProbeFinding> found;
    try {
        found = check(run);
    } catch (const std::exception& exception) {
        thrown(exception.what());
        if (!keeps_only_) throw;
    } catch (...) {
        thrown("an object that is no std::exception");
        if (!keeps_only_) throw;
    }
    if (!found) return;
    ProbeFailure failure = failure_of(*found);
    keep(ProbeFailure(failure));
    if (!keeps_only_) throw ProbeError(Passkey(), {std::move(failure)});
}

void ProbeState::keep(ProbeFailure&& failure) {
    observe([&] { return ObservedProbe{failure.label, failure.location, failure.run, failure.text}; });
    const std::lock_guard lock(mutex_);
    if (failures_.size() < most_probe_failures) failures_.push_back(std::move(failure));
}

void ProbeState::set_label(std::string_view text) {
    const std::lock_guard lock(mutex_);
    label_ = without_nul(text);
}

std::uint64_t ProbeState::runs() const {
    const std::lock_guard lock(mutex_);
    return runs_;
}

std::vector<ProbeFailure> ProbeState::failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
}

void ProbeState::clear() {
    const std::lock_guard lock(mutex_);
    failures_.clear();
}

std::shared_ptr<void> probe_memory(const void* probed, std::size_t count, std::size_t size, Side side,
                                   const SourceLocation& location) {
    const auto subject = [&] { return Subject{probe_name({}, location), {}, location}; };
    if (count == 0) refuse("0 elements to look at; leave the probe out", subject());
    if (probed == nullptr) refuse("the memory to look at is null", subject());
    if (side == Side::host) return nullptr;
    const RelaxedCapture allow_allocation;
    return allocate_pinned(count, size, location);
}

std::optional<ProbeFinding> probe_refused() {
    return ProbeFinding{0, {}, "the check returned false", false};
}

} // namespace detail

detail::ProbeState& Probe::state() const {
    if (!state_) detail::refuse("an empty Probe refers to no probe; use the result of probe()");
    return *state_;
}

bool Probe::has_copy() const {
    static_cast<void>(state());
    return copy_ != MemcpyNode();
}

std::optional<MemcpyNode> Probe::copy() const {
    return has_copy() ? std::optional(copy_) : std::nullopt;
}

Node Probe::reader() const {
    return has_copy() ? Node(copy_) : Node(node_);
}

Probe Probe::label(std::string_view text) const {
    if (has_copy()) copy_.label(std::string(text) + " (copy)");
    node_.label(text);
    state().set_label(text);
    return *this;
}

void Probe::disable(Exec& exec) const {
    if (!has_copy()) return exec.update(node_, [] {});
    const bool was_enabled = exec.is_enabled(copy_);
    exec.disable(copy_);
    try {
        exec.update(node_, [] {});
    } catch (...) {
        if (was_enabled) exec.enable(copy_);
        throw;
    }
}

void Probe::enable(Exec& exec) const {
    const auto run = [state = (static_cast<void>(state()), state_)] { state->run(); };
    if (!has_copy()) return exec.update(node_, run);
    const bool was_enabled = exec.is_enabled(copy_);
    exec.enable(copy_);
    try {
        exec.update(node_, run);
    } catch (...) {
        if (!was_enabled) exec.disable(copy_);
        throw;
    }
}

Probe Probe::inside(const ChildNode& child) const {
    return {detail::Passkey(), has_copy() ? child.inside(copy_) : copy_, child.inside(node_), state_};
}

Probe Probe::in(const Graph& clone) const {
    return {detail::Passkey(), has_copy() ? clone.counterpart(copy_) : copy_, clone.counterpart(node_), state_};
}

std::vector<ProbeFailure> Probe::failures() const {
    return state().failures();
}

void Probe::check() const {
    std::vector<ProbeFailure> all = state().failures();
    if (!all.empty()) throw ProbeError(detail::Passkey(), std::move(all));
}

void Probe::clear() const {
    state().clear();
}

std::uint64_t Probe::runs() const {
    return state().runs();
}

} // namespace cudag
