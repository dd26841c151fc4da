// The line is written over itself.
#include "progress.hpp"

#include <cstdio>

#include <unistd.h>

namespace example {

Progress::Progress(const char* what, std::size_t total)
    : what_(what), total_(total), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    if (terminal_) {
        std::fputs("\r\033[K", stderr);
    }
}

void Progress::show(std::size_t done) const {
    if (terminal_) {
        std::fprintf(stderr, "\r%s %zu of %zu", what_, done, total_);
        std::fflush(stderr);
    }
}

} // namespace example
