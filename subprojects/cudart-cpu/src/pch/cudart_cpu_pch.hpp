// Compiled once for the runtime: most of the time of each source goes into these headers.
#include "../runtime/call.hpp"
#include "../runtime/device_model.hpp"
#include "../runtime/text.hpp"

#include <algorithm>
#include <mutex>
