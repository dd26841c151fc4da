// Compiled once for the runtime: most of the time of each source goes into these headers.
#include "../graph/graph_text.hpp"
#include "../runtime/call.hpp"
#include "../runtime/device_model.hpp"

#include <algorithm>
#include <mutex>
