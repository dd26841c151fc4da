"""Writes the C++ source of a PTX module: its variables, functions and kernels, and the tables that register them."""

from __future__ import annotations

import json
import struct

from .function import FunctionWriter, c_name, names_in, walk
from .instructions.builtins import DECLARATIONS
from .split import NotSplit, SplitKernel, waiting_loops
from .syntax import SIZES, Function, Instruction, Module, Number, Sum, Unsupported, Variable

# The object's section with the stack needs of each kernel, and the prefix of lines about them in the source: whether
# functions take more while they run, and the functions, with a star if they may be called again while they run.
STACK_SECTION = ".cudart_cpu_stacks"
STACK_LINE = "// stack "

INCLUDES = ("values", "integer", "floating", "half", "convert", "fp8", "memory", "mbarrier", "matrix", "texture", "thread_info", "cluster", "split")


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)


def rounded_up(value: int, unit: int) -> int:
    return (value + unit - 1) // unit * unit


# What the linker makes of the shared memory of device functions in all files of relocatable device code.
LINKED = """namespace cudart_cpu_linked {}
using namespace cudart_cpu_linked;
extern "C" {
extern unsigned char __start_cudart_cpu_shared[] __attribute__((weak, visibility("hidden")));
extern unsigned char __stop_cudart_cpu_shared[] __attribute__((weak, visibility("hidden")));
}
inline u64 linked_shared() { return address(__stop_cudart_cpu_shared) - address(__start_cudart_cpu_shared); }"""
# Registers the file's kernels; in other programs nvcc's device linker makes this function.
REGISTER = """extern "C" {{
void** __cudaRegisterFatBinary(const void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
extern const unsigned char __fatbinwrap{0}[];
static void** linked_binary;
__attribute__((visibility("hidden"))) void __cudaRegisterLinkedBinary{0}(void (*callback)(void**), void*, void*, void (*refer)(void*)) {{
    static const unsigned char* own = __fatbinwrap{0};
    refer(&own);
    linked_binary = __cudaRegisterFatBinary(__fatbinwrap{0});
    callback(linked_binary);
    __cudaRegisterFatBinaryEnd(linked_binary);
}}
}}"""
# The stack that functions of other files may need.
OTHER_FILES = 256 * 1024


def in_linked(text: str) -> str:
    return f"}}\nnamespace cudart_cpu_linked __attribute__((visibility(\"hidden\"))) {{\n{text}\n}}\nnamespace {{"


class ModuleWriter:
    def __init__(self, syntax: Module, linked: str = "") -> None:
        self.syntax = syntax
        self.linked = linked  # the identity of a file of relocatable device code; empty for a whole program
        self.declared = {f.name: f for f in syntax.functions if f.body is None}
        self.defined = {f.name: f for f in syntax.functions if f.body is not None}
        self.variables = {v.name: v for v in syntax.variables}
        self.calls_unknown = False
        self.accesses = 0
        self.static_variables: list[Variable] = []
        self.initialised_later: list[str] = []
        self.taken: set[str] = set()
        self.shared_offsets: dict[str, dict[str, int]] = {}  # by function
        self.static_shared: dict[str, int] = {}
        self.dynamic_align = max([16] + [v.align for v in syntax.variables if v.space == "shared" and v.count == 0])
        self.place_shared()

    # Queries of functions.

    def file_text(self, number: int) -> str:
        return quoted(self.syntax.files.get(number, "?"))

    def defines(self, name: str) -> bool:
        return name in self.defined

    def declares(self, name: str) -> bool:
        """Whether the function may be in another file."""
        return bool(self.linked) and name in self.declared

    def is_seen(self, thing) -> bool:
        """Whether other files know the function or variable."""
        return bool(self.linked) and thing.linkage != "" and not getattr(thing, "is_kernel", False)

    def next_order(self) -> int:
        """Returns the place of an access to memory among those of the module: called functions come first."""
        self.accesses += 1
        return self.accesses

    def function_name(self, name: str) -> str:
        return c_name("f", name)

    def function_variable(self, function: Function, variable: Variable) -> None:
        if variable.name not in self.variables:
            self.variables[variable.name] = variable
            self.static_variables.append(variable)

    def symbol(self, writer: FunctionWriter, name: str) -> str | None:
        offsets = self.shared_offsets[writer.function.name]
        if name in offsets:
            return f"u64{{{offsets[name]}}}"
        variable = self.variables.get(name)
        if variable is not None:
            if variable.space == "shared":
                return "u64{dynamic_shared_at(*t.block)}"
            if variable.external and not self.linked:
                raise Unsupported(f"{name}, which is in another file (it was compiled without -rdc=true),")
            return f"address({c_name('m', name)})"
        name = self.syntax.aliases.get(name, name)
        if name in self.defined:
            self.taken.add(name)
            return f"reinterpret_cast<u64>(&{self.function_name(name)})"
        if self.declares(name):
            return f"reinterpret_cast<u64>(&{self.function_name(name)})"
        return None

    # Shared memory: variables of device functions have one place in all kernels, others one in their kernel.

    def place_shared(self) -> None:
        names: dict[str, set[str]] = {}
        own: dict[str, list[Variable]] = {}
        for name, function in self.defined.items():
            used: set[str] = set()
            own[name] = []
            for statement in walk(function.body.statements):
                if isinstance(statement, Instruction):
                    used |= set(names_in(statement.operands))
                elif isinstance(statement, Variable) and statement.space == "shared":
                    own[name].append(statement)
            names[name] = used
        fixed = [v for v in self.syntax.variables if v.space == "shared" and v.count]
        common = [v for v in fixed if any(v.name in names[n] for n, f in self.defined.items() if not f.is_kernel)]
        for name, function in self.defined.items():
            if not function.is_kernel:
                common += own[name]
        common_places: dict[str, int] = {}
        end = 0
        for variable in common:
            end = rounded_up(end, variable.align)
            common_places[variable.name] = end
            end += SIZES[variable.type] * variable.count
        for name, function in self.defined.items():
            places = {n: f"{at} + shared_here()" if self.linked else at for n, at in common_places.items()}
            size = 0
            if common and any(v in common_places or v in self.defined for v in names[name]) or any(
                    n.startswith("%") is False and n in names for n in names[name]):
                size = 0 if self.linked else end
            if function.is_kernel:
                for variable in own[name] + [v for v in fixed if v.name in names[name] and v.name not in common_places]:
                    size = rounded_up(size, variable.align)
                    places[variable.name] = f"{size} + linked_shared()" if self.linked else size
                    size += SIZES[variable.type] * variable.count
            self.shared_offsets[name] = places
            self.static_shared[name] = size
        self.common_shared = end

    # Variables.

    def initial_bytes(self, variable: Variable) -> tuple[bytes, list[tuple[int, str]]]:
        size = SIZES[variable.type]
        data = bytearray()
        addresses = []
        for at, value in enumerate(variable.initial):
            if isinstance(value, Number):
                if value.width == 8 and variable.type == "f32":
                    data += struct.pack("<f", struct.unpack("<d", struct.pack("<Q", value.value))[0])
                else:
                    data += (value.value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
            else:
                base, offset = (value.base, value.offset) if isinstance(value, Sum) else (value, 0)
                name = self.syntax.aliases.get(base.text, base.text)
                if name in self.defined or self.declares(name):
                    self.taken |= {name} & set(self.defined)
                    text = f"reinterpret_cast<u64>(&{self.function_name(name)})"
                else:
                    text = f"address({c_name('m', name)}) + {offset}"
                addresses.append((at * size, text))
                data += bytes(size)
        return bytes(data), addresses

    def variable_text(self, variable: Variable) -> str:
        size = max(1, SIZES[variable.type] * variable.count)
        data, addresses = self.initial_bytes(variable)
        name = c_name("m", variable.name)
        for at, text in addresses:
            self.initialised_later.append(f"store<u64>(address({name}) + {at}, {text});")
        initial = ""
        data = data.rstrip(b"\0")
        if data:
            initial = " = {" + ",".join(str(byte) for byte in data) + "}"
        weak = "__attribute__((weak)) " if self.is_seen(variable) and variable.linkage == "weak" else ""
        text = f"alignas({max(variable.align, 8)}) {weak}unsigned char {name}[{size}]{initial};"
        return in_linked(text) if self.is_seen(variable) else text

    def declarations(self) -> list[str]:
        """What other files have."""
        texts = [f"extern unsigned char {c_name('m', v.name)}[];" for v in self.syntax.variables
                 if v.external and v.space in ("global", "const")]
        for name, function in self.declared.items():
            if name not in self.defined:
                texts.append(f"void {self.function_name(name)}({', '.join(self.parameters(function))});")
        return [in_linked("\n".join(texts))] if texts else []

    @staticmethod
    def parameters(function: Function) -> list[str]:
        count = 0 if function.is_kernel else len(function.results) + len(function.parameters)
        return ["Thread& t"] + [f"unsigned char* p{at}" for at in range(count)]

    # The file.

    def closure(self, writers: dict[str, FunctionWriter], name: str) -> set[str]:
        found, pending = set(), [name]
        while pending:
            at = pending.pop()
            if at in found:
                continue
            found.add(at)
            writer = writers[at]
            pending += writer.calls
            if writer.calls_unknown:
                pending += self.taken
        return found

    def recurs(self, writers: dict[str, FunctionWriter], name: str) -> bool:
        """Whether the function may be called again while it runs."""
        writer = writers[name]
        called = writer.calls | (self.taken if writer.calls_unknown else set())
        return any(name in self.closure(writers, callee) for callee in called)

    @staticmethod
    def waits(writer: FunctionWriter, reached: list[FunctionWriter]) -> bool:
        """Whether a loop may wait for other threads, or for time to pass."""
        others = [w for w in reached if w is not writer]
        if any(w.spins for w in others):
            return any(w.back_edges for w in reached)
        if not (writer.spins and writer.back_edges):
            return False
        where = {record.text: at for at, record in enumerate(writer.records) if record.kind == "label"}
        return bool(waiting_loops(writer.records, where))

    @staticmethod
    def split(writer: FunctionWriter, reached: list[FunctionWriter], waits: bool) -> SplitKernel | None:
        """Returns the kernel's split form; None if its threads need stacks."""
        others = [w for w in reached if w is not writer]
        if any(w.meets or w.spins for w in others) or any(w.calls_unknown or w.calls_other_files or w.grows for w in reached):
            return None
        try:
            return SplitKernel(writer, waits)
        except NotSplit:
            return None

    def text(self, image_bytes: int, image_hash: int, guard: str) -> str:
        writers: dict[str, FunctionWriter] = {}
        for name, function in self.defined.items():
            writers[name] = FunctionWriter(self, function)
            writers[name].run()
        variables = [v for v in self.syntax.variables + self.static_variables
                     if v.space in ("global", "const") and not v.external]
        out = ["// Translated from PTX."]
        out += [f"#include <cudart_cpu/detail/ptx/{name}.hpp>" for name in INCLUDES]
        out += ["using namespace cudart_cpu::ptx;", DECLARATIONS]
        if self.linked:
            out.append(LINKED)
        out.append("namespace {")
        if self.linked and self.common_shared:
            out += ["alignas(128) __attribute__((section(\"cudart_cpu_shared\"), used)) "
                    f"unsigned char shared_region[{rounded_up(self.common_shared, 128)}];",
                    "inline u64 shared_here() { return address(shared_region) - address(__start_cudart_cpu_shared); }"]
        if self.linked:
            out += self.declarations()
        variable_lines = [self.variable_text(v) for v in variables]
        out += variable_lines
        kernel_count = sum(function.is_kernel for function in self.defined.values())
        out.append(f"__attribute__((section(\"{STACK_SECTION}\"), used)) volatile StackNeed stack_needs[{kernel_count + 1}] = {{}};")
        out.append(f"inline u64 largest_frames() {{ return stack_needs[{kernel_count}].once; }}")
        recurs = {name for name in self.defined if self.recurs(writers, name)}
        functions = []
        rows = []
        stacks = []
        for name, function in self.defined.items():
            writer = writers[name]
            c = self.function_name(name)
            parameters = self.parameters(function)
            reached = [writers[n] for n in self.closure(writers, name)]
            waits = self.waits(writer, reached)
            meets = any(w.meets or w.calls_unknown or w.calls_other_files for w in reached) or waits
            # A function returns its dynamic stack only at its end: inlined in a loop, it would take more in each round.
            in_turn = function.is_kernel and not meets and not any(w.grows for w in reached)
            declaration = f"void {c}({', '.join(parameters)})"
            if self.is_seen(function) and function.linkage == "weak":
                declaration = f"__attribute__((weak)) {declaration}"
            out.append(in_linked(f"{declaration};") if self.is_seen(function) else f"{declaration};")
            head = f"void {c}({', '.join(parameters)})"
            if in_turn:  # inlined into its caller and into a loop of unchecked threads
                head = "template <class OneThread> __attribute__((always_inline)) " \
                       f"inline void {c_name('k', name)}(OneThread& t)"
            if writer.refusal is None:
                first = "require_stack(t, largest_frames(), 0);" if name in recurs else ""
                text = writer.text(head, first)
            elif self.is_seen(function):
                text = f"{head} {{ cudart_cpu_trap(t, {quoted(writer.refusal)}, 0); }}"
            else:
                text = f"{head} {{ static_cast<void>(t); __builtin_unreachable(); }}"
            functions.append(in_linked(text) if self.is_seen(function) else text)
            if function.is_kernel:
                refusal = next((w.refusal for w in reached if w.refusal), None)
                block = step = points = "nullptr"
                point_count = frame_bytes = 0
                split = self.split(writer, reached, waits) if meets and refusal is None else None
                if split is not None:
                    step, points = c_name("b", name), c_name("points", name)
                    point_count, frame_bytes = len(split.points) + 1, split.frame_bytes
                    functions.append(split.text(c_name("k", name), step))
                    functions.append(f"constexpr SplitPoint {points}[] = {{{split.table()}}};")
                if in_turn:
                    block, body = c_name("b", name), c_name("k", name)
                    functions.append(f"void {c}(Thread& t) {{ {body}(t); }}")
                    functions.append(f"void {block}(Block& block) {{ for_each_thread(block, {c}, [](Unchecked& t) "
                                     f"__attribute__((always_inline)) {{ {body}(t); }}); }}")
                layout = []
                for parameter in function.parameters:
                    layout += [SIZES[parameter.type] * parameter.count, parameter.align]
                functions.append(f"constexpr u32 {c_name('layout', name)}[] = {{{', '.join(map(str, layout + [0]))}}};")
                limit = 1
                for number in function.attributes.get("maxntid", []) or function.attributes.get("reqntid", []) or [0]:
                    limit *= number
                cluster = (function.attributes.get("reqnctapercluster", []) + [1, 1, 1])[:3] \
                    if "reqnctapercluster" in function.attributes else [0, 0, 0]
                local = sum(w.local_bytes for w in reached)
                names = sorted(self.closure(writers, name))
                grows = any(w.grows for w in reached)
                more = [f"+{OTHER_FILES}"] if any(w.calls_other_files or (self.linked and w.calls_unknown) for w in reached) else []
                stacks.append(f"{STACK_LINE}{int(grows)} " + " ".join(
                    [c_name("", n)[1:] + ("*" if n in recurs else "") for n in names] + more))
                rows.append(f"{{{quoted(name)}, &{c}, {block}, {quoted(refusal) if refusal else 'nullptr'}, "
                            f"{c_name('layout', name)}, {len(function.parameters)}, {self.static_shared[name]}, {local}, &stack_needs[{len(rows)}], "
                            f"{limit}, {{{', '.join(map(str, cluster))}}}, {step}, {points}, {point_count}, {frame_bytes}}}")
        out += functions
        out.append(f"{'' if self.linked else 'constexpr '}KernelRow kernel_rows[] = {{" + ",\n".join(rows + ["{}"]) + "};")
        table = [f"{{{quoted(v.name)}, {c_name('m', v.name)}, {SIZES[v.type] * v.count}}}" for v in variables]
        out.append("const VariableRow variable_rows[] = {" + ",\n".join(table + ["{}"]) + "};")
        last = max(self.syntax.files, default=0)
        names = [quoted(self.syntax.files.get(at, "?")) for at in range(last + 1)]
        out.append("constexpr const char* files[] = {" + ", ".join(names) + "};")
        out.append(f"bool supported() {{ return {guard or 'true'}; }}")
        out.append(f"const ModuleRow module_row{{module_version, {self.syntax.architecture}, {image_bytes}u, {hex(image_hash)}u, kernel_rows, {len(rows)}, "
                   f"variable_rows, {len(table)}, files, {last + 1}, &supported}};")
        out.append("// Before the constructors of nvcc's host code.")
        out.append("__attribute__((constructor(101))) void enter() {")
        out += self.initialised_later
        if self.linked:
            out.append("for (KernelRow& row : kernel_rows) row.static_shared += static_cast<u32>(linked_shared());")
        out.append("cudart_cpu_register_module(&module_row); }")
        if self.linked:
            out += ["} // namespace", REGISTER.format(self.linked), "namespace {"]
        gone = "if (linked_binary != nullptr) __cudaUnregisterFatBinary(linked_binary); " if self.linked else ""
        out.append(f"__attribute__((destructor(101))) void leave() {{ {gone}cudart_cpu_forget_module(&module_row); }}")
        out.append("} // namespace")
        return "\n".join(out + stacks) + "\n"


def translate(syntax: Module, image_bytes: int = 0, image_hash: int = 0, guard: str = "", linked: str = "") -> str:
    return ModuleWriter(syntax, linked).text(image_bytes, image_hash, guard)
