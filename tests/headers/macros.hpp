// Names that programs define as macros: each letter, and those of HPC codes. After the headers of others, which use
// them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <ranges>
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#define A 7
#define B 7
#define C 7
#define D 7
#define E 7
#define F 7
#define G 7
#define H 7
#define I 7
#define J 7
#define K 7
#define L 7
#define M 7
#define N 7
#define O 7
#define P 7
#define Q 7
#define R 7
#define S 7
#define T 7
#define U 7
#define V 7
#define W 7
#define X 7
#define Y 7
#define Z 7
#define NX 7
#define NY 7
#define NZ 7
#define DIM 7
#define REAL 7
#define SIZE 7
#define BLOCK 7
#define GRID 7
#define BLOCK_SIZE 7
#define THREADS 7
#define ROWS 7
#define COLS 7
#define MIN 7
#define MAX 7
#define ABS 7
#define SQR 7
#define PI 7
#define EPS 7
#define IDX 7
#define LEN 7
#define WIDTH 7
#define HEIGHT 7
#define DEPTH 7
#define NODE 7
#define GRAPH 7
#define KERNEL 7
#define STREAM 7
#define EVENT 7
#define DEVICE 7
#define HOST 7
#define CHECK 7
#define ASSERT 7
#define ERROR 7
#define OK 7
#define TRUE 7
#define FALSE 7
#define IN 7
#define OUT 7
#define INOUT 7
#define CONST 7
#define RESTRICT 7
