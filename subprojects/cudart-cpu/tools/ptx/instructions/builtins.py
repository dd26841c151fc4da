"""Functions of the runtime, called by PTX."""


def load(place, type_):
    return f"load<{type_}>(address({place}))"


def print_(w, a):
    return (f"store<u32>(address({a[0]}), cudart_cpu_printf(t, reinterpret_cast<const char*>({load(a[1], 'u64')}), "
            f"reinterpret_cast<const void*>({load(a[2], 'u64')})));")


def malloc(w, a):
    return f"store<u64>(address({a[0]}), address(cudart_cpu_malloc(t, {load(a[1], 'u64')})));"


def free(w, a):
    return f"cudart_cpu_free(t, reinterpret_cast<void*>({load(a[0], 'u64')}));"


def assertion(w, a):
    texts = [f"reinterpret_cast<const char*>({load(place, 'u64')})" for place in (a[0], a[1], a[3])]
    return f"cudart_cpu_assertion(t, {texts[0]}, {texts[1]}, {load(a[2], 'u32')}, {texts[2]});"


# The device runtime's functions with the same name in the CPU runtime: result and parameters.
RUNTIME = {
    "cudaGraphSetConditional": ("void", ["u64", "u32"]),
    "cudaGraphLaunch": ("u32", ["u64", "u64"]),
    "cudaGraphKernelNodeSetParam": ("u32", ["u64", "u64", "u64", "u64"]),
    "cudaGraphKernelNodeSetEnabled": ("u32", ["u64", "bool"]),
    "cudaGraphKernelNodeSetGridDim": ("u32", ["u64", "Index"]),
    "cudaGraphKernelNodeUpdatesApply": ("u32", ["u64", "u64"]),
    "cudaGetCurrentGraphExec": ("u64", []),
}


def runtime(name):
    result, parameters = RUNTIME[name]

    def call(w, a):
        first = 0 if result == "void" else 1
        arguments = ", ".join(load(place, type_) for place, type_ in zip(a[first:], parameters))
        text = f"{name}({arguments})"
        return f"{text};" if result == "void" else f"store<{result}>(address({a[0]}), {text});"
    return call


DECLARATIONS = "\n".join(f'extern "C" {result} {name}({", ".join(parameters)});'
                         for name, (result, parameters) in RUNTIME.items())

BUILTINS = {"vprintf": print_, "malloc": malloc, "free": free, "__assertfail": assertion}
BUILTINS |= {name: runtime(name) for name in RUNTIME}
