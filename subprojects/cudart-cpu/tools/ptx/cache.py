"""A cache of translated objects, by the content of all their inputs."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import shutil
import tempfile
import time

DAYS = 30


def digest(path: str) -> str:
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


def folder() -> pathlib.Path | None:
    named = os.environ.get("CUDART_CPU_CACHE", "")
    if named == "off":
        return None
    if named:
        return pathlib.Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or (os.path.join(os.environ["HOME"], ".cache") if "HOME" in os.environ else "")
    return pathlib.Path(home) / "cudart-cpu" if home else None


class Cache:
    """An entry is named by `facts`, the content of `own` files, and the sizes and times of the compilers. It is valid
    while all files that its object was made from are unchanged."""

    def __init__(self, facts: list, compilers: list[str], own: list[str]) -> None:
        self.folder = folder()
        if self.folder is None:
            return
        hasher = hashlib.sha256(json.dumps(facts).encode())
        for path in compilers:
            if path:
                status = os.stat(path)
                hasher.update(f"{path} {status.st_size} {status.st_mtime_ns}".encode())
        for path in own:
            hasher.update(digest(path).encode())
        self.entry = self.folder / hasher.hexdigest()[:40]

    def find(self, output: str) -> list[str] | None:
        """Writes the object and returns the files it depends on; None if it is not cached."""
        if self.folder is None:
            return None
        try:
            files = json.loads((self.entry / "files.json").read_text())
            if any(digest(path) != known for path, known in files.items()):
                return None
            shutil.copy(self.entry / "object.o", output)
            os.utime(self.entry)
            return list(files)
        except (OSError, ValueError):
            return None

    def keep(self, output: str, files: list[str]) -> None:
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.forget_old()
            with tempfile.TemporaryDirectory(dir=self.folder) as name:
                made = pathlib.Path(name) / "entry"
                made.mkdir()
                shutil.copy(output, made / "object.o")
                (made / "files.json").write_text(json.dumps({path: digest(path) for path in files}))
                if self.entry.exists():
                    shutil.rmtree(self.entry)
                made.rename(self.entry)
        except OSError:
            pass  # the object exists; only the cache lacks it

    def forget_old(self) -> None:
        oldest = time.time() - DAYS * 24 * 3600
        for entry in self.folder.iterdir():
            if entry.stat().st_mtime < oldest and not entry.name.startswith("toolkit-"):
                shutil.rmtree(entry, ignore_errors=True)
