// The source line of an instruction, for errors.
#include "source_line.hpp"

#include "text.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string_view>

namespace cudart_cpu::detail {

namespace {

/// A place in a file, as its debug information has it.
struct FilePlace {
    std::string file;
    std::uintptr_t address;
};

std::optional<FilePlace> file_place(const void* instruction) {
    Dl_info info{};
    void* extra = nullptr;
    if (dladdr1(instruction, &info, &extra, RTLD_DL_LINKMAP) == 0 || extra == nullptr) return std::nullopt;
    const auto& module = *static_cast<const link_map*>(extra);
    const auto address = reinterpret_cast<std::uintptr_t>(instruction) - module.l_addr;
    if (*module.l_name != '\0') return FilePlace{module.l_name, address};
    char program[PATH_MAX]; // the program itself has an empty name
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
    if (length <= 0) return std::nullopt;
    return FilePlace{std::string(program, static_cast<std::size_t>(length)), address};
}

/// The longest time to read the debug information.
constexpr int patience_ms = 5000;

std::string output_of_addr2line(const FilePlace& place) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return {};
    std::string file = place.file;
    std::ostringstream hexadecimal;
    hexadecimal << std::hex << place.address;
    std::string address = hexadecimal.str();
    char name[] = "addr2line";
    char inlined[] = "-i";
    char option[] = "-e";
    char* const arguments[] = {name, inlined, option, file.data(), address.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t process = 0;
    const int error = posix_spawnp(&process, name, &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string lines;
    if (error == 0) {
        char part[4096];
        for (;;) {
            pollfd ready{ends[0], POLLIN, 0};
            const int count = poll(&ready, 1, patience_ms);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) {
                kill(process, SIGKILL);
                break;
            }
            const ssize_t length = read(ends[0], part, sizeof part);
            if (length < 0 && errno == EINTR) continue;
            if (length <= 0) break;
            lines.append(part, static_cast<std::size_t>(length));
        }
        while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    return lines;
}

} // namespace

std::string source_line(const void* instruction) {
    const std::optional<FilePlace> place = file_place(instruction);
    if (!place) return {};
    std::istringstream lines(output_of_addr2line(*place));
    // From the innermost inlined function on: the kernel's own line is the first one outside of this runtime's headers.
    for (std::string line; std::getline(lines, line);) {
        line.erase(std::min(line.find(" ("), line.size())); // "(discriminator 3)"
        const std::string_view number = std::string_view(line).substr(line.rfind(':') + 1);
        if (line.starts_with("??") || number == "0" || number == "?") continue;
        if (line.find("/cudart_cpu/detail/") == std::string::npos) return line;
    }
    return {};
}

} // namespace cudart_cpu::detail
