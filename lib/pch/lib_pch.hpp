// Compiled once for the library: most of the time of each source goes into these headers. Every source still includes
// what it uses; CI builds without this, too.
#include "../cuda/failure.hpp"
#include "../exec/exec_nodes.hpp"
#include "../graph/graph_state.hpp"

#include <cudag/cudag.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
