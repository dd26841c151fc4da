// The exception that a call throws, to look at in full.
#pragma once

#include <stdexcept>
#include <typeinfo>

#include "call.hpp"

/// What `call()` throws, as E itself: neither a base nor a derived type will do. A test fails where there is none.
template <class E>
E thrown(CallRef<> call) {
    try {
        call();
    } catch (const E& error) {
        if (typeid(error) == typeid(E)) return error;
        throw;
    }
    throw std::logic_error("nothing was thrown");
}
