// Accounts of the memory used and held by the graphs of each device.
#include "graph_memory.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

namespace cudart_cpu::detail {

namespace {

/// The size of the pieces in which graphs get memory.
constexpr std::uint64_t chunk = std::uint64_t{32} << 20;

struct Account {
    std::map<const GraphMemory*, CompletionPtr> known; // the memory needed by launches, and until when
    std::uint64_t used = 0;
    std::uint64_t used_high = 0;
    std::uint64_t reserved = 0;
    std::uint64_t reserved_high = 0;
};

struct Accounts {
    std::mutex mutex;
    std::map<int, Account> of_device;
};

Accounts& accounts() {
    static auto& all = *new Accounts;
    return all;
}

/// The number behind an attribute.
std::uint64_t& attribute_of(Account& account, cudaGraphMemAttributeType attribute) {
    switch (const int number = number_in(attribute)) {
    case cudaGraphMemAttrUsedMemCurrent:
        return account.used;
    case cudaGraphMemAttrUsedMemHigh:
        return account.used_high;
    case cudaGraphMemAttrReservedMemCurrent:
        return account.reserved;
    case cudaGraphMemAttrReservedMemHigh:
        return account.reserved_high;
    default:
        fail(cudaErrorInvalidValue, text("attribute ", number, " of graph memory does not exist"));
    }
}

/// Counts allocated memory, and memory needed by pending work; later work shares all other memory.
std::uint64_t needed(const Account& account) {
    std::uint64_t bytes = 0;
    for (const auto& [memory, until] : account.known)
        if (memory->is_allocated() || !until->finished()) bytes += memory->bytes();
    return (bytes + chunk - 1) / chunk * chunk;
}

} // namespace

void use_graph_memory(const std::vector<GraphMemoryPointer>& all, const CompletionPtr& until) {
    if (all.empty()) return;
    const std::lock_guard lock(accounts().mutex);
    Account& account = accounts().of_device[all.front()->device()];
    // Counts the new work as pending even if it has run already.
    const auto pending = std::make_shared<Completion>();
    for (const GraphMemoryPointer& memory : all)
        account.known[memory.get()] = pending;
    account.used = std::max(account.used, needed(account));
    account.used_high = std::max(account.used_high, account.used);
    account.reserved = std::max(account.reserved, account.used);
    account.reserved_high = std::max(account.reserved_high, account.reserved);
    for (const GraphMemoryPointer& memory : all)
        account.known[memory.get()] = until;
}

void forget_graph_memory(const GraphMemory& memory) noexcept {
    const std::lock_guard lock(accounts().mutex);
    accounts().of_device[memory.device()].known.erase(&memory);
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                                          void* value) {
    return api("cudaDeviceGetGraphMemAttribute", [&] {
        require_device(device);
        require_pointer(value, "value");
        const std::lock_guard lock(accounts().mutex);
        const std::uint64_t number = attribute_of(accounts().of_device[device], attribute);
        std::memcpy(value, &number, sizeof number);
    });
}

CUDART_CPU_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                                          void* value) {
    return api("cudaDeviceSetGraphMemAttribute", [&] {
        require_device(device);
        require_pointer(value, "value");
        std::uint64_t number = 0;
        std::memcpy(&number, value, sizeof number);
        const std::lock_guard lock(accounts().mutex);
        Account& account = accounts().of_device[device];
        std::uint64_t& high = attribute_of(account, attribute);
        const bool used = number_in(attribute) == cudaGraphMemAttrUsedMemHigh;
        if (!used && number_in(attribute) != cudaGraphMemAttrReservedMemHigh) {
            fail(cudaErrorInvalidValue, text("attribute ", number_in(attribute), " of graph memory cannot be set"));
        }
        if (number != 0) {
            fail(cudaErrorInvalidValue, "a high watermark can only be set to 0");
        }
        high = used ? account.used : account.reserved;
    });
}

CUDART_CPU_API cudaError_t cudaDeviceGraphMemTrim(int device) {
    return api("cudaDeviceGraphMemTrim", [&] {
        require_device(device);
        const std::lock_guard lock(accounts().mutex);
        Account& account = accounts().of_device[device];
        account.used = account.reserved = needed(account);
    });
}
