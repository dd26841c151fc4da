// A copy of elements that bytes do not make.
// expect-error: cudag: memcpy needs trivially copyable elements
#include <cudag/builder.hpp>

#include <string>
#include <vector>

void call(cudag::GraphBuilder& builder, [[maybe_unused]] std::vector<std::string>& strings,
          [[maybe_unused]] std::vector<char>& chars, [[maybe_unused]] std::vector<char>& to) {
#ifdef CUDAG_EXPECT_ERROR
    builder.memcpy(strings, strings);
#else
    builder.memcpy(to, chars);
#endif
}
