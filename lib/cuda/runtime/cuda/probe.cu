// A test program: nvcc accepts the host compiler.
