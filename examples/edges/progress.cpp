// The line is written over itself.
#include "progress.hpp"

#include <cstdio>

#include <unistd.h>

namespace edges {

Progress::Progress(std::size_t total) : total_(total), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
    if (terminal_) {
        std::fputs("\r\033[K", stderr);
    }
}

void Progress::show(std::size_t done) const {
    if (terminal_) {
        std::fprintf(stderr, "\rframe %zu of %zu", done, total_);
        std::fflush(stderr);
    }
}

} // namespace edges
