// printf in kernels.
#include "device_print.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace cudart_cpu::detail {

namespace {

/// The packed arguments, each at its own alignment.
class Arguments {
  public:
    explicit Arguments(const void* begin) : begin_(static_cast<const char*>(begin)) {}

    template <class T>
    T take() {
        at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        T value{};
        if (begin_ != nullptr) std::memcpy(&value, begin_ + at_, sizeof value);
        at_ += sizeof(T);
        ++count_;
        return value;
    }
    [[nodiscard]] unsigned count() const noexcept { return count_; }

  private:
    const char* begin_;
    std::size_t at_ = 0;
    unsigned count_ = 0;
};

template <class... T>
void append(std::string& out, const std::string& format, T... values) {
    char small[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int length = std::snprintf(small, sizeof small, format.c_str(), values...);
    if (length < 0) return;
    const auto bytes = static_cast<std::size_t>(length);
    if (bytes < sizeof small) {
        out.append(small, bytes);
        return;
    }
    std::string large(bytes + 1, '\0');
    std::snprintf(large.data(), large.size(), format.c_str(), values...);
#pragma GCC diagnostic pop
    large.resize(bytes);
    out += large;
}

} // namespace

unsigned print_from_kernel(const char* format, const void* packed) {
    std::string out;
    Arguments arguments(packed);
    for (const char* at = format; *at != '\0';) {
        if (*at != '%') {
            out += *at++;
            continue;
        }
        if (at[1] == '%') {
            out += '%';
            at += 2;
            continue;
        }
        std::string spec = "%";
        ++at;
        const auto number_or_star = [&] {
            if (*at == '*') {
                spec += std::to_string(arguments.take<std::int32_t>());
                ++at;
            }
            while (*at >= '0' && *at <= '9')
                spec += *at++;
        };
        while (*at != '\0' && std::strchr("-+ #0", *at) != nullptr)
            spec += *at++;
        number_or_star();
        if (*at == '.') {
            spec += *at++;
            number_or_star();
        }
        bool is_long = false;
        while (*at != '\0' && std::strchr("hljztL", *at) != nullptr) {
            is_long = is_long || std::strchr("ljzt", *at) != nullptr;
            ++at;
        }
        const char conversion = *at;
        if (conversion == '\0') break;
        ++at;
        switch (conversion) {
        case 'd':
        case 'i':
            append(out, spec + "ll" + conversion,
                   is_long ? static_cast<long long>(arguments.take<std::int64_t>())
                           : static_cast<long long>(arguments.take<std::int32_t>()));
            break;
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            append(out, spec + "ll" + conversion,
                   is_long ? static_cast<unsigned long long>(arguments.take<std::uint64_t>())
                           : static_cast<unsigned long long>(arguments.take<std::uint32_t>()));
            break;
        case 'c':
            append(out, spec + conversion, static_cast<int>(arguments.take<std::int32_t>()));
            break;
        case 's':
            append(out, spec + conversion, arguments.take<const char*>());
            break;
        case 'p':
            append(out, spec + conversion, arguments.take<const void*>());
            break;
        case 'e':
        case 'E':
        case 'f':
        case 'F':
        case 'g':
        case 'G':
        case 'a':
        case 'A':
            append(out, spec + conversion, arguments.take<double>());
            break;
        default:
            out += spec + conversion;
        }
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    return arguments.count();
}

} // namespace cudart_cpu::detail
