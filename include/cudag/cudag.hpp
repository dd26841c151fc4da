// All of cudag but the fmt formatters (cudag/format.hpp).
#pragma once

// Each before those that include it, so that compilers, which say by which way a header came in, need few lines for it.
// clang-format off
#include <cudag/config.hpp>
#include <cudag/span.hpp>
#include <cudag/access.hpp>
#include <cudag/access_policy.hpp>
#include <cudag/array_span.hpp>
#include <cudag/buffer.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/device_node.hpp>
#include <cudag/edge.hpp>
#include <cudag/kernel_info.hpp>
#include <cudag/source_location.hpp>
#include <cudag/node.hpp>
#include <cudag/packed_arguments.hpp>
#include <cudag/function.hpp>
#include <cudag/buffer_param.hpp>
#include <cudag/captured_node.hpp>
#include <cudag/stream.hpp>
#include <cudag/event.hpp>
#include <cudag/span_2d.hpp>
#include <cudag/span_3d.hpp>
#include <cudag/external_semaphore.hpp>
#include <cudag/memory_node.hpp>
#include <cudag/diff.hpp>
#include <cudag/plan.hpp>
#include <cudag/device_exec.hpp>
#include <cudag/update_options.hpp>
#include <cudag/update_report.hpp>
#include <cudag/exec.hpp>
#include <cudag/exec_cache.hpp>
#include <cudag/graph.hpp>
#include <cudag/capture_mode.hpp>
#include <cudag/stream_capture.hpp>
#include <cudag/capture.hpp>
#include <cudag/steps.hpp>
#include <cudag/capture_or_run.hpp>
#include <cudag/capture_report.hpp>
#include <cudag/capture_cache.hpp>
#include <cudag/condition.hpp>
#include <cudag/nested_node.hpp>
#include <cudag/builder.hpp>
#include <cudag/capture_pool.hpp>
#include <cudag/device_scalar.hpp>
#include <cudag/dynamic_param.hpp>
#include <cudag/error.hpp>
#include <cudag/host_error.hpp>
#include <cudag/graph_memory.hpp>
#include <cudag/graphed_function.hpp>
#include <cudag/launch.hpp>
#include <cudag/library.hpp>
#include <cudag/symbol.hpp>
#include <cudag/tune_report.hpp>
#include <cudag/tune.hpp>
// clang-format on
