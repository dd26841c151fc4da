// The error for what the user gave: files, directories and options. The program prints it and exits with code 2.
#pragma once

#include <stdexcept>

namespace edges {

struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace edges
