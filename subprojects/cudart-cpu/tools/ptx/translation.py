"""The translation of a fat binary's PTX to C++; a failure ends the tool with a message."""

from __future__ import annotations

import traceback

from .build import refuse
from .image import size_and_hash
from .module import translate
from .parser import parse
from .syntax import UNKNOWN_FORM, Unsupported


def translation_of(ptx: str, image: bytes, guard: str, origin: str, linked: str = "") -> str:
    """Returns the C++ source of `ptx`, the content of `image`. A kernel without a translation refuses its launches; an
    unreadable file is refused here. `origin` names the file; `linked` is
    its identity if it has relocatable device code."""
    try:
        return translate(parse(ptx), *size_and_hash(image), guard, linked)
    except (Unsupported, SyntaxError) as reason:
        refuse(f"{origin}: {reason}, which has no translation")
    except UNKNOWN_FORM:
        traceback.print_exc()
        refuse(f"{origin}: its PTX cannot be read; this is a bug of cudart-cpu")
    raise AssertionError
