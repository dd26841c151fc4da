// Nodes that have begun and not ended, in errors.
#include "unfinished.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace cudag::detail {

namespace {

std::atomic<ListUnfinished> unfinished_list = nullptr;

} // namespace

void set_unfinished_list(ListUnfinished list) noexcept {
    unfinished_list.store(list, std::memory_order_release);
}

std::optional<std::vector<UnfinishedNode>> list_unfinished() {
    const ListUnfinished list = unfinished_list.load(std::memory_order_acquire);
    return list == nullptr ? std::nullopt : list();
}

bool is_fault(cudaError_t status) noexcept {
    switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorExternalDevice:
        return true;
    default:
        return status >= cudaErrorHardwareStackError && status <= cudaErrorLaunchFailure;
    }
}

std::string describe_unfinished(std::span<const UnfinishedNode> nodes, std::vector<std::string>& labels) {
    if (nodes.empty()) return "; no node of a recorded Exec has begun and not ended";
    constexpr std::size_t most = 10;
    std::string text = "; nodes begun and not ended: ";
    for (std::size_t i = 0; i < std::min(nodes.size(), most); ++i) {
        const UnfinishedNode& node = nodes[i];
        text += fmt::format("{}{}", i == 0 ? "" : ", ", node.description);
        for (std::size_t around = node.outer.size(); around > 1; --around) // the description names the innermost
            text += fmt::format(", inside {}", node.outer[around - 2]);
        labels.push_back(node.label);
    }
    if (nodes.size() > most) text += fmt::format(", and {} more", nodes.size() - most);
    return text;
}

} // namespace cudag::detail
