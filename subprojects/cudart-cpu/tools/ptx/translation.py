"""Translates the PTX of a fat binary to C++, or ends the tool with a sentence."""

from __future__ import annotations

import traceback

from .build import refuse
from .image import size_and_hash
from .module import translate
from .parser import parse
from .syntax import UNKNOWN_FORM, Unsupported


def translation_of(ptx: str, image: bytes, guard: str, origin: str) -> str:
    """The C++ source of `ptx`, which `image` holds. A kernel that has no translation refuses its launches; a file of which
    nothing can be read is refused here. `origin` names the file."""
    try:
        return translate(parse(ptx), *size_and_hash(image), guard)
    except (Unsupported, SyntaxError) as reason:
        refuse(f"{origin}: {reason}, which has no translation")
    except UNKNOWN_FORM:
        traceback.print_exc()
        refuse(f"{origin}: its PTX cannot be read; this is a bug of cudart-cpu")
    raise AssertionError
