// CUPTI, loaded at run time: cudag is built with its headers, and does not link it.
#pragma once

#include <cupti_activity.h>

namespace cudag::detail {

/// The functions of CUPTI that cudag calls. Never cuptiFinalize: the launches after it fail (driver 580).
struct CuptiLibrary {
    decltype(&cuptiSubscribe) subscribe;
    decltype(&cuptiUnsubscribe) unsubscribe;
    decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
    decltype(&cuptiActivityEnable) enable;
    decltype(&cuptiActivityDisable) disable;
    decltype(&cuptiActivityFlushAll) flush_all;
    decltype(&cuptiActivityGetNextRecord) next_record;
    decltype(&cuptiActivityGetNumDroppedRecords) dropped_records;
    decltype(&cuptiGetGraphNodeId) node_id;
    decltype(&cuptiGetGraphExecId) exec_id;
    decltype(&cuptiGetResultString) result_string;
};

/// Loads CUPTI, once for the process. Throws Error if it is not found, with the places searched.
[[nodiscard]] const CuptiLibrary& cupti_library();

} // namespace cudag::detail
