// Libraries of kernels as shared objects, compiled for this runtime.
#include "kernel_module.hpp"

#include "runtime/call.hpp"
#include "runtime/text.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace cudart_cpu::detail {

namespace {

/// The path by which the loader finds an open file.
std::string path_of(int file) {
    return "/proc/self/fd/" + std::to_string(file);
}

int write_file(std::string_view image) {
    const int file = memfd_create("cudart-cpu library", MFD_CLOEXEC);
    while (file != -1 && !image.empty()) {
        const ssize_t written = write(file, image.data(), image.size());
        if (written < 0) {
            close(file);
            fail(cudaErrorMemoryAllocation, text("cannot keep a library of ", image.size(), " bytes in memory"));
        }
        image.remove_prefix(static_cast<std::size_t>(written));
    }
    if (file == -1) fail(cudaErrorOperatingSystem, "cannot make a file in memory for a library");
    return file;
}

void* load(int file) {
    void* const handle = dlopen(path_of(file).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return handle;
    const char* const reason = dlerror();
    close(file);
    fail(cudaErrorInvalidKernelImage, text("cannot load a library: ", reason == nullptr ? "no reason given" : reason));
}

} // namespace

bool KernelModule::is_image(const char* code, std::size_t available) noexcept {
    Elf64_Ehdr header;
    if (std::strncmp(code, ELFMAG, SELFMAG) != 0 || code[EI_CLASS] != ELFCLASS64 || available < sizeof header)
        return false;
    std::memcpy(&header, code, sizeof header);
    return header.e_type == ET_DYN && header.e_machine != EM_CUDA;
}

std::size_t KernelModule::image_size(const char* code, std::size_t available) {
    Elf64_Ehdr header;
    std::memcpy(&header, code, sizeof header);
    const std::size_t parts_end = header.e_phoff + std::size_t{header.e_phnum} * sizeof(Elf64_Phdr);
    std::size_t size = std::max(parts_end, header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize);
    for (std::size_t i = 0; i < header.e_phnum && size <= available; ++i) {
        Elf64_Phdr part;
        std::memcpy(&part, code + header.e_phoff + i * sizeof part, sizeof part);
        size = std::max<std::size_t>(size, part.p_offset + part.p_filesz);
    }
    if (size > available)
        fail(cudaErrorInvalidKernelImage, text("the library has ", available, " bytes of ", size, " or more"));
    return size;
}

KernelModule::KernelModule(std::string_view image) : file_(write_file(image)), handle_(load(file_)) {
    link_map* module = nullptr;
    if (dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&module)) == 0)
        kernels_ = take_kernels_of_module(module->l_ld);
}

KernelModule::~KernelModule() {
    dlclose(handle_);
    // A shared object that stays, because of a unique symbol, keeps its name: a later library must not be taken for it.
    void* const left = dlopen(path_of(file_).c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (left == nullptr)
        close(file_);
    else
        dlclose(left);
}

} // namespace cudart_cpu::detail
