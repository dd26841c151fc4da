// Runs seeds in processes of their own.
#include "jobs.hpp"

#include "report.hpp"

#include <execinfo.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

Report* report = nullptr;

namespace {

constexpr std::uint64_t most_failures = 5; ///< of one process, then it stops

Report* shared_report() {
    void* const memory = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error(std::strerror(errno));
    return new (memory) Report{};
}

void print_failure(const char* name, const Report& of, const std::string& what) {
    const std::uint64_t seed = of.seed;
    std::string text = fmt::format("\n==== {} seed {} ====\n", name, seed);
    text.append(of.text, of.length);
    text += fmt::format("==== {} seed {} failed: {}\n==== again: --only {} --seed {}\n", name, seed, what, name, seed);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

bool run_one(const char* name, std::uint64_t seed, const std::function<void(std::uint64_t)>& run) {
    report->seed = seed;
    report->length = 0;
    std::string what;
    try {
        run(seed);
        ++report->seeds_done;
        return true;
    } catch (const std::exception& error) {
        what = error.what();
    } catch (...) {
        what = "something is thrown that is no std::exception";
    }
    ++report->seeds_done;
    ++report->failures;
    print_failure(name, *report, what);
    return false;
}

/// Says where a process dies, then lets it die; sanitizers say it themselves.
void die(int signal, siginfo_t* info, void* /*context*/) {
    dprintf(STDERR_FILENO, "signal %d about %p on thread %d of %d\n", signal, info->si_addr, gettid(), getpid());
    std::array<void*, 64> frames;
    backtrace_symbols_fd(frames.data(), backtrace(frames.data(), static_cast<int>(frames.size())), STDERR_FILENO);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

void say_where_it_dies() {
    void* frame = nullptr;
    backtrace(&frame, 1);                                         // the first call loads what it needs
    static std::array<std::byte, std::size_t{1} << 16> own_stack; // this thread's may have run over
    const stack_t stack{own_stack.data(), 0, own_stack.size()};
    sigaltstack(&stack, nullptr);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) {
        struct sigaction before {};
        sigaction(signal, nullptr, &before);
        if (before.sa_handler != SIG_DFL) continue;
        struct sigaction action {};
        action.sa_sigaction = &die;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigaction(signal, &action, nullptr);
    }
}

/// Every `step`-th seed from `first` on.
void run_share(const char* name, std::uint64_t first, std::uint64_t end, std::uint64_t step,
               const std::function<void(std::uint64_t)>& run) {
    for (std::uint64_t seed = first; seed < end; seed += step) {
        report->next = seed + step;
        run_one(name, seed, run);
        if (report->failures >= most_failures) return;
    }
}

void add(Totals& totals, const Report& of) {
    totals.seeds += of.seeds_done;
    totals.launches += of.launches;
    totals.faults += of.faults;
    totals.refused += of.refused;
    totals.failures += of.failures;
}

class Worker {
  public:
    Worker(const char* name, const Jobs& jobs, unsigned number, const std::function<void(std::uint64_t)>& run)
        : name_(name), jobs_(jobs), run_(run), report_(shared_report()) {
        start(jobs.from + number);
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    ~Worker() { munmap(report_, sizeof(Report)); }

    [[nodiscard]] const Report& result() const { return *report_; }

    /// Whether it still runs.
    bool look() {
        if (pid_ == 0) return false;
        int status = 0;
        const pid_t ended = waitpid(pid_, &status, WNOHANG);
        if (ended == 0) {
            const auto now = std::chrono::steady_clock::now();
            if (report_->seed != seen_) {
                seen_ = report_->seed;
                since_ = now;
            } else if (now - since_ > std::chrono::seconds(jobs_.timeout)) {
                hangs_ = true;
                kill(pid_, SIGKILL);
                since_ = now;
            }
            return true;
        }
        pid_ = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
        ++report_->failures;
        ++report_->seeds_done;
        print_failure(name_, *report_,
                      std::exchange(hangs_, false) ? fmt::format("it hangs, for {} s", jobs_.timeout)
                      : WIFSIGNALED(status)        ? fmt::format("it dies of signal {}", WTERMSIG(status))
                                                   : fmt::format("it exits with {}", WEXITSTATUS(status)));
        if (report_->failures >= most_failures) return false;
        start(report_->next);
        return true;
    }

  private:
    void start(std::uint64_t first) {
        seen_ = report_->seed;
        since_ = std::chrono::steady_clock::now();
        if (first >= jobs_.from + jobs_.seeds) return;
        std::fflush(nullptr);
        pid_ = fork();
        if (pid_ < 0) throw std::runtime_error(std::strerror(errno));
        if (pid_ != 0) return;
        report = report_;
        say_where_it_dies();
        run_share(name_, first, jobs_.from + jobs_.seeds, jobs_.jobs, run_);
        std::fflush(nullptr);
        std::exit(0);
    }

    const char* name_;
    const Jobs& jobs_;
    const std::function<void(std::uint64_t)>& run_;
    Report* report_;
    pid_t pid_ = 0;
    std::uint64_t seen_ = 0;
    std::chrono::steady_clock::time_point since_;
    bool hangs_ = false;
};

} // namespace

Totals run_seeds(const char* name, const Jobs& jobs, const std::function<void(std::uint64_t)>& run) {
    Totals totals;
    if (jobs.jobs == 0) {
        report = shared_report();
        say_where_it_dies();
        run_share(name, jobs.from, jobs.from + jobs.seeds, 1, run);
        add(totals, *report);
        munmap(report, sizeof(Report));
        return totals;
    }
    std::vector<std::unique_ptr<Worker>> workers;
    for (unsigned i = 0; i < jobs.jobs; ++i)
        workers.push_back(std::make_unique<Worker>(name, jobs, i, run));
    for (bool busy = true; busy;) {
        busy = false;
        for (const auto& worker : workers)
            if (worker->look()) busy = true;
        if (busy) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    for (const auto& worker : workers)
        add(totals, worker->result());
    return totals;
}
