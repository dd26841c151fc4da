// Turns exceptions, and a stdout that takes nothing, into exit codes.
#include "program.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include <cudag/config.hpp>

namespace example {
namespace {

/// Output is lost in silence if stdout is closed, or its disk is full, unless somebody asks.
void require_printed() {
    errno = 0;
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        throw std::runtime_error(std::string("stdout cannot be written: ") + std::strerror(errno));
    }
}

} // namespace

int run(const char* program, const std::function<void()>& body) {
    try {
        body();
        require_printed();
        return 0;
    } catch (const BadInput& error) {
        std::fprintf(stderr, "%s: %s\n", program, error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", program, error.what());
        return 1;
    }
}

void write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream out(file);
    out << text;
    out.close();
    if (!out) {
        throw BadInput(file.string() + ": cannot be written");
    }
}

void print_runtime_note() {
#ifdef CUDART_CPU
    std::printf("(the CPU runtime: these times say nothing about a GPU)\n");
#endif
}

} // namespace example
