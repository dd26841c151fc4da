// Compiled once for the runtime: most of the time of each source goes into these headers.
#include "../call.hpp"
#include "../device_model.hpp"
#include "../graph_text.hpp"

#include <algorithm>
#include <mutex>
