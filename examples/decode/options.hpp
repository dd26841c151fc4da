// The command line.
#pragma once

#include <string>
#include <vector>

#include "model.hpp"
#include "program/program.hpp"

namespace decode {

struct Options {
    int steps = 128;
    unsigned seed = 1;
    int repeat = 5;
    bool verify = false;
    bool help = false;
    std::string dot; ///< a file for the picture; empty: none
};

using example::BadInput;

/// Throws BadInput for what cannot be understood.
Options parse_options(const std::vector<std::string>& arguments);

/// The text of --help.
extern const char* const usage;

} // namespace decode
