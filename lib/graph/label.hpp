// The label of a node.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace cudag::detail {

/// A text shared by all nodes with this label, in a graph and its clones. It lives as long as the last of them.
class Label {
  public:
    Label() noexcept = default;
    explicit Label(std::string_view text) : text_(text.empty() ? nullptr : std::make_shared<const std::string>(text)) {}

    [[nodiscard]] bool empty() const noexcept { return text_ == nullptr; }
    operator std::string_view() const noexcept {
        return text_ == nullptr ? std::string_view() : std::string_view(*text_);
    }

  private:
    std::shared_ptr<const std::string> text_;
};

} // namespace cudag::detail
