// The parts of lines: words, numbers and quoted texts.
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

namespace cudag::detail {

/// Throws GraphError: line `number` of a text is `line`.
[[noreturn]] void refuse_text_line(std::size_t number, std::string_view line, std::string_view expected);

/// The text in quotes, in one line of printable characters.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// Reads a line from its beginning. A function that returns false has taken nothing.
class LineReader {
  public:
    LineReader(std::string_view line, std::size_t number) noexcept : rest_(line), whole_(line), number_(number) {}

    [[nodiscard]] bool take(std::string_view text) noexcept {
        if (!rest_.starts_with(text)) return false;
        rest_.remove_prefix(text.size());
        return true;
    }
    template <class Number>
    [[nodiscard]] bool take_value(Number& value) noexcept {
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc()) return false;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return true;
    }
    /// Takes a quoted text.
    [[nodiscard]] bool take_quoted(std::string& text);
    /// Takes the characters before any of `ends`, at least one.
    [[nodiscard]] bool take_until(std::string_view ends, std::string_view& text) noexcept;

    void require(std::string_view text, std::string_view expected) {
        if (!take(text)) refuse(expected);
    }
    template <class Number>
    [[nodiscard]] Number number(std::string_view expected) {
        Number value{};
        if (!take_value(value)) refuse(expected);
        return value;
    }
    void require_end(std::string_view expected) const {
        if (!rest_.empty()) refuse(expected);
    }
    [[noreturn]] void refuse(std::string_view expected) const { refuse_text_line(number_, whole_, expected); }

    [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
    [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

  private:
    std::string_view rest_;
    std::string_view whole_;
    std::size_t number_;
};

} // namespace cudag::detail
