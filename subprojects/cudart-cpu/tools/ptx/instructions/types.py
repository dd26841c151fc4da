"""The types in an instruction's name."""

from ..syntax import SIZES, Instruction, Unsupported

C = {"pred": "bool", "b8": "u8", "u8": "u8", "s8": "i8", "b16": "u16", "u16": "u16", "s16": "i16", "f16": "f16",
     "bf16": "bf16", "b32": "u32", "u32": "u32", "s32": "i32", "f32": "f32", "f16x2": "f16x2", "bf16x2": "bf16x2",
     "tf32": "u32", "b64": "u64", "u64": "u64", "s64": "i64", "f64": "f64", "b128": "u128"}
INTEGERS = {"b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"}
HALVES = {"f16", "bf16", "f16x2", "bf16x2"}
WIDER = {"i8": "i16", "u8": "u16", "u16": "u32", "i16": "i32", "u32": "u64", "i32": "i64", "u64": "u128",
         "i64": "i128"}


def types(instruction: Instruction) -> list[str]:
    return [part for part in instruction.parts[1:] if part in SIZES]


def last_type(instruction: Instruction) -> str:
    found = types(instruction)
    if not found:
        raise Unsupported(instruction.name)
    return found[-1]


def rounding(instruction: Instruction, default: str = "nearest") -> str:
    for part in instruction.parts:
        mode = {"rn": "nearest", "rz": "zero", "rm": "down", "rp": "up", "rni": "nearest", "rzi": "zero",
                "rmi": "down", "rpi": "up"}.get(part)
        if mode:
            return f"Round::{mode}"
    return f"Round::{default}"


def allow(instruction: Instruction, *parts: str) -> None:
    """Throws if the instruction has parts unknown to its handler."""
    for part in instruction.parts[1:]:
        if part not in parts and part not in SIZES:
            raise Unsupported(instruction.name)
