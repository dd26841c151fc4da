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


def launch_parameters(w, a):
    return (f"store<u64>(address({a[0]}), address(cudart_cpu_launch_parameters(t, {load(a[1], 'u64')}, {load(a[2], 'Index')}, "
            f"{load(a[3], 'Index')}, {load(a[4], 'u32')})));")


def launch(w, a):
    return (f"store<u32>(address({a[0]}), cudart_cpu_launch(t, reinterpret_cast<void*>({load(a[1], 'u64')}), "
            f"{load(a[2], 'u64')}, {w.place}));")


def new_stream(w, a):  # launches run one after the other, so a stream is a number
    return f"store<u64>({load(a[1], 'u64')}, u64{{16}}); store<u32>(address({a[0]}), 0u);"


def success(w, a):
    return f"store<u32>(address({a[0]}), 0u);"


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
# A kernel that launches kernels calls these, by CUDA's names of the second version of dynamic parallelism.
LAUNCHES = {"GetParameterBufferV2": launch_parameters, "LaunchDeviceV2": launch, "StreamCreateWithFlags": new_stream,
            "StreamDestroy": success, "GetLastError": success, "PeekAtLastError": success}
BUILTINS |= {prefix + name: function for name, function in LAUNCHES.items() for prefix in ("__cudaCDP2", "cuda")}
