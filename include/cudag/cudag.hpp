// All of cudag but the fmt formatters (cudag/format.hpp).
#pragma once

#include <cudag/access_policy.hpp>
#include <cudag/buffer.hpp>
#include <cudag/builder.hpp>
#include <cudag/condition.hpp>
#include <cudag/config.hpp>
#include <cudag/device_exec.hpp>
#include <cudag/device_node.hpp>
#include <cudag/diff.hpp>
#include <cudag/dynamic_param.hpp>
#include <cudag/edge.hpp>
#include <cudag/error.hpp>
#include <cudag/event.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/launch.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/nested_node.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>
#include <cudag/span.hpp>
#include <cudag/stream.hpp>
#include <cudag/symbol.hpp>
#include <cudag/update_report.hpp>
