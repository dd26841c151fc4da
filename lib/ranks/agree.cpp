// agree and plan_of_rank: rounds of all-gathers between ranks.
#include <cudag/agree.hpp>

#include "cuda/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace cudag {

namespace detail {

namespace {

/// The most bytes of a line in a message.
constexpr std::size_t line_bytes = 512;

/// The values of all ranks.
class Ranks {
  public:
    Ranks(const char* attempt, std::size_t count, const AllGather& gather)
        : attempt_(attempt), count_(count), gather_(gather) {
        if (count == 0) refuse(fmt::format("{}: 0 ranks; give the number of ranks, this one included", attempt));
        if (!gather) refuse(fmt::format("{}: the all-gather is empty; give a function", attempt));
    }

    /// Returns the bytes of all ranks, one part after the other.
    [[nodiscard]] std::vector<std::byte> bytes(std::span<const std::byte> mine) const {
        std::vector<std::byte> all(mine.size() * count_);
        gather_(mine, all);
        for (std::size_t rank = 0; rank < count_; ++rank)
            if (std::ranges::equal(std::span(all).subspan(rank * mine.size(), mine.size()), mine)) return all;
        refuse(
            fmt::format("{}: the all-gather of {} bytes for {} ranks does not return what this rank has sent; let it "
                        "fill `all` with the bytes of each rank, in their order",
                        attempt_, mine.size(), count_));
    }
    template <class Value>
    [[nodiscard]] std::vector<Value> values(const Value& mine) const {
        const std::vector<std::byte> all = bytes(std::as_bytes(std::span(&mine, 1)));
        std::vector<Value> list(count_);
        std::memcpy(list.data(), all.data(), all.size());
        return list;
    }

  private:
    const char* attempt_;
    std::size_t count_;
    const AllGather& gather_;
};

template <class Value>
bool are_equal(const std::vector<Value>& values) {
    return std::ranges::all_of(values, [&](const Value& value) { return value == values.front(); });
}

/// Returns the number of equal lines at the beginning, the same on all ranks.
std::size_t common_lines(const Fingerprint& mine, const Ranks& ranks) {
    const auto sizes = ranks.values(static_cast<std::uint64_t>(mine.size()));
    std::size_t equal = 0;
    std::size_t different = static_cast<std::size_t>(*std::ranges::min_element(sizes)) + 1;
    while (equal + 1 < different) {
        const std::size_t middle = equal + (different - equal) / 2;
        (are_equal(ranks.values(mine.hash(middle))) ? equal : different) = middle;
    }
    return equal;
}

using Line = std::array<char, line_bytes>;

/// The beginning of a line of a fingerprint.
Line sent_line(const Fingerprint& mine, std::size_t number) {
    const std::string_view text = number < mine.size() ? std::string_view(mine.lines()[number]) : "no further node";
    Line line{};
    text.copy(line.data(), line.size());
    if (text.size() > line.size()) std::ranges::fill(std::span(line).last(3), '.');
    return line;
}

std::string text_of(const Line& line) {
    return {line.begin(), std::ranges::find(line, '\0')};
}

/// "rank 3", "ranks 0, 2 and 5 others"
std::string ranks_text(const std::vector<std::size_t>& ranks) {
    constexpr std::size_t most = 4;
    const std::size_t shown = ranks.size() <= most ? ranks.size() : most - 1;
    std::string text = fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s",
                                   fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
    if (shown != ranks.size()) text += fmt::format(" and {} others", ranks.size() - shown);
    return text;
}

/// The different lines, each with its ranks, in the order of their first ranks.
std::string lines_text(const std::vector<Line>& lines) {
    constexpr std::size_t most = 4;
    std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
    for (std::size_t rank = 0; rank < lines.size(); ++rank) {
        const std::string line = text_of(lines[rank]);
        const auto same = std::ranges::find(groups, line, &decltype(groups)::value_type::first);
        if (same != groups.end())
            same->second.push_back(rank);
        else
            groups.push_back({line, {rank}});
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(groups.size(), most); ++i)
        text += fmt::format("\n  {}: {}", ranks_text(groups[i].second), groups[i].first);
    if (groups.size() > most) text += fmt::format("\n  and {} other lines", groups.size() - most);
    return text;
}

} // namespace

} // namespace detail

void agree(const Fingerprint& mine, std::size_t ranks, const AllGather& gather) {
    const detail::Ranks all("agree", ranks, gather);
    if (detail::are_equal(all.values(mine.hash()))) return;
    const std::size_t number = detail::common_lines(mine, all);
    const auto lines = all.values(detail::sent_line(mine, number));
    throw RanksDifferError(
        fmt::format(
            "agree: the graphs of {} ranks differ; the first difference:{}\n"
            "A launch would hang or mix up collectives. Make the same nodes in the same order on all ranks: decide "
            "by values that are equal on all of them",
            ranks, detail::lines_text(lines)),
        number);
}

TunedPlan plan_of_rank(std::size_t from, const TunedPlan& mine, std::size_t ranks, const AllGather& gather) {
    const detail::Ranks all("plan_of_rank", ranks, gather);
    if (from >= ranks)
        detail::refuse(fmt::format("plan_of_rank: rank {} of {}; give one from 0 to {}", from, ranks, ranks - 1));
    std::string text = mine.to_string();
    const auto sizes = all.values(static_cast<std::uint64_t>(text.size()));
    const std::size_t most = static_cast<std::size_t>(*std::ranges::max_element(sizes));
    text.resize(most, ' ');
    const std::vector<std::byte> texts = all.bytes(std::as_bytes(std::span(text)));
    text.assign(reinterpret_cast<const char*>(texts.data() + from * most), static_cast<std::size_t>(sizes[from]));
    return TunedPlan::parse(text);
}

} // namespace cudag
