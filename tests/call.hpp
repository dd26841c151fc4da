// A call that a helper of the tests makes: such a helper is compiled once, not once for each lambda that it is given.
#pragma once

#include <memory>
#include <type_traits>

/// Refers to something that takes Args; what it returns is dropped. A parameter's type: it must not outlive its
/// argument.
template <class... Args>
class CallRef {
  public:
    template <class Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, CallRef>)
    CallRef(Function&& function) // implicitly, so that helpers are given lambdas
        : function_(const_cast<void*>(static_cast<const volatile void*>(std::addressof(function)))),
          call_([](void* it, Args... args) {
              static_cast<void>((*static_cast<std::remove_reference_t<Function>*>(it))(static_cast<Args>(args)...));
          }) {}

    void operator()(Args... args) const { call_(function_, static_cast<Args>(args)...); }

  private:
    void* function_;
    void (*call_)(void*, Args...);
};
