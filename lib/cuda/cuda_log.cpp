// Reads CUDA's log buffer: lines like "[time][thread][CUDA][E] text", ended by "Returning <code> (<NAME>) from <call>".
#include "cuda_log.hpp"

#include "compat.hpp"
#include "failure.hpp"
#include "thread_state.hpp"

#include <fmt/format.h>

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace cudag::detail {

namespace {

/// The driver's functions, because the runtime has them only from 13.0 on.
struct LogFunctions {
    CUresult(CUDAAPI* current)(unsigned* next, unsigned flags) = nullptr;
    CUresult(CUDAAPI* dump_to_memory)(unsigned* next, char* text, std::size_t* size, unsigned flags) = nullptr;
};

struct Unanswered {};

/// The status of `question`. Its failure becomes the last error only if there was a last error before.
template <class Question>
cudaError_t answer(const Question& question) {
    const cudaError_t earlier = cudaPeekAtLastError();
    const cudaError_t status = question();
    if (earlier == cudaSuccess) ignore(status);
    return status;
}

/// Throws Unanswered if CUDA does not answer.
template <class F>
void fetch_log_function(F& function, const char* name, unsigned since) {
    void* address = nullptr;
    const cudaError_t status = answer([&] { return compat::driver_entry_point(name, since, &address); });
    // The status of a runtime older than the requested function.
    if (status != cudaSuccess && status != cudaErrorInvalidValue) throw Unanswered();
    function = status == cudaSuccess ? reinterpret_cast<F>(address) : nullptr;
}

/// Returns null functions for an older driver, without querying it: a failed query would be the last error.
LogFunctions fetch_log_functions() {
    constexpr unsigned since = 12090;
    int driver = 0;
    if (answer([&] { return cudaDriverGetVersion(&driver); }) != cudaSuccess) throw Unanswered();
    LogFunctions found;
    if (driver < static_cast<int>(since)) return found;
    fetch_log_function(found.current, "cuLogsCurrent", since);
    fetch_log_function(found.dump_to_memory, "cuLogsDumpToMemory", since);
    return found;
}

LogFunctions log_functions() noexcept {
    try {
        static const LogFunctions fetched = fetch_log_functions();
        return fetched;
    } catch (const Unanswered&) {
        return {};
    }
}

/// The text of the lines from `position` on; moves `position` behind them. CUDA keeps 100.
std::string dump_log(unsigned& position) {
    const LogFunctions log = log_functions();
    if (log.dump_to_memory == nullptr) return {};
    constexpr std::size_t limit = 25600; // CUDA's maximum
    constexpr std::size_t slack = 256;   // driver 580 writes up to 96 bytes past the given size
    std::string text(limit + slack, '\0');
    std::size_t size = limit;
    if (log.dump_to_memory(&position, text.data(), &size, 0) != CUDA_SUCCESS) size = 0;
    text.resize(size);
    return text;
}

/// The id of this thread, in the log's form.
std::string this_thread() {
    return fmt::format("{}", pthread_self());
}

constexpr std::string_view returning = "Returning ";

/// Calls `read(thread, message)` for each error in `text`.
template <class Read>
void for_each_message(std::string_view text, const Read& read) {
    constexpr std::string_view end_of_prefix = "][CUDA][E] ";
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const std::size_t end = line.find(end_of_prefix);
        if (end == std::string_view::npos) continue;
        const std::size_t thread = line.rfind('[', end) + 1;
        read(line.substr(thread, end - thread), line.substr(end + end_of_prefix.size()));
    }
}

/// The joined lines of an unfinished failure.
struct Causes {
    std::string text;
    std::size_t before_last = 0; ///< the length of the text without the last line

    void append(std::string_view message) {
        before_last = text.size();
        if (!text.empty()) text += "; ";
        text += message;
    }
    void forget_last() { text.resize(std::min(before_last, text.size())); }
};

/// Whether cudag causes this failure on purpose: before 13.2 it counts a kernel's parameters by requesting one too many
/// (see parameters_of).
bool is_end_of_parameters(std::string_view message) {
    return message.starts_with("Returning 1 ") && message.ends_with(" from cuFuncGetParamInfo");
}

} // namespace

std::string take_cuda_log(cudaError_t status) {
    return causes_in(dump_log(thread_state.log_position), this_thread(), status);
}

std::string causes_in(std::string_view text, std::string_view own, cudaError_t status) {
    const std::string this_failure = fmt::format("{}{} ", returning, static_cast<int>(status));
    Causes causes;      // of the unfinished failure
    std::string latest; // of the latest failure with `status`, and all text after it
    for_each_message(text, [&](std::string_view thread, std::string_view message) {
        if (thread != own) return;
        if (is_end_of_parameters(message)) {
            causes.forget_last();
        } else if (message.starts_with(returning)) {
            latest = message.starts_with(this_failure) ? causes.text : std::string();
            causes = {};
        } else {
            causes.append(message);
        }
    });
    return causes.text.empty() ? latest : causes.text; // failures in the runtime itself have no "Returning" line
}

LogPosition log_position() noexcept {
    const LogFunctions log = log_functions();
    unsigned next = 0;
    if (log.current == nullptr || log.current(&next, 0) != CUDA_SUCCESS) return std::nullopt;
    return next;
}

std::vector<LoggedFailure> failures_since(LogPosition position) {
    if (!position) return {};
    return failures_in(dump_log(*position), this_thread());
}

std::vector<LoggedFailure> failures_in(std::string_view text, std::string_view own) {
    std::map<std::string_view, Causes> causes; // by thread, of the unfinished failure
    std::vector<LoggedFailure> found;
    for_each_message(text, [&](std::string_view thread, std::string_view message) {
        if (!message.starts_with(returning)) return causes[thread].append(message);
        if (is_end_of_parameters(message)) return causes[thread].forget_last();
        int code = 0;
        std::from_chars(message.data() + returning.size(), message.data() + message.size(), code);
        constexpr std::string_view from = " from ";
        const std::size_t call = message.rfind(from);
        found.push_back(
            {static_cast<cudaError_t>(code),
             std::string(call == std::string_view::npos ? std::string_view() : message.substr(call + from.size())),
             std::exchange(causes[thread], {}).text, thread == own});
    });
    for (auto& [thread, rest] : causes)
        if (!rest.text.empty()) found.push_back({cudaSuccess, {}, std::move(rest.text), thread == own});
    return found;
}

} // namespace cudag::detail
