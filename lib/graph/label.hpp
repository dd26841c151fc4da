// The text that names a node.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace cudag::detail {

/// One text for all nodes, of a graph and of its clones, that were named with it; gone with the last of them.
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
