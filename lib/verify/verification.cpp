// Texts of verifications.
#include <cudag/verification.hpp>

#include <fmt/format.h>

#include <string>

namespace cudag {

namespace {

std::string place_text(MemoryArgument argument) {
    return argument == whole_node ? std::string("declared memory") : fmt::format("argument {}", argument);
}

std::string difference_text(const VerifiedDifference& difference) {
    const std::string subject = difference.node.empty()
                                    ? std::string("memory without a known writer")
                                    : fmt::format("{}: {}", difference.node, place_text(difference.argument));
    return fmt::format("{}, element {} at {:#x}: {} expected, {} found; {} element{} differ{}", subject,
                       difference.element, difference.address, difference.expected, difference.actual,
                       difference.elements, difference.elements == 1 ? "" : "s", difference.elements == 1 ? "s" : "");
}

const char* cause_text(VerifyCause cause) {
    switch (cause) {
    case VerifyCause::order:
        return "its nodes one after another give the expected result: an edge is missing";
    case VerifyCause::recorded:
        return "its nodes one after another give another result than the function, too: the function does other work "
               "than was recorded";
    case VerifyCause::unknown:
        return "its nodes did not run one after another, so the cause is unknown";
    case VerifyCause::none:
        break;
    }
    return "";
}

} // namespace

std::string_view to_string(VerifyCause cause) noexcept {
    switch (cause) {
    case VerifyCause::order:
        return "order";
    case VerifyCause::recorded:
        return "recorded";
    case VerifyCause::unknown:
        return "unknown";
    case VerifyCause::none:
        break;
    }
    return "none";
}

std::string Verification::to_string() const {
    std::string text;
    if (equal()) {
        text = fmt::format("equal: {} byte{} after {} launch{}\n", bytes, bytes == 1 ? "" : "s", launches,
                           launches == 1 ? "" : "es");
    } else {
        text = fmt::format("launch {} of the graph differs; {}\n", launches, cause_text(cause));
        for (const VerifiedDifference& difference : differences) {
            text += fmt::format("{}: {}\n", &difference == &differences.front() ? "first" : "then",
                                difference_text(difference));
            for (const VerifiedInput& input : difference.inputs)
                text += fmt::format("  it reads {}, {} bytes at {:#x}: {}\n", place_text(input.argument), input.bytes,
                                    input.begin, input.values);
        }
        if (!disturbed_by.empty()) text += fmt::format("the difference comes with {}\n", disturbed_by);
        for (const std::string& change : changes)
            text += fmt::format("another capture differs: {}\n", change);
    }
    for (const std::string& node : unverified)
        text += fmt::format("not verified: {}\n", node);
    return text;
}

} // namespace cudag
