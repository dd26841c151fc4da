// The library with the name of NVIDIA's driver: each of its functions jumps to that of the CPU runtime.
#include <cuda.h>

/// The CPU runtime's functions, in the order of the table.
extern "C" void* const cudart_cpu_driver_functions[];

#if defined(__x86_64__)
#define JUMP                                                                                                           \
    "endbr64\n"                                                                                                        \
    "movq cudart_cpu_driver_functions@GOTPCREL(%rip), %r11\n"                                                          \
    "jmp *8*cudart_cpu_function(%r11)\n"
#define FUNCTION "@function"
#elif defined(__aarch64__)
#define JUMP                                                                                                           \
    "bti c\n"                                                                                                          \
    "adrp x16, :got:cudart_cpu_driver_functions\n"                                                                     \
    "ldr x16, [x16, :got_lo12:cudart_cpu_driver_functions]\n"                                                          \
    "ldr x16, [x16, #8*cudart_cpu_function]\n"                                                                         \
    "br x16\n"
#define FUNCTION "%function"
#else
#error "cudart-cpu: libcuda.so.1 knows no jump of this processor's"
#endif

/// Defines a symbol for the next of the functions.
#define DEFINE(symbol)                                                                                                 \
    asm(".text\n"                                                                                                      \
        ".balign 16\n"                                                                                                 \
        ".globl " symbol "\n"                                                                                          \
        ".type " symbol ", " FUNCTION "\n" symbol ":\n" JUMP ".size " symbol ", .-" symbol "\n"                        \
        ".set cudart_cpu_function, cudart_cpu_function+1\n");

asm(".set cudart_cpu_function, 0\n");

#define OWN(name, since, symbol, function) DEFINE(#symbol)
#define OWN_STREAM(name, since, symbol, function) DEFINE(#symbol) DEFINE(#symbol "_ptsz")
#define OWN_SYNC(name, since, symbol, function) DEFINE(#symbol) DEFINE(#symbol "_ptds")
#define TYPED(name, since, symbol, function) DEFINE(#symbol)
#define FORWARD(name, since, symbol, needs, function) DEFINE(#symbol)
#define FORWARD_STREAM(name, since, symbol, needs, function) DEFINE(#symbol) DEFINE(#symbol "_ptsz")
#define ALIAS(name, since, symbol, of, of_since, needs, function)
#define REFUSED(symbol) DEFINE(#symbol)
#define REFUSED_STREAM(symbol) DEFINE(#symbol) DEFINE(#symbol "_ptsz")
#define REFUSED_SYNC(symbol) DEFINE(#symbol) DEFINE(#symbol "_ptds")

#include "driver/driver_table.inc"
