// Marks which blocks of code a process runs: what `-fsanitize-coverage=trace-pc` calls. For tests/reached.py.
//
// A process with CUDAG_REACHED=PREFIX writes one byte for each block into PREFIX.library and PREFIX.program, at the
// block's offset from the beginning of libcudag.so or of the executable. The files are mapped, so a process that
// crashes or forks leaves its marks, too. Uses no functions of C++'s library: the process's copies of them are marked
// themselves.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

struct Module {
    std::uintptr_t begin = 0, size = 0;
    volatile unsigned char* marks = nullptr;
};

enum Part { library, program };

Module modules[2];

void map_marks(Module& module, const char* prefix, const char* part) {
    if (module.size == 0) return;
    char path[4096];
    std::snprintf(path, sizeof path, "%s.%s", prefix, part);
    const int file = open(path, O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, static_cast<off_t>(module.size)) != 0) std::abort();
    void* memory = mmap(nullptr, module.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) std::abort();
    close(file);
    module.marks = static_cast<unsigned char*>(memory);
}

int note_module(dl_phdr_info* info, std::size_t, void*) {
    const bool is_program = modules[program].size == 0; // the executable is the first one
    if (!is_program && std::strstr(info->dlpi_name, "libcudag.so") == nullptr) return 0;
    Module& module = modules[is_program ? program : library];
    module.begin = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info->dlpi_phdr[i];
        if (segment.p_type == PT_LOAD) module.size = segment.p_vaddr + segment.p_memsz;
    }
    return 0;
}

bool find_modules() {
    const char* prefix = std::getenv("CUDAG_REACHED");
    if (prefix == nullptr) return false;
    dl_iterate_phdr(note_module, nullptr);
    map_marks(modules[library], prefix, "library");
    map_marks(modules[program], prefix, "program");
    return true;
}

} // namespace

extern "C" __attribute__((visibility("default"))) void __sanitizer_cov_trace_pc() {
    static const bool is_on = find_modules();
    if (!is_on) return;
    const auto at = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    for (const Module& module : modules) {
        if (at - module.begin < module.size) module.marks[at - module.begin] = 1;
    }
}
