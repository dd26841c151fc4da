"""nvcc's command line, and options of this compiler's own."""

from __future__ import annotations

import pathlib
import re
import shlex

# Options with a value: `-name value`, `-name=value`, and with two dashes. Long names have their short one.
WITH_VALUE = {
    "o": "output-file", "include": "pre-include", "l": "library", "D": "define-macro", "U": "undefine-macro",
    "I": "include-path", "isystem": "system-include", "L": "library-path", "odir": "output-directory",
    "MF": "dependency-output", "MT": "dependency-target-name", "ccbin": "compiler-bindir", "arbin": "archiver-binary",
    "cudart": "cudart", "cudadevrt": "cudadevrt", "ldir": "libdevice-directory", "target-dir": "target-directory",
    "opt-info": "optimization-info", "O": "optimize", "Ofc": "Ofast-compile", "dopt": "dopt",
    "ftemplate-backtrace-limit": "ftemplate-backtrace-limit", "ftemplate-depth": "ftemplate-depth", "x": "x", "std": "std",
    "m": "machine", "Xcompiler": "compiler-options", "Xlinker": "linker-options", "Xarchive": "archive-options",
    "Xptxas": "ptxas-options", "Xnvlink": "nvlink-options", "Xcudafe": "cudafe-options", "Xcicc": "cicc-options",
    "Xfatbin": "fatbin-options", "static-global-template-stub": "static-global-template-stub",
    "device-entity-has-hidden-visibility": "device-entity-has-hidden-visibility", "t": "threads",
    "split-compile": "split-compile", "split-compile-extended": "split-compile-extended",
    "fdevice-time-trace": "fdevice-time-trace", "keep-dir": "keep-dir", "time": "time", "run-args": "run-args",
    "idp": "input-drive-prefix", "ddp": "dependency-drive-prefix", "dp": "drive-prefix", "arch": "gpu-architecture",
    "code": "gpu-code", "gencode": "generate-code", "rdc": "relocatable-device-code", "e": "entries",
    "maxrregcount": "maxrregcount", "ftz": "ftz", "prec-div": "prec-div", "prec-sqrt": "prec-sqrt", "fmad": "fmad",
    "default-stream": "default-stream", "Werror": "Werror", "diag-error": "diag-error", "diag-suppress": "diag-suppress",
    "diag-warn": "diag-warn", "hls": "host-linker-script", "brief-diag": "brief-diagnostics",
    "jtd": "jump-table-density", "device-stack-protector": "device-stack-protector", "compress-mode": "compress-mode",
    "frandom-seed": "frandom-seed", "sanitize": "sanitize", "optf": "options-file",
    # the host compiler's
    "MQ": "MQ", "idirafter": "idirafter", "iquote": "iquote",
}
SHORT = {long: short for short, long in WITH_VALUE.items()}
ATTACHED = re.compile(r"-(?P<name>[IDULlOm])(?P<value>[^=].*)$|-(?P<threads>t)(?P<number>\d+)$")

# Flags of nvcc, by their short names.
FLAGS = {
    "G": "device-debug", "g": "debug", "lineinfo": "generate-line-info", "pg": "profile", "w": "disable-warnings",
    "c": "compile", "dc": "device-c", "dw": "device-w", "dlink": "device-link", "link": "link", "lib": "lib",
    "run": "run", "E": "preprocess", "M": "generate-dependencies", "MM": "generate-nonsystem-dependencies",
    "MD": "generate-dependencies-with-compile", "MMD": "generate-nonsystem-dependencies-with-compile",
    "MP": "generate-dependency-targets", "cuda": "cuda", "cubin": "cubin", "fatbin": "fatbin", "ptx": "ptx",
    "optix-ir": "optix-ir", "ltoir": "ltoir", "objtemp": "objdir-as-tempdir", "shared": "shared",
    "extended-lambda": "extended-lambda", "expt-extended-lambda": "expt-extended-lambda",
    "expt-relaxed-constexpr": "expt-relaxed-constexpr", "use_fast_math": "use_fast_math", "restrict": "restrict",
    "dlto": "dlink-time-opt", "lto": "lto", "gen-opt-lto": "gen-opt-lto", "noeh": "no-exceptions",
    "nohdinitlist": "no-host-device-initializer-list", "nohdmoveforward": "no-host-device-move-forward", "m64": "m64",
    "allow-unsupported-compiler": "allow-unsupported-compiler", "use-local-env": "use-local-env",
    "forward-unknown-to-host-compiler": "forward-unknown-to-host-compiler",
    "forward-unknown-to-host-linker": "forward-unknown-to-host-linker", "forward-unknown-opts": "forward-unknown-opts",
    "noprof": "dont-use-profile", "dryrun": "dryrun", "v": "verbose", "fdevice-syntax-only": "fdevice-syntax-only",
    "keep": "keep", "save-temps": "save-temps", "clean": "clean-targets", "nodlink": "no-device-link",
    "extra-device-vectorization": "extra-device-vectorization", "keep-device-functions": "keep-device-functions",
    "src-in-ptx": "source-in-ptx", "Wreorder": "Wreorder", "Wdefault-stream-launch": "Wdefault-stream-launch",
    "Wmissing-launch-bounds": "Wmissing-launch-bounds", "Wext-lambda-captures-this": "Wext-lambda-captures-this",
    "Wno-deprecated-declarations": "Wno-deprecated-declarations",
    "Wno-deprecated-gpu-targets": "Wno-deprecated-gpu-targets", "res-usage": "resource-usage",
    "ewp": "extensible-whole-program", "no-compress": "no-compress", "astoolspatch": "compile-as-tools-patch",
    "code-ls": "list-gpu-code", "arch-ls": "list-gpu-arch", "err-no": "display-error-number",
    "no-err-no": "no-display-error-number", "aug-hls": "augment-host-linker-script", "r": "relocatable-link",
    "reloc-ptx": "relocatable-ptx", "h": "help", "V": "version", "jobserver": "jobserver",
    "no-align-double": "no-align-double", "force-cl-env-setup": "force-cl-env-setup",
}
SHORT_FLAGS = {long: short for short, long in FLAGS.items()}

# nvcc alone answers these.
NVCCS = {"h", "V", "code-ls", "arch-ls", "E", "M", "MM", "cuda", "cubin", "fatbin", "ptx", "optix-ir", "ltoir", "dryrun", "clean",
         "fdevice-syntax-only"}
PHASES = {"c", "dc", "dw", "dlink", "link", "lib", "run"}
# The translation has its own architecture and intermediate files, and neither ptxas nor nvlink.
WITHOUT_EFFECT = {"G", "dlto", "lto", "gen-opt-lto", "objtemp", "use-local-env", "noprof", "keep", "save-temps", "nodlink", "ewp",
                  "res-usage", "astoolspatch", "jobserver", "no-compress", "reloc-ptx", "src-in-ptx", "aug-hls", "v",
                  "forward-unknown-to-host-compiler", "forward-unknown-to-host-linker", "forward-unknown-opts", "m64",
                  "arch", "code", "gencode", "Xptxas", "Xnvlink", "Xcicc", "Xfatbin", "t", "split-compile",
                  "split-compile-extended", "keep-dir", "time", "maxrregcount", "cudadevrt", "cudart", "ldir", "target-dir", "jtd",
                  "compress-mode", "hls", "m", "opt-info", "Ofc", "fdevice-time-trace", "device-stack-protector", "sanitize",
                  "dopt", "frandom-seed", "e"}

BINARIES = {".o", ".obj", ".a", ".so"}
SOURCES = {".c", ".cc", ".cxx", ".cpp", ".C", ".cu", ".cup"}
OWN = {"--through", "--nvcc", "--cxx", "--cpp-option", "--cpp-because", "--keep-translated", "--runtime"}


def at_commas(value: str) -> list[str]:
    return [part.replace("\\,", ",") for part in re.split(r"(?<!\\),", value) if part]


def words_of(value: str) -> list[str]:
    """Splits options for another program: nvcc's shell splits them at blanks, too."""
    return [word for part in at_commas(value) for word in ([part] if '"' in part or "'" in part else part.split())]


class Command:
    """The words of a command line, by what they are for."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.own: dict[str, str] = {}
        self.cpp_options: list[str] = []
        self.phase = "link"
        self.nvccs: list[str] = []          # what nvcc alone answers
        self.is_verbose = False
        self.is_linked = False              # relocatable device code
        self.options: list[str] = []        # of compilations, as nvcc has them
        self.host: list[str] = []           # of the host compiler
        self.link_options: list[str] = []
        self.archive_options: list[str] = []
        self.inputs: list[tuple[str, str]] = []  # (language, file) of sources; ("", file or -lNAME) of others
        self.language = ""
        self.output = self.output_folder = ""
        self.depfile = self.target = ""
        self.writes_dependencies = False
        self.is_phony = False  # each dependency is a target without commands
        self.run_arguments: list[str] = []
        self.host_compiler = ""
        rest = list(words)
        while rest:
            self.one(rest.pop(0), rest)

    def one(self, word: str, rest: list[str]) -> None:
        if not word.startswith("-") or word == "-":
            self.input(word)
            return
        name, equals, value = word.partition("=")
        if name in OWN:
            value = value if equals else self.next(word, rest)
            if name == "--cpp-option":
                self.cpp_options.append(value)
            else:
                self.own[name] = value
            return
        attached = ATTACHED.match(word)
        short = name[2:] if name.startswith("--") else name[1:]
        short = SHORT.get(short, short) if name.startswith("--") else short
        if short in WITH_VALUE and word != "-O":
            self.valued(short, value if equals else self.next(word, rest), rest)
        elif word == "-O":
            if rest and rest[0] in ("0", "1", "2", "3"):
                self.options.append(f"-O{rest.pop(0)}")
            else:
                self.options.append("-O2")
        elif not equals and short in (SHORT_FLAGS if name.startswith("--") else FLAGS):
            self.flag(SHORT_FLAGS[short] if name.startswith("--") else short, word)
        elif attached and attached["threads"]:
            pass
        elif attached:
            self.valued(attached["name"], attached["value"], rest)
        else:
            self.flag("", word)

    @staticmethod
    def next(word: str, rest: list[str]) -> str:
        if not rest:
            raise ValueError(f"{word} needs a value")
        return rest.pop(0)

    def valued(self, name: str, value: str, rest: list[str]) -> None:
        if name == "o":
            self.output = value
        elif name == "odir":
            self.output_folder = value
        elif name == "MF":
            self.depfile = value
        elif name in ("MT", "MQ"):
            self.target = value
        elif name == "x":
            self.language = "" if value == "none" else value
        elif name == "ccbin":
            self.host_compiler = value
        elif name == "rdc":
            self.is_linked = value == "true"
        elif name == "optf":
            for file in at_commas(value):
                rest[:0] = shlex.split(pathlib.Path(file).read_text(encoding="utf-8"))
        elif name == "Xcompiler":
            self.host += words_of(value)
        elif name == "Xlinker":
            self.inputs += [("", f"-Wl,{one}") for one in words_of(value)]
        elif name == "Xarchive":
            self.archive_options += words_of(value)
        elif name == "run-args":
            self.run_arguments += at_commas(value)
        elif name == "L":
            self.link_options += [f"-L{one}" for one in at_commas(value)]
        elif name == "l":
            self.inputs += [("", f"-l{one}") for one in at_commas(value)]
        elif name == "std":  # the last one wins, without nvcc's warning
            self.options = [other for other in self.options if not other.startswith("-std=")] + [f"-std={value}"]
        elif name == "O":
            self.options.append(f"-O{value}")
        elif name in ("I", "D", "U"):
            self.options.append(f"-{name}{value}")
        elif name in ("isystem", "include"):
            for one in at_commas(value):
                self.options += [f"-{name}", one]
        elif name in ("idirafter", "iquote"):
            self.host += [f"-{name}", value]
        elif name not in WITHOUT_EFFECT:
            self.options.append(f"-{name}={value}")

    def flag(self, name: str, word: str) -> None:
        if name in PHASES:
            if name in ("dc", "dw"):
                self.is_linked = True
                name = "c"
            self.phase = name
        elif name in NVCCS:
            self.nvccs.append(word)
        elif name in ("MD", "MMD"):
            self.writes_dependencies = True
        elif name == "MP":
            self.is_phony = True
        elif name == "shared" or name == "r":
            self.link_options.append(f"-{name}")
        elif name == "pg":
            self.host.append("-pg")
        elif name in WITHOUT_EFFECT:
            self.is_verbose = self.is_verbose or name == "v"
        elif name:
            self.options.append(word)
        elif word.startswith("-Wl,"):
            self.inputs.append(("", word))
        elif word.startswith("-fsanitize="):  # nvcc splits words at commas
            self.host += [f"-fsanitize={one}" for one in word.removeprefix("-fsanitize=").split(",")]
        else:
            self.host.append(word)

    def input(self, word: str) -> None:
        suffix = pathlib.Path(word).suffix
        if suffix in SOURCES or (self.language and suffix not in BINARIES):
            language = self.language or ("cu" if suffix in (".cu", ".cup") else "c" if suffix == ".c" else "c++")
            self.inputs.append((language, word))
        else:
            self.inputs.append(("", word))

    def sources(self) -> list[tuple[str, str]]:
        return [(language, file) for language, file in self.inputs if language]

    def object_of(self, source: str) -> str:
        """Where nvcc puts the object of a source."""
        if self.phase == "c" and self.output:
            return self.output
        name = pathlib.Path(source).stem + ".o"
        return str(pathlib.Path(self.output_folder) / name) if self.output_folder else name

    def depfile_of(self, made: str) -> str:
        if not self.writes_dependencies:
            return ""
        return self.depfile or str(pathlib.Path(made).with_suffix(".d"))
