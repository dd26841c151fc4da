// A DynamicParam that would have to own memory.
// expect-error: cudag: a DynamicParam holds a trivially copyable value; it owns nothing
#include <cudag/dynamic_param.hpp>

#include <memory>

void call(int* memory) {
#ifdef CUDAG_EXPECT_ERROR
    const cudag::DynamicParam<std::shared_ptr<int>> parameter{std::shared_ptr<int>(memory)};
#else
    const cudag::DynamicParam<int*> parameter(memory);
#endif
    static_cast<void>(parameter);
}
