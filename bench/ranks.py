#!/usr/bin/env python3
"""Simulates a step of a program on many ranks: by streams, by one graph a step, and by a loop on the device.

Each rank has a host that enqueues and a GPU that runs in order; a collective begins when the last rank is there. Host times
have a tail: now and then an interruption. Prints microseconds per step for numbers of ranks. See docs/scale.md.
"""
import argparse
import random

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
add = parser.add_argument
add("--kernels", type=int, default=3, metavar="N", help="kernels between two collectives (%(default)s)")
add("--collectives", type=int, default=20, metavar="N", help="collectives in a step (%(default)s)")
add("--work", type=float, default=8, metavar="US", help="GPU time of the kernels between two collectives (%(default)s)")
add("--exchange", type=float, default=10, metavar="US", help="GPU time of a collective (%(default)s)")
add("--launch", type=float, default=2.7, metavar="US", help="host time of a launch (%(default)s)")
add("--call", type=float, default=8, metavar="US", help="host time of a call of NCCL (%(default)s)")
add("--graph", type=float, default=5, metavar="US", help="host time of a graph's launch (%(default)s)")
add("--gap", type=float, default=1.3, metavar="US", help="GPU time between two kernels (%(default)s)")
add("--tail", type=float, default=0.001, metavar="P", help="probability that a host call is interrupted (%(default)s)")
add("--interruption", type=float, default=100, metavar="US", help="mean of an interruption (%(default)s)")
add("--ahead", type=int, default=1, metavar="N", help="steps that the host enqueues before it waits (%(default)s)")
add("--ranks", type=int, nargs="+", default=[1, 2, 8, 64, 512], metavar="N", help="numbers of ranks (%(default)s)")
add("--steps", type=int, default=100, metavar="N", help="simulated steps (%(default)s)")
options = parser.parse_args()


def host_time(rng, mean):
    """The time of one host call: some tenths up and down, and the tail."""
    time = mean * rng.uniform(0.9, 1.1)
    return time + rng.expovariate(1 / options.interruption) if rng.random() < options.tail else time


def step_time(ranks, way):
    rng = random.Random(1)
    hosts, gpus = [0.0] * ranks, [0.0] * ranks
    for step in range(options.steps):
        if way != "loop" and step % options.ahead == 0:
            hosts = list(gpus)  # the host has waited for the GPU
        if way == "graph":
            for rank in range(ranks):
                hosts[rank] += host_time(rng, options.graph)
                gpus[rank] = max(gpus[rank], hosts[rank])
        for _ in range(options.collectives):
            for rank in range(ranks):
                if way == "streams":
                    for _ in range(options.kernels):
                        hosts[rank] += host_time(rng, options.launch)
                        gpus[rank] = max(gpus[rank], hosts[rank]) + options.work / options.kernels + options.gap
                    hosts[rank] += host_time(rng, options.call)
                    gpus[rank] = max(gpus[rank], hosts[rank])
                else:
                    gpus[rank] += options.work + options.kernels * options.gap
            gpus = [max(gpus) + options.exchange + options.gap] * ranks
    return max(gpus) / options.steps


print(f"{'ranks':>6} {'streams':>9} {'graph':>9} {'loop':>9}   streams/graph")
for count in options.ranks:
    times = [step_time(count, way) for way in ("streams", "graph", "loop")]
    print(f"{count:6} {times[0]:9.1f} {times[1]:9.1f} {times[2]:9.1f}   {times[0] / times[1]:.2f}")
