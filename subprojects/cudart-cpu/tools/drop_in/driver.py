"""What nvcc does with a command line: compilations, links, libraries, runs, and questions to nvcc itself."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from ptx.build import own_definitions, refuse

from .command import OWN, Command
from .toolkit import target_folder, toolkit_folder, toolkit_of

KERNELS = pathlib.Path(__file__).resolve().parent.parent / "nvcc_kernels.py"
RUNTIME_NAMES = ("libcudart.so", "libcudart_static.a", "libcudadevrt.a", "libcudart-cpu.so")
TAKEN = {"-lcudart", "-lcudart_static", "-lcudadevrt", "-lcudart-cpu"}
# Options of compilations that no link has.
COMPILES_ONLY = ("-W", "-I", "-D", "-U", "-idirafter", "-iquote", "-include", "-isystem")


def environment_words(name: str) -> list[str]:
    """Takes nvcc's options out of the environment: they are the command line's, and nvcc must not add them to its own."""
    return shlex.split(os.environ.pop(name, ""))


class Driver:
    def __init__(self, command: Command, cxx: list[str]) -> None:
        self.command = command
        self.cxx = cxx
        self.nvcc = command.own["--nvcc"]
        self.temporary: pathlib.Path | None = None

    # The runtime, and the toolkit around it.

    def runtime(self) -> str:
        named = self.command.own.get("--runtime", "")
        if named:
            return named
        done = subprocess.run(["pkg-config", "--variable=libdir", "cudart-cpu"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, check=False) if shutil.which("pkg-config") else None
        if done is None or done.returncode != 0:
            refuse("a link needs the runtime: name libcudart-cpu.so by --runtime, or install it where pkg-config finds it")
        return f"{done.stdout.strip()}/libcudart-cpu.so"

    def own_words(self) -> list[str]:
        """Options of this compiler itself, for its name in the toolkit."""
        words = [f"{name}={value}" for name, value in self.command.own.items() if name not in ("--runtime", "--keep-translated")
                 and value]
        return words + [f"--cpp-option={option}" for option in self.command.cpp_options]

    def toolkit(self) -> pathlib.Path:
        runtime = os.path.abspath(self.runtime())
        tool = [str(KERNELS), *self.own_words(), f"--runtime={runtime}"]
        cxx = shlex.split(self.command.own.get("--cxx", "c++"))
        return toolkit_folder(runtime, cxx, self.nvcc, tool)

    # Phases.

    def run(self) -> int:
        command = self.command
        if command.is_verbose:
            self.explain()
        if command.nvccs or not command.inputs:
            return self.ask_nvcc()
        if command.phase == "run" and not command.sources() and len(command.inputs) == 1 and \
                pathlib.Path(command.inputs[0][1].strip('"')).suffix not in (".o", ".a", ".obj", ".so"):
            return self.run_program(command.inputs[0][1].strip('"'))
        if command.phase == "c":
            if command.output and len(command.sources()) > 1:
                refuse("-o names one object, but there are several sources")
            return self.compile_all({file: command.object_of(file) for _, file in command.sources()})
        with tempfile.TemporaryDirectory(prefix="cudart-cpu-") as folder:
            self.temporary = pathlib.Path(folder)
            made = {file: f"{folder}/{at}_{pathlib.Path(file).stem}.o" for at, (_, file) in enumerate(command.sources())}
            status = self.compile_all(made)
            if status != 0:
                return status
            inputs = [made[file] if language else file for language, file in command.inputs]
            if command.phase == "dlink":
                return self.link_devices()
            if command.phase == "lib":
                return self.archive(inputs)
            output = command.output or ("a.out" if command.phase != "run" else f"{folder}/a.out")
            status = self.link(inputs, output)
            if status == 0 and command.phase == "run":
                status = self.run_program(os.path.abspath(output))
            return status

    def ask_nvcc(self) -> int:
        if not self.nvcc:
            refuse("only nvcc answers " + " ".join(self.command.nvccs or ["this"]) + ", and there is none")
        own = own_definitions() if self.command.sources() else []
        return subprocess.run([self.nvcc, *own, *self.without_own()], check=False).returncode

    def without_own(self) -> list[str]:
        kept, rest = [], list(self.command.words)
        while rest:
            word = rest.pop(0)
            name = word.partition("=")[0]
            if name in OWN:
                if "=" not in word:
                    rest.pop(0)
            else:
                kept.append(word)
        return kept

    def explain(self) -> None:
        """Prints what nvcc would do, in its words, with this toolkit: build systems read paths and libraries from it."""
        if not self.nvcc:
            return
        words = [word for word in self.without_own() if word not in ("-v", "--verbose")]
        done = subprocess.run([self.nvcc, "--dryrun", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        text = done.stdout
        toolkit = str(self.toolkit())
        for folder in (f"{pathlib.Path(self.nvcc).parent}/..", str(toolkit_of(self.nvcc))):
            # Some toolkits, such as that of NVIDIA's wheels, have no folder for each target.
            text = re.sub(rf"{re.escape(folder)}/+(?=targets/|lib|include)", f"{toolkit}/", text)
            text = text.replace(f"TOP={folder}\n", f"TOP={toolkit}\n")
        sys.stderr.write(text)
        sys.stderr.flush()

    # Compilations.

    def compile_all(self, made: dict[str, str]) -> int:
        languages = {file: language for language, file in self.command.sources()}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            statuses = list(pool.map(lambda file: self.compile(languages[file], file, made[file]), made))
        return next((status for status in statuses if status != 0), 0)

    def compile(self, language: str, source: str, made: str) -> int:
        command = self.command
        depfile = command.depfile_of(made if command.phase == "c" else command.output or "a.out")
        dependencies = ["-MD", "-MF", depfile] + (["-MT", command.target] if command.target else []) if depfile else []
        dependencies += ["-MP"] if depfile and command.is_phony else []
        host = [f"-Xcompiler={word.replace(',', chr(92) + ',')}" for word in command.host]
        if language == "cu":
            words = [sys.executable, str(KERNELS), *self.own_words(), *command.options, *host,
                     *(["-rdc=true"] if command.is_linked else []),
                     *(["-ccbin", command.host_compiler] if command.host_compiler else []), "-x", "cu"]
        elif self.nvcc:
            words = [self.nvcc, *command.options, *host, "-ccbin", self.cxx[-1], *own_definitions(), "-x", language]
        else:
            kept = [word for word in command.options if not word.startswith("-std=c++1") or language == "c"]
            words = [*self.cxx, *command.cpp_options, *kept, *command.host, *own_definitions(), "-x", language]
        return subprocess.run([*words, *dependencies, "-c", source, "-o", made], check=False).returncode

    # Links.

    def link(self, inputs: list[str], output: str) -> int:
        libraries = self.toolkit() / target_folder() / "lib"
        files = [word for word in inputs if word not in TAKEN and not pathlib.Path(word).name.startswith(RUNTIME_NAMES)]
        host = [word for word in self.command.host if not word.startswith(COMPILES_ONLY) or word.startswith("-Wl,")]
        group = [] if "-Wl,--start-group" in files else ["-Wl,--start-group"]
        words = [*self.cxx, *host, *self.command.link_options, *group, *files, f"-L{libraries}/stubs", f"-L{libraries}",
                 str(libraries / "libcudart-cpu.so"), *(["-Wl,--end-group"] if group else []), "-lrt", "-lpthread", "-ldl",
                 "-o", output]
        return subprocess.run(words, check=False).returncode

    def link_devices(self) -> int:
        """Makes an empty object: the linker of the program has the code of all objects."""
        output = self.command.output or "a_dlink.o"
        return subprocess.run([*self.cxx, "-fPIC", "-x", "c++", "-c", "/dev/null", "-o", output], check=False).returncode

    def archive(self, inputs: list[str]) -> int:
        output = self.command.output or "a.a"
        pathlib.Path(output).unlink(missing_ok=True)
        files = [word for word in inputs if not word.startswith("-")]
        return subprocess.run(["ar", "qsc", *self.command.archive_options, output, *files], check=False).returncode

    def run_program(self, program: str) -> int:
        return subprocess.run([os.path.abspath(program), *self.command.run_arguments], check=False).returncode
