// Runs operations so that a call, or an allocation, in the middle of them fails.
#pragma once

#include "random.hpp"
#include "report.hpp"
#include "runtime.hpp"

#include <cudag/error.hpp>

#include <cstdint>
#include <new>
#include <utility>

/// What an injected failure is known by.
constexpr cudaError_t injected_code = cudaErrorMemoryAllocation;

/// What a capture that could not be undone has destroyed, as cudag says.
struct BuilderLost {};

class Injector {
  public:
    Injector(Faults faults, Random& random) : faults_(faults), random_(random) {}

    [[nodiscard]] bool active() const { return faults_ != Faults::off; }
    /// Whether a call failed without an error: what it was to destroy is still alive then.
    [[nodiscard]] bool ignored() const { return ignored_; }
    /// What a broken capture leaves of a graph that it was a part of, is left.
    void leave() { ignored_ = true; }

    /// Calls `operation()`, a few times if faults are injected: each time it fails, it must have changed nothing, which
    /// `verify()` checks, and the last time it does what it is to do.
    template <class Operation, class Verify>
    void run(const char* what, Operation&& operation, Verify&& verify) {
        if (!active() || inside_ || !random_.percent(60)) {
            operation();
            return;
        }
        std::uint64_t n = random_.between(1, 6);
        for (int attempt = 0; attempt < 3; ++attempt) {
            if (!fails(what, n, operation)) return;
            verify();
            n += random_.between(1, 8);
        }
        operation();
    }

  private:
    template <class Operation>
    bool fails(const char* what, std::uint64_t n, Operation& operation) {
        inside_ = true;
        struct Reset {
            Injector& self;
            ~Reset() {
                static_cast<void>(disarm(self.faults_));
                self.inside_ = false;
            }
        } const reset{*this};
        arm(faults_, n);
        try {
            operation();
        } catch (const cudag::Error& error) {
            if (!disarm(faults_)) throw;
            note("  {}: number {} fails: {}", what, n, error.what());
            check(error);
            return true;
        } catch (const std::bad_alloc&) {
            if (!disarm(faults_)) throw;
            note("  {}: number {} fails: bad_alloc", what, n);
            ++report->faults;
            check_last_error();
            return true;
        }
        if (disarm(faults_)) {
            note("  {}: number {} fails, and is ignored", what, n);
            ignored_ = true;
            ++report->faults;
            check_last_error();
        }
        return false;
    }

    void check(const cudag::Error& error) {
        ++report->faults;
        const bool lost = std::string_view(error.what()).find("lost") != std::string_view::npos;
        if (lost) leave(); // a capture whose end failed on purpose has destroyed nothing
        require(lost || error.code().value() == injected_code, "the error has another code: {}", error.what());
        check_last_error();
    }
    static void check_last_error() {
        const cudaError_t last = cudaGetLastError();
        require(last == cudaSuccess, "CUDA's last error is {}", static_cast<int>(last));
    }

    Faults faults_;
    Random& random_;
    bool inside_ = false;
    bool ignored_ = false;
};
