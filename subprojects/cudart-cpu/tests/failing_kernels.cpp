// Kernels compiled as C++ that fail: an error of the launch, never the end of the process.
#include "failing_kernels.cuh"
#include "check.hpp"

#include <cudart_cpu/control.hpp>

#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

namespace {

/// While an object lives, stderr goes to a file.
class StandardError {
  public:
    StandardError() : before_(dup(STDERR_FILENO)) {
        const int file = mkstemp(name_);
        CHECK(file >= 0);
        dup2(file, STDERR_FILENO);
        close(file);
    }
    StandardError(const StandardError&) = delete;
    StandardError& operator=(const StandardError&) = delete;
    ~StandardError() {
        dup2(before_, STDERR_FILENO);
        close(before_);
        unlink(name_);
    }
    [[nodiscard]] std::string text() const {
        std::ostringstream all;
        all << std::ifstream(name_).rdbuf();
        return all.str();
    }

  private:
    int before_;
    char name_[32] = "/tmp/failing-kernels-XXXXXX";
};

void is_told(const std::string& all, const std::string& expected) {
    const std::string all_lines = all;
    if (all_lines.find(expected) == std::string::npos) {
        std::fprintf(stderr, "expected \"%s\", got: %s", expected.c_str(), all_lines.c_str());
        std::_Exit(1);
    }
}

template <class... Parameter, class... Argument>
void launch(void (*kernel)(Parameter...), dim3 grid, dim3 block, Argument... argument) {
    void* args[] = {static_cast<void*>(&argument)..., nullptr};
    CHECK_OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, args, 0, nullptr));
}

int* device_int() {
    void* memory = nullptr;
    CHECK_OK(cudaMalloc(&memory, sizeof(int)));
    return static_cast<int*>(memory);
}

void the_device_works() {
    int value = 0;
    int* const out = device_int();
    launch(fine, 1, 1, out);
    CHECK_OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDefault));
    CHECK(value == 1);
    CHECK_OK(cudaFree(out));
}

/// `run` launches a kernel with the error `code`, and `line` on stderr.
template <class Run>
void fails(cudaError_t code, const std::string& line, Run run) {
    std::string told;
    {
        const StandardError error;
        run();
        const cudaError_t got = cudaDeviceSynchronize();
        told = error.text();
        if (got != code) std::fprintf(stderr, "%s", told.c_str());
        if (got != code) CHECK_CODE(code, got);
    }
    is_told(told, line);
    // It stays until the device is reset.
    void* memory = nullptr;
    CHECK_CODE(code, cudaMalloc(&memory, 4));
    CHECK_CODE(code, cudaPeekAtLastError());
    CHECK_CODE(code, cudaGetLastError());
    CHECK_OK(cudaDeviceReset());
    static_cast<void>(cudaGetLastError());
    the_device_works();
}

void assertions_and_traps_fail_the_kernel() {
    fails(cudaErrorAssert, "thread (20,0,0), ", [] { launch(asserted, 2, 32, 20); });
    fails(cudaErrorAssert, "failing_kernels.cu:17: assertion static_cast<int>(threadIdx.x) < limit failed",
          [] { launch(asserted, 2, 32, 20); });
    fails(cudaErrorLaunchFailure, "kernel trapped(), block (1,0,0), thread (0,0,0), ", [] { launch(trapped, 2, 32); });
    fails(cudaErrorLaunchFailure, "failing_kernels.cu:21: trap\n", [] { launch(trapped, 2, 32); });
    fails(cudaErrorLaunchFailure, "kernel thrown(int), block (0,0,0), thread (0,0,0): it threw: vector",
          [] { launch(thrown, 1, 1, 4); });
}

void nothing_runs_after_a_failure() {
    cudaGraph_t graph = nullptr;
    CHECK_OK(cudaGraphCreate(&graph, 0));
    void* host = nullptr;
    CHECK_OK(cudaMallocHost(&host, sizeof(int)));
    *static_cast<int*>(host) = 0;
    void* args[] = {&host};
    cudaKernelNodeParams params{};
    params.gridDim = params.blockDim = 1;
    params.func = reinterpret_cast<void*>(&trapped);
    params.gridDim = 2;
    cudaGraphNode_t first = nullptr;
    CHECK_OK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &params));
    params.func = reinterpret_cast<void*>(&fine);
    params.kernelParams = args;
    cudaGraphNode_t second = nullptr;
    CHECK_OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &params));
    cudaGraphExec_t exec = nullptr;
    CHECK_OK(cudaGraphInstantiate(&exec, graph, 0));
    fails(cudaErrorLaunchFailure, "kernel trapped()", [&] {
        CHECK_OK(cudaGraphLaunch(exec, nullptr));
        CHECK_CODE(cudaErrorLaunchFailure, cudaStreamSynchronize(nullptr));
        CHECK(*static_cast<int*>(host) == 0);
    });
}

#ifndef SANITIZED

void faults_fail_the_kernel() {
    const auto missing = [] { launch(missing_memory, 1, 32, static_cast<int*>(nullptr)); };
    fails(cudaErrorIllegalAddress, "kernel missing_memory(int*), block (0,0,0), thread (5,0,0)", missing);
    fails(cudaErrorIllegalAddress, ": access to address 0, where there is no memory\n", missing);
    if (std::system("addr2line --version > /dev/null 2>&1") == 0)
        fails(cudaErrorIllegalAddress, "failing_kernels.cu:9: access to address 0", missing);
    fails(cudaErrorIllegalAddress, "no_address(long long), block (0,0,0), thread (0,0,0)",
          [] { launch(no_address, 1, 1, 0x7fff'0000'0000'0000ll); });
    fails(cudaErrorLaunchFailure, ": call of abort()\n", [] { launch(ends_all, 1, 1); });
#if defined(__x86_64__) // elsewhere, nothing traps
    fails(cudaErrorLaunchFailure, ": division of an integer by 0", [] { launch(divided, 1, 1, device_int(), 0); });
    fails(cudaErrorIllegalInstruction, ": trap, or an instruction", [] { launch(no_instruction, 1, 1); });
#endif
    fails(cudaErrorIllegalAddress, ": stack overflow\n", [] { launch(recursive, 1, 1, device_int(), 1 << 20); });
}

std::sig_atomic_t seen = 0;
std::jmp_buf after_fault;

void see(int) {
    seen = seen + 1;
    std::longjmp(after_fault, 1);
}

void see_and_raise(int number) {
    seen = seen + 1;
    raise(number);
}

/// As frameworks of tests do.
void handlers_set_between_launches_stay_those_of_the_program() {
    struct sigaction action {};
    action.sa_handler = &see;
    action.sa_flags = SA_NODEFER;
    struct sigaction before {};
    CHECK(sigaction(SIGSEGV, &action, &before) == 0);
    fails(cudaErrorIllegalAddress, "missing_memory", [] { launch(missing_memory, 1, 32, static_cast<int*>(nullptr)); });
    CHECK(seen == 0);
    volatile int* volatile nothing = nullptr;
    if (setjmp(after_fault) == 0) *nothing = 1; // not a kernel's
    CHECK(seen == 1);
    CHECK(sigaction(SIGSEGV, &before, nullptr) == 0);
    fails(cudaErrorIllegalAddress, "missing_memory", [] { launch(missing_memory, 1, 32, static_cast<int*>(nullptr)); });
}

#endif

} // namespace

int main(int count, char**) {
#ifndef SANITIZED
    if (count > 1) { // ends by the program's own fault, which its own handler raises again
        std::signal(SIGSEGV, &see_and_raise);
        the_device_works();
        volatile int* volatile nothing = nullptr;
        *nothing = 1;
    }
#endif
    static_cast<void>(count);
    assertions_and_traps_fail_the_kernel();
    nothing_runs_after_a_failure();
#ifndef SANITIZED
    faults_fail_the_kernel();
    handlers_set_between_launches_stay_those_of_the_program();
#endif
}
