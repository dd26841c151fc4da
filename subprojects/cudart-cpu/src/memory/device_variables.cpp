// The memory of the known device variables.
#include "device_variables.hpp"

#include <iterator>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace cudart_cpu::detail {

namespace {

struct VariableTable {
    std::shared_mutex mutex;
    std::map<const char*, std::size_t> bytes;
};

/// The table is never destroyed: variables may be used after main().
VariableTable& variable_table() {
    static auto* table = new VariableTable;
    return *table;
}

Range range_of_variable(const char* base, std::size_t bytes) {
    return {const_cast<char*>(base), bytes, cudaMemoryTypeDevice};
}

} // namespace

void note_variable(const void* base, std::size_t bytes) {
    const std::unique_lock lock(variable_table().mutex);
    variable_table().bytes.insert_or_assign(static_cast<const char*>(base), bytes);
}

void forget_variable(const void* base) noexcept {
    const std::unique_lock lock(variable_table().mutex);
    variable_table().bytes.erase(static_cast<const char*>(base));
}

std::optional<Range> variable_at(const void* base) {
    const std::shared_lock lock(variable_table().mutex);
    const auto found = variable_table().bytes.find(static_cast<const char*>(base));
    if (found == variable_table().bytes.end()) return std::nullopt;
    return range_of_variable(found->first, found->second);
}

std::optional<Range> find_variable(const void* pointer) {
    const auto* const address = static_cast<const char*>(pointer);
    const std::shared_lock lock(variable_table().mutex);
    const auto after = variable_table().bytes.upper_bound(address);
    if (after == variable_table().bytes.begin()) return std::nullopt;
    const auto& [base, bytes] = *std::prev(after);
    if (static_cast<std::size_t>(address - base) >= bytes) return std::nullopt;
    return range_of_variable(base, bytes);
}

} // namespace cudart_cpu::detail
