// Faults: accesses of kernels to memory missing in the process.
#include "fault_signals.hpp"

#include "grid_run.hpp"
#include "runtime/text.hpp"

#include <csignal>
#include <cstdlib>
#include <mutex>

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

struct sigaction before_segv;
struct sigaction before_bus;

void handle(int signal, siginfo_t* info, void* context) {
    Worker* const worker = current_worker();
    if (worker != nullptr && worker->in_kernel) {
        worker->in_kernel = false; // a second fault, in here, is the process's
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, signal);
        pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
        worker->fail_at(info->si_addr);
    }
    const struct sigaction& before = signal == SIGSEGV ? before_segv : before_bus;
    if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr)
        return before.sa_sigaction(signal, info, context);
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
    std::signal(signal, SIG_DFL); // the repeated access ends the process
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

} // namespace

FaultSignals::FaultSignals() {
    static std::once_flag installed;
    std::call_once(installed, [] {
        struct sigaction action {};
        action.sa_sigaction = &handle;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        sigaction(SIGSEGV, &action, &before_segv);
        sigaction(SIGBUS, &action, &before_bus);
    });
    thread_local const AlternateStack stack;
    static_cast<void>(stack);
}
FaultSignals::~FaultSignals() = default;

#endif

} // namespace cudart_cpu::detail
