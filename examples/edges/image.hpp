// The images of the frames: those of all examples.
#pragma once

#include "program/image.hpp"

namespace edges {

using example::Image;
using example::max_side;
using example::probe_image;
using example::read_image;
using example::Size;
using example::to_string;
using example::write_pgm;

} // namespace edges
