// The error for what the user gave: files, directories and options. The program prints it and exits with code 2.
#pragma once

#include "program/program.hpp"

namespace edges {

using example::BadInput;

} // namespace edges
