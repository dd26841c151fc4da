"""Meetings of threads: barriers, warps, clusters, grids."""

from ..syntax import Memory, Pair, Unsupported
from . import instruction
from .memory import space_of
from .types import last_type


@instruction("bar", "barrier")
def barrier(w, i):
    w.meets = True
    if i.parts[0] == "bar" and i.parts[1] == "warp":
        w.line(f"cudart_cpu_warp(t, WarpCall::sync, {w.value(i.operands[0], 'u32')}, 0, 0, 0, {w.place});")
        return
    if "cluster" in i.parts:
        arrives = "true" if "arrive" in i.parts else "false"
        waits = "true" if "wait" in i.parts else "false"
        w.line(f"cudart_cpu_cluster_barrier(t, {arrives}, {waits}, {w.place});")
        return
    if "red" in i.parts:
        which = "count" if "popc" in i.parts else "all" if "and" in i.parts else "any"
        number = w.value(i.operands[1], "u32")
        count = w.value(i.operands[2], "u32") if len(i.operands) == 4 else "0u"
        predicate = w.value(i.operands[-1], "bool")
        result = f"cudart_cpu_barrier(t, BarrierCall::{which}, {number}, {count}, {predicate}, {w.place})"
        if which == "count":
            w.put(i.operands[0], "u32", result)
        else:
            w.put(i.operands[0], "bool", f"({result} != 0)")
        return
    which = "arrive" if "arrive" in i.parts else "sync"
    if which == "sync" and "sync" not in i.parts:
        raise Unsupported(i.name)
    number = w.value(i.operands[0], "u32")
    count = w.value(i.operands[1], "u32") if len(i.operands) > 1 else "0u"
    w.line(f"cudart_cpu_barrier(t, BarrierCall::{which}, {number}, {count}, false, {w.place});")


def warp(w, call, mask, value="0", first="0", second="0"):
    w.meets = True
    return f"cudart_cpu_warp(t, WarpCall::{call}, {mask}, {value}, {first}, {second}, {w.place})"


@instruction("shfl")
def shuffle(w, i):
    if "sync" not in i.parts:
        raise Unsupported(i.name)
    which = {"up": "shuffle_up", "down": "shuffle_down", "bfly": "shuffle_xor", "idx": "shuffle_index"}[i.parts[2]]
    value, lane, clamp, mask = (w.value(operand, "u32") for operand in i.operands[1:])
    call = warp(w, which, mask, value, lane, clamp)
    to = i.operands[0]
    if isinstance(to, Pair):
        w.line("{")
        w.line(f"const WarpResult got = {call};")
        w.put(to.first, "u32", "static_cast<u32>(got.value)")
        w.put(to.second, "bool", "got.predicate")
        w.line("}")
    else:
        w.put(to, "u32", f"static_cast<u32>({call}.value)")


@instruction("vote")
def vote(w, i):
    if "sync" not in i.parts:
        raise Unsupported(i.name)
    which = next(part for part in i.parts if part in ("all", "any", "uni", "ballot"))
    predicate, mask = w.value(i.operands[1], "bool"), w.value(i.operands[2], "u32")
    call = warp(w, "vote_uniform" if which == "uni" else f"vote_{which}", mask, predicate)
    if which == "ballot":
        w.put(i.operands[0], "u32", f"static_cast<u32>({call}.value)")
    else:
        w.put(i.operands[0], "bool", f"{call}.predicate")


@instruction("match")
def match(w, i):
    which = "match_any" if "any" in i.parts else "match_all"
    wide = last_type(i) == "b64"
    value, mask = w.value(i.operands[1], "u64" if wide else "u32"), w.value(i.operands[2], "u32")
    call = warp(w, which, mask, value)
    to = i.operands[0]
    if isinstance(to, Pair):
        w.line("{")
        w.line(f"const WarpResult got = {call};")
        w.put(to.first, "u32", "static_cast<u32>(got.value)")
        w.put(to.second, "bool", "got.predicate")
        w.line("}")
    else:
        w.put(to, "u32", f"static_cast<u32>({call}.value)")


@instruction("redux")
def reduce(w, i):
    operation = next(part for part in i.parts if part in ("add", "min", "max", "and", "or", "xor"))
    kind = last_type(i)
    if kind not in ("u32", "s32", "b32"):
        raise Unsupported(i.name)
    signed = "_signed" if kind == "s32" and operation in ("min", "max") else ""
    value, mask = w.value(i.operands[1], "u32"), w.value(i.operands[2], "u32")
    w.put(i.operands[0], "u32", f"static_cast<u32>({warp(w, f'reduce_{operation}{signed}', mask, value)}.value)")


@instruction("elect")
def elect(w, i):
    call = warp(w, "elect", w.value(i.operands[1], "u32"))
    w.line("{")
    w.line(f"const WarpResult got = {call};")
    w.put(i.operands[0].first, "u32", "static_cast<u32>(got.value)")
    w.put(i.operands[0].second, "bool", "got.predicate")
    w.line("}")


@instruction("activemask")
def active(w, i):
    w.put(i.operands[0], "u32", f"static_cast<u32>({warp(w, 'active_mask', '0u', f'{w.fresh()}')}.value)")


@instruction("griddepcontrol")
def grid_dependencies(w, i):
    if "wait" in i.parts:
        w.meets = True
        w.line("cudart_cpu_grid_dependencies(t);")


def barrier_address(w, i, operand):
    return w.address(operand, space_of(i))


@instruction("mbarrier")
def mbarrier(w, i):
    what = i.parts[1]
    w.meets = True
    w.line("if (t.block->checks != 0) cudart_cpu_note_order(t);")
    if what == "init":
        w.line(f"mbarrier_init({barrier_address(w, i, i.operands[0])}, {w.value(i.operands[1], 'u32')});")
    elif what == "inval":
        pass
    elif what in ("arrive", "arrive_drop", "expect_tx", "complete_tx"):
        w.meets = True
        if what in ("expect_tx", "complete_tx"):
            w.line(f"mbarrier_{what.removesuffix('_tx')}({barrier_address(w, i, i.operands[0])}, "
                   f"{w.value(i.operands[1], 'u32')});")
            return
        has_result = not isinstance(i.operands[0], Memory)
        operands = i.operands[1:] if has_result else i.operands
        count = w.value(operands[1], "u32") if len(operands) > 1 else "1u"
        if "expect_tx" in i.parts:
            w.line(f"mbarrier_expect({barrier_address(w, i, operands[0])}, {count});")
            count = "1u"
        drop = "true" if what == "arrive_drop" else "false"
        call = f"mbarrier_arrive({barrier_address(w, i, operands[0])}, {count}, {drop})"
        if has_result:
            w.put(i.operands[0], "u64", call)
        else:
            w.line(f"{call};")
    elif what in ("test_wait", "try_wait"):
        w.meets = True
        operand = i.operands[2]
        if "parity" in i.parts:
            test = f"mbarrier_parity({barrier_address(w, i, i.operands[1])}, {w.value(operand, 'u32')})"
        else:
            test = f"mbarrier_test({barrier_address(w, i, i.operands[1])}, {w.value(operand, 'u64')})"
        w.line("{")
        w.line(f"const bool done = {test};")
        w.line("if (!done) cudart_cpu_yield(t);")
        w.put(i.operands[0], "bool", "done")
        w.line("}")
    elif what == "pending_count":
        w.put(i.operands[0], "u32", f"mbarrier_pending({w.value(i.operands[1], 'u64')})")
    else:
        raise Unsupported(i.name)
