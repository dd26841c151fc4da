// The text of a HostError.
#include "cuda/demangled.hpp"

#include <cudag/host_error.hpp>

#include <fmt/format.h>

#include <cxxabi.h>

#include <algorithm>
#include <utility>

namespace cudag {

namespace {

/// The type of the handled exception, in C++ syntax.
std::string current_type() {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return type == nullptr ? "an exception" : detail::demangled(type->name());
}

/// A description: `host "check" at a.cpp:12 threw std::runtime_error: too cold`
std::string describe(const HostFailure& failure) {
    try {
        std::rethrow_exception(failure.exception);
    } catch (const std::exception& error) {
        return fmt::format("{} threw {}: {}", failure.node, current_type(), error.what());
    } catch (...) {
        return fmt::format("{} threw {}", failure.node, current_type());
    }
}

std::string describe(const std::vector<HostFailure>& failures) {
    constexpr std::size_t shown = 10;
    std::string text = "cudag: " + describe(failures.front());
    for (std::size_t i = 1; i < std::min(shown, failures.size()); ++i)
        text += "; " + describe(failures[i]);
    if (failures.size() > shown) text += fmt::format("; and {} more", failures.size() - shown);
    return text;
}

cudaError_t code_of(const std::exception_ptr& exception) {
    try {
        std::rethrow_exception(exception);
    } catch (const Error& error) {
        return static_cast<cudaError_t>(error.code().value());
    } catch (...) {
        return cudaErrorUnknown;
    }
}

ErrorDetails details_of(const std::vector<HostFailure>& failures) {
    ErrorDetails details{{}, {}, {}, failures.front().location};
    for (const HostFailure& failure : failures)
        details.labels.push_back(failure.label);
    return details;
}

} // namespace

HostError::HostError(detail::Passkey, std::shared_ptr<const std::vector<HostFailure>> failures)
    : Error(code_of(failures->front().exception), describe(*failures), details_of(*failures)),
      failures_(std::move(failures)) {}

} // namespace cudag
