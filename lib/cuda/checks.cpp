// The checks that CUDAG_CHECK switches on without a recompile.
#include "checks.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace cudag::detail {

namespace {

constexpr std::array<std::string_view, 2> all_checks{"pools", "recorder"};

/// Calls `visit(name)` for each name in a list with commas.
template <class Visit>
void for_each_check(std::string_view list, const Visit& visit) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        if (end != 0) visit(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
}

/// Returns the list of the environment. Prints its unknown names.
std::string read_checks() {
    const char* const value = std::getenv("CUDAG_CHECK");
    if (value == nullptr) return {};
    for_each_check(value, [](std::string_view name) {
        if (std::ranges::find(all_checks, name) == all_checks.end())
            std::fprintf(stderr, "cudag: CUDAG_CHECK: no check is called \"%s\"; known: pools, recorder\n",
                         std::string(name).c_str());
    });
    return value;
}

} // namespace

bool has_check(std::string_view list, std::string_view name) {
    bool is_on = false;
    for_each_check(list, [&](std::string_view each) { is_on = is_on || each == name; });
    return is_on;
}

bool is_check_on(std::string_view name) {
    static const std::string checks = read_checks();
    return !checks.empty() && has_check(checks, name);
}

} // namespace cudag::detail
