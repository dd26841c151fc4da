// The error hierarchy and the category of CUDA's codes.
#include <cudag/error.hpp>
#include <cudag/format.hpp>

#include "failure.hpp"

#include <utility>

namespace cudag {

namespace {

class CudaCategory final : public std::error_category {
  public:
    [[nodiscard]] const char* name() const noexcept override { return "cuda"; }
    [[nodiscard]] std::string message(int code) const override {
        return cudaGetErrorString(static_cast<cudaError_t>(code));
    }
};

} // namespace

const std::error_category& cuda_category() noexcept {
    static const CudaCategory category; // a constant
    return category;
}

struct Error::Content {
    std::string text;
    ErrorDetails details;
};

Error::Error(cudaError_t code, const std::string& text, ErrorDetails details)
    : std::system_error(static_cast<int>(code), cuda_category()),
      content_(std::make_shared<const Content>(Content{detail::without_nul(text), std::move(details)})) {}

const char* Error::what() const noexcept {
    return content_->text.c_str();
}
const std::string& Error::operation() const noexcept {
    return content_->details.operation;
}
const std::string& Error::log() const noexcept {
    return content_->details.log;
}
const std::vector<std::string>& Error::labels() const noexcept {
    return content_->details.labels;
}
const SourceLocation& Error::location() const noexcept {
    return content_->details.location;
}

void check(cudaError_t status, SourceLocation location) {
    if (status == cudaSuccess) [[likely]]
        return;
    detail::raise_call<Error>(status, "check", {fmt::format("call at {}", location), {}, location});
}

} // namespace cudag
