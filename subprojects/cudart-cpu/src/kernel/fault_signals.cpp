// Faults of kernels: signals that would end the process.
#include "fault_signals.hpp"

#include "cpp_run.hpp"
#include "grid_run.hpp"
#include "runtime/text.hpp"

#include <cudart_cpu/control.hpp>

#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CUDART_CPU_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CUDART_CPU_SANITIZED 1
#endif
#endif

namespace cudart_cpu::detail {

#ifdef CUDART_CPU_SANITIZED

// Sanitizers report more about such an access than this handler could.
FaultSignals::FaultSignals() = default;
FaultSignals::~FaultSignals() = default;

#else

namespace {

constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

/// The program's own handlers.
struct sigaction own_handlers[NSIG];
/// Whether this thread has passed the signal on: a handler that raises it again must not get it back for ever.
thread_local bool passed_on[NSIG];

void pass_on(int signal, siginfo_t* info, void* context) {
    const struct sigaction& handler = own_handlers[signal];
    const bool is_raised = info->si_code <= 0;
    const bool is_default = handler.sa_handler == SIG_DFL || handler.sa_handler == SIG_IGN;
    if (is_default || (is_raised && passed_on[signal])) {
        std::signal(signal, SIG_DFL);
        if (is_raised) raise(signal); // another fault comes by itself
        return;
    }
    passed_on[signal] = true;
    if ((handler.sa_flags & SA_SIGINFO) != 0)
        handler.sa_sigaction(signal, info, context);
    else
        handler.sa_handler(signal);
}

/// Whether the thread itself has caused the signal: by an instruction, or by abort().
bool is_raised_here(int signal, const siginfo_t& info) {
    return signal == SIGABRT ? info.si_code == SI_TKILL && info.si_pid == getpid() : info.si_code > 0;
}

Fault describe_signal(int signal, const siginfo_t& info, [[maybe_unused]] const void* context) {
    Fault fault{cudaErrorLaunchFailure, {}, false, nullptr, nullptr, nullptr};
#if defined(__x86_64__)
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    fault.instruction = reinterpret_cast<const void*>(registers[REG_RIP]);
    fault.stack_pointer = reinterpret_cast<const void*>(registers[REG_RSP]);
#elif defined(__aarch64__)
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
    fault.instruction = reinterpret_cast<const void*>(registers.pc);
    fault.stack_pointer = reinterpret_cast<const void*>(registers.sp);
#endif
    switch (signal) {
    case SIGBUS:
        if (info.si_code == BUS_ADRALN) {
            fault.code = cudaErrorMisalignedAddress;
            fault.reason = text("access to address ", info.si_addr, ", which is not aligned");
            break;
        }
        [[fallthrough]];
    case SIGSEGV:
        fault.code = cudaErrorIllegalAddress;
        if (info.si_code == SI_KERNEL) { // without the address
            fault.reason = "access to an address that no memory can have";
        } else {
            fault.is_access = true;
            fault.address = info.si_addr;
            fault.reason = text("access to address ", info.si_addr, ", where there is no memory");
        }
        break;
    case SIGFPE:
        fault.reason = "division of an integer by 0, or of the smallest one by -1";
        break;
    case SIGABRT:
        fault.reason = "call of abort()";
        break;
    default:
        fault.code = signal == SIGILL ? cudaErrorIllegalInstruction : cudaErrorLaunchFailure;
        fault.reason = "trap, or an instruction that this processor does not have";
    }
    return fault;
}

void unblock_signal(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void handle(int signal, siginfo_t* info, void* context) {
    const int number = errno;
    if (is_raised_here(signal, *info)) {
        if (Worker* const worker = current_worker(); worker != nullptr && worker->in_kernel) {
            worker->in_kernel = false; // a second fault, in here, is the process's
            unblock_signal(signal);
            worker->fail_at(describe_signal(signal, *info, context));
        }
        if (CppRun* const run = current_cpp_run(); run != nullptr) {
            run->is_left = true; // likewise
            unblock_signal(signal);
            run->fail_at(describe_signal(signal, *info, context));
        }
    }
    errno = number;
    pass_on(signal, info, context);
}

/// A stack for the handler: a kernel at the end of its own stack leaves none.
struct AlternateStack {
    AlternateStack() {
        stack_t now{};
        if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
        memory = std::malloc(bytes);
        stack_t mine{};
        mine.ss_sp = memory;
        mine.ss_size = bytes;
        sigaltstack(&mine, nullptr);
    }
    AlternateStack(const AlternateStack&) = delete;
    AlternateStack& operator=(const AlternateStack&) = delete;
    ~AlternateStack() {
        if (memory == nullptr) return;
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
        std::free(memory);
    }

    static constexpr std::size_t bytes = 64 * 1024;
    void* memory = nullptr;
};

bool is_our_handler(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &handle;
}

void install_handlers() {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    struct sigaction action {};
    action.sa_sigaction = &handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (const int signal : fault_signals) {
        struct sigaction now {};
        if (sigaction(signal, nullptr, &now) != 0 || is_our_handler(now)) continue;
        own_handlers[signal] = now;
        sigaction(signal, &action, nullptr);
    }
}

} // namespace

FaultSignals::FaultSignals() {
    // Frameworks of tests install handlers for each test. The program can do so between calls only, and the first
    // signal stands for all.
    static std::atomic<std::uint64_t> checked_at{~std::uint64_t{0}};
    const std::uint64_t calls = call_count();
    if (checked_at.load(std::memory_order_relaxed) != calls) {
        struct sigaction now {};
        if (sigaction(fault_signals[0], nullptr, &now) == 0 && !is_our_handler(now)) install_handlers();
        checked_at.store(calls, std::memory_order_relaxed);
    }
    thread_local const AlternateStack stack;
    static_cast<void>(stack);
}
FaultSignals::~FaultSignals() = default;

#endif

} // namespace cudart_cpu::detail
