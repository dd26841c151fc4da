// The command line.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "problem.hpp"

namespace jacobi {

struct Options {
    Problem problem;
    int repeat = 5;
    bool verify = false;
    bool help = false;
};

/// What the user gave is no good; the program prints it and exits with code 2.
struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws BadInput for what cannot be understood.
Options parse_options(const std::vector<std::string>& arguments);

/// The text of --help.
extern const char* const usage;

} // namespace jacobi
