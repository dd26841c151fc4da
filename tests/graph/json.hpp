// A reader of JSON that only says whether a text is valid.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

/// Whether a text is one JSON value.
class JsonReader {
  public:
    [[nodiscard]] static bool is_valid(std::string_view text) {
        JsonReader reader(text);
        return reader.value() && reader.at_end();
    }

  private:
    explicit JsonReader(std::string_view text) : rest_(text) {}

    void skip_space() {
        while (!rest_.empty() && std::strchr(" \t\r\n", rest_.front()) != nullptr)
            rest_.remove_prefix(1);
    }
    bool at_end() {
        skip_space();
        return rest_.empty();
    }
    bool take(std::string_view token) {
        skip_space();
        if (!rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }

    bool value() {
        skip_space();
        if (rest_.starts_with('{')) return list('{', '}', [this] { return string() && take(":") && value(); });
        if (rest_.starts_with('[')) return list('[', ']', [this] { return value(); });
        if (rest_.starts_with('"')) return string();
        return take("true") || take("false") || take("null") || number();
    }

    template <class Item>
    bool list(char open, char close, const Item& item) {
        if (!take({&open, 1})) return false;
        if (take({&close, 1})) return true;
        do
            if (!item()) return false;
        while (take(","));
        return take({&close, 1});
    }

    bool string() {
        if (!take("\"")) return false;
        while (!rest_.empty() && rest_.front() != '"') {
            const auto c = static_cast<unsigned char>(rest_.front());
            if (c < 0x20) return false;
            std::size_t length = 1;
            if (c == '\\') {
                if (rest_.size() < 2 || std::strchr("\"\\/bfnrtu", rest_[1]) == nullptr) return false;
                length = rest_[1] == 'u' ? 6 : 2;
                if (rest_.size() < length) return false;
            }
            rest_.remove_prefix(length);
        }
        return take("\"");
    }

    bool number() {
        const auto digits = [this] {
            const std::size_t count = rest_.find_first_not_of("0123456789");
            const std::size_t length = count == std::string_view::npos ? rest_.size() : count;
            rest_.remove_prefix(length);
            return length != 0;
        };
        if (rest_.starts_with('-')) rest_.remove_prefix(1);
        if (!digits()) return false;
        if (rest_.starts_with('.')) {
            rest_.remove_prefix(1);
            return digits();
        }
        return true;
    }

    std::string_view rest_;
};
