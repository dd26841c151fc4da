// The precompiled headers of the runtime: they take most of the compile time of each source.
#include "../runtime/call.hpp"
#include "../runtime/device_model.hpp"
#include "../runtime/text.hpp"

#include <algorithm>
#include <mutex>
