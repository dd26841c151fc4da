// How much memory the graphs of each device use and hold.
#include "call.hpp"
#include "device_model.hpp"
#include "graph_enum.hpp"
#include "graph_memory.hpp"
#include "graph_text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace cudart_cpu::detail {

namespace {

/// The pieces in which graphs get memory.
constexpr std::uint64_t page = std::uint64_t{2} << 20;

std::uint64_t pages(const GraphMemory& memory) {
    return (memory.bytes() + page - 1) / page * page;
}

struct Account {
    std::map<const GraphMemory*, CompletionPtr> in_use; // until when at least
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

/// The number that an attribute stands for.
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

void trim(Account& account) {
    std::erase_if(account.in_use, [&](const auto& one) {
        const auto& [memory, until] = one;
        const bool idle = !memory->is_allocated() && (!until || until->finished());
        if (idle) account.used -= pages(*memory);
        return idle;
    });
    account.reserved = account.used;
}

} // namespace

void use_graph_memory(const GraphMemory& memory, const CompletionPtr& until) {
    const std::lock_guard lock(accounts().mutex);
    Account& account = accounts().of_device[memory.device()];
    if (account.in_use.insert_or_assign(&memory, until).second) account.used += pages(memory);
    account.used_high = std::max(account.used_high, account.used);
    account.reserved = std::max(account.reserved, account.used);
    account.reserved_high = std::max(account.reserved_high, account.reserved);
}

void stop_using_graph_memory(const GraphMemory& memory) {
    const std::lock_guard lock(accounts().mutex);
    Account& account = accounts().of_device[memory.device()];
    if (account.in_use.erase(&memory) != 0) account.used -= pages(memory);
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
        trim(accounts().of_device[device]);
    });
}
