// A kernel that a .cu file includes.
#pragma once

__global__ void qualified(const int* __restrict__ from, int* __restrict__ to, int many[4], void (*call)(int*)) {
    *to = *from + many[1];
    call(to);
}
