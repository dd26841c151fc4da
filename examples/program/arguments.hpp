// The arguments of a program, read one by one.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "program.hpp"

namespace example {

/// Reads options, their values, and other arguments:
///
///     Arguments arguments(all);
///     while (arguments.next())
///         if (arguments.is("--repeat")) repeat = arguments.number(1, 1000);
///         else arguments.refuse();
///
/// Borrows the list.
class Arguments {
  public:
    explicit Arguments(const std::vector<std::string>& all) : rest_(all.begin()), end_(all.end()) {}

    /// Goes on to the next argument. Returns false after the last one.
    bool next() {
        if (rest_ == end_) return false;
        name_ = &*rest_++;
        return true;
    }
    const std::string& name() const { return *name_; }
    bool is(std::string_view name) const { return *name_ == name; }

    /// Returns the value after the option. Throws BadInput if there is none.
    const std::string& value();
    /// Returns the value as a whole number. Throws BadInput if it is none, or not from `least` to `most`.
    int number(int least, int most);
    /// Returns the value as a number above 0 and at most 1. Throws BadInput if it is none.
    template <class Number>
    Number fraction() {
        const std::string& text = value();
        Number found = 0;
        if (!parse(text, found) || !(found > 0) || found > 1) {
            throw BadInput(name() + " takes a number above 0, at most 1, not '" + text + "'");
        }
        return found;
    }
    /// Throws BadInput: the option is unknown.
    [[noreturn]] void refuse() const;

    /// Returns whether the whole text is a number, and sets it.
    template <class Number>
    static bool parse(std::string_view text, Number& number) {
        const char* const end = text.data() + text.size();
        const auto [parsed, error] = std::from_chars(text.data(), end, number);
        return error == std::errc{} && parsed == end;
    }

  private:
    std::vector<std::string>::const_iterator rest_;
    std::vector<std::string>::const_iterator end_;
    const std::string* name_ = nullptr; ///< the argument that `next` went to
};

} // namespace example
