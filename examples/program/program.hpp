// What the larger examples share besides their subject: exit codes, and output that has arrived.
#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

namespace example {

/// What the user of a program got wrong.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Calls `body` and makes sure that what it printed has arrived. Prints one line for what went wrong, and returns the
/// program's exit code: 2 for BadInput, 1 for anything else that was thrown or could not be printed.
int run(const char* program, const std::function<void()>& body);

/// Writes a file. Throws BadInput if it cannot be written.
void write_text(const std::filesystem::path& file, const std::string& text);

/// On the CPU runtime, prints that the times above say nothing about a GPU.
void print_runtime_note();

} // namespace example
