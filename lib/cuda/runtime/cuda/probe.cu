// Asks nvcc whether it accepts the host compiler.
