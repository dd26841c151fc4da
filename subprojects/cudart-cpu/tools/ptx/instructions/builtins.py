"""Functions that PTX calls and the runtime has."""


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


BUILTINS = {"vprintf": print_, "malloc": malloc, "free": free, "__assertfail": assertion}
