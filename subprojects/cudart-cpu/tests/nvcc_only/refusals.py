#!/usr/bin/env python3
"""PTX that the translator does not know is refused by a sentence with the instruction and its line, without Python's words."""
import subprocess
import sys
import tempfile
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

from ptx.module import translate  # noqa: E402
from ptx.parser import parse  # noqa: E402

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.file 1 "kernel.cu"
.visible .entry kernel(.param .u64 out)
{{
.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;
.loc 1 7 0
{}
ret;
}}
"""
WITHOUT_OPERANDS = ["shfl.sync.up.b32", "bar.red.popc.u32", "vote.sync.ballot.b32", "lop3.b32", "set.lt.u32.u32", "activemask.b32",
                    "tex.1d.v4.f32.f32", "isspacep.shared", "call.uni"]
# Instructions and shapes that stay without a translation, with operands of any kind.
REFUSED = ["mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
           "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
           "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
           "mma.sync.aligned.m16n8k8.row.col.rz.f64.f64.f64.f64", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.s8.f32",
           "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
           "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
           "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", "wgmma.fence.sync.aligned", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32",
           "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
           "cvt.rn.f16x2.e2m1x2", "cvt.rn.e4m3x2.f32", "cvt.rn.satfinite.bf16x2.e5m2x2", "cvt.rs.satfinite.f16x2.f32"]
ONE_OPERAND = ["bar.red.popc.u32", "mov.b64", "prmt.b32", "match.any.sync.b32"]


def refusals(statement):
    """What kernels of such a module are refused with, as the C++ has it."""
    text = translate(parse(KERNEL.format(statement)))
    return text[text.index("kernel_rows[] ="):].splitlines()[0]


def check(statement, expected):
    found = refusals(statement)
    if expected not in found:
        sys.exit(f"{statement} is refused with another text than {expected!r}: {found}")


def main():
    for name in WITHOUT_OPERANDS:
        check(f"{name};", f'"{name} with these operands at kernel.cu:7 has no translation"')
    for name in ONE_OPERAND:
        check(f"{name} %r1;", f'"{name} with these operands at kernel.cu:7 has no translation"')
    for name in REFUSED:
        check(f"{name} {{%r1, %r2}}, {{%r1}}, {{%r1}}, {{%r1, %r2}};", f'"{name} at kernel.cu:7 has no translation"')
    check("p: .callprototype _ (.vector .b32 x);", "a statement after kernel.cu:7 has no translation")
    # A file of which nothing can be read ends the tool, in one last line of its own.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", "import sys; from ptx.translation import translation_of\n"
                               "translation_of('.version 8.0\\n.target sm_90\\n.const .vector x;', b'', '', 'x.cu')"],
                              cwd=folder, env={"PYTHONPATH": str(TOOLS), "PATH": "/usr/bin:/bin"}, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0 or done.stderr.splitlines()[-1] != "cudart-cpu: x.cu: .vector variables, which has no translation":
        sys.exit(f"a file that cannot be read is not refused in one line:\n{done.stderr}")


main()
