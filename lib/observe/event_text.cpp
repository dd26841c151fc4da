// Texts of events.
#include <cudag/observer.hpp>

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <variant>

namespace cudag {

namespace {

std::string one_line(std::string_view text) {
    std::string line;
    for (const char c : text)
        if (c == '\n')
            line += "; ";
        else if (static_cast<unsigned char>(c) < 0x20)
            line += ' ';
        else
            line += c;
    return line;
}

struct EventText {
    std::string operator()(const ObservedInstantiation& event) const {
        return fmt::format("instantiated {} in {:.3f} ms: {} node{}, {} edge{}; plan: {}", event.name,
                           event.milliseconds, event.nodes, event.nodes == 1 ? "" : "s", event.edges,
                           event.edges == 1 ? "" : "s", event.plan);
    }
    std::string operator()(const ObservedUpdate& event) const {
        return fmt::format("updated an exec to {} {} in {:.3f} ms", event.name, event.method, event.milliseconds);
    }
    std::string operator()(const ObservedRefusal& event) const {
        return fmt::format("refused: {} of {}: {}", event.attempt, event.name, event.reason);
    }
    std::string operator()(const ObservedEviction& event) const {
        return fmt::format("{} evicted {}; evictions: {}", event.cache, event.entry, event.evictions);
    }
    std::string operator()(const ObservedMiss& event) const {
        return fmt::format("{} missed {}; consecutive misses: {}", event.cache, event.entry, event.consecutive);
    }
    std::string operator()(const ObservedFallback& event) const {
        return fmt::format("{} at {}:{} ran eagerly{}: {}", event.caller, event.location.file, event.location.line,
                           event.step.empty() ? std::string() : fmt::format(", because of step \"{}\"", event.step),
                           event.reason);
    }
    std::string operator()(const ObservedFailure& event) const { return event.text; }
    std::string operator()(const ObservedProbe& event) const { return event.text; }
    std::string operator()(const ObservedCrowding& event) const {
        return fmt::format("{} has no room for {} key{} of {} eager runs, and {} came back after eviction; capacity {} "
                           "would keep them, instead of {}",
                           event.cache, event.keys, event.keys == 1 ? "" : "s", event.runs, event.returns, event.needed,
                           event.capacity);
    }
};

} // namespace

std::string to_string(const Observation& event) {
    return one_line(std::visit(EventText(), event.event));
}

} // namespace cudag
