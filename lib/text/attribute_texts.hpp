// Launch attributes as text, and back.
#pragma once

#include "node/launch_attributes.hpp"
#include "text_lines.hpp"

#include <cudag/launch_config.hpp>

#include <cuda_runtime_api.h>

#include <functional>
#include <string>

namespace cudag::detail {

using AddressText = std::function<std::string(const void*)>;
using EventText = std::function<std::string(cudaEvent_t)>;
using AddressReader = std::function<void*(LineReader&)>;
using EventReader = std::function<cudaEvent_t(LineReader&)>;

/// The value of an attribute, with names for addresses and events.
[[nodiscard]] std::string attribute_text(const LaunchAttribute& attribute, const LaunchConfig& config,
                                         const AddressText& address, const EventText& event);

/// Reads the value of an attribute into `config`.
void read_attribute(const LaunchAttribute& attribute, LineReader& line, LaunchConfig& config,
                    const AddressReader& address, const EventReader& event);

} // namespace cudag::detail
