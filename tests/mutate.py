#!/usr/bin/env python3
"""Plants one-line defects in lib/ and builder/ at random, and tells which ones the tests do not notice.

    tests/mutate.py --folder FOLDER [--in PATH]... [--count 200] [--seed 1] [--jobs 2]
    tests/mutate.py --folder FOLDER --again FILE

Copies the sources to FOLDER, plants all defects there as switches (tests/mutation/planting.py), and builds it once for the
CPU runtime, with $CXX. Then it runs each test without a defect, which tells the defects that the test comes by, and judges
the defects that were drawn: the tests that come by one run with it. FOLDER is used again: what has not changed is neither
compiled nor run anew, but a test whose name has stayed is not recorded anew either (--afresh does).
Prints each defect that passed and, in the end or when it is interrupted, a score; exits with 1 if one passed that
tests/mutants.txt does not explain. With --again it judges those anew that an earlier output, FILE, says survived.
With --in only sources whose path begins so get defects: lib/exec/, or lib/graph/planning.cpp.
"""
import argparse
import concurrent.futures
import os
import signal
import sys
from pathlib import Path

from mutation.building import PlantedBuild
from mutation.defects import EXCUSES, all_mutants, draw, excuses, outdated, survivors_of
from mutation.judging import Records, Runner, judge, record, tests_of


class Score:
    """What came of the defects that compile."""

    def __init__(self):
        self.explained = excuses()
        self.noticed, self.survived, self.excused = 0, 0, 0

    def add(self, mutant, verdict):
        if verdict not in ("survived", "unreached"):
            self.noticed += 1
            print(f"noticed: {mutant.file}:{mutant.line + 1}: {mutant.kind}, by {verdict}", flush=True)
        elif (mutant.file, mutant.before.strip(), mutant.after.strip()) in self.explained:
            self.excused += 1
        else:
            self.survived += 1
            print(f"{verdict}: {mutant}", flush=True)

    def __str__(self):
        total = self.noticed + self.survived
        return f"{self.noticed} of {total} noticed ({100 * self.noticed / max(total, 1):.1f} %), " \
            f"{self.excused} explained in {EXCUSES.name}"


def record_all(pool, runner, records, tests, defects):
    missing = [test for test in tests if test not in records.of_test]
    failed = []
    for test, recorded in zip(missing, pool.map(lambda test: record(runner, test, defects), missing)):
        if recorded is None:
            failed.append(test)
        else:
            records.of_test[test] = recorded
    records.keep_only(tests)
    records.write()
    if failed and not runner.stopped:
        sys.exit("".join(f"mutate: fails without a defect: {test}\n" for test in failed))


def judge_all(pool, runner, records, numbered, score):
    """`numbered` are (number, mutant)."""
    waiting, candidates = {}, iter(numbered)
    def submit():
        if (next_one := next(candidates, None)) is not None:
            waiting[pool.submit(judge, runner, next_one[0], records)] = next_one[1]
    for _ in range(pool._max_workers):
        submit()
    while waiting:
        done, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            mutant = waiting.pop(future)
            if future.result() is not None:
                score.add(mutant, future.result())
            submit()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--count", type=int, default=200, help="how many defects (200); 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--in", dest="places", action="append", metavar="PATH", help="only in sources whose path begins so")
    parser.add_argument("--again", type=Path, metavar="FILE", help="judge the survivors of an earlier output")
    parser.add_argument("--afresh", action="store_true", help="record every test anew")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    places = tuple(options.places or [""])
    score, mutants = Score(), [mutant for mutant in all_mutants() if mutant.file.startswith(places)]
    for entry in outdated(score.explained):
        print(f"{EXCUSES.name} explains what is no longer there: {entry}", flush=True)
    planted = PlantedBuild(options.folder, mutants, options.jobs)
    planted.make()
    number_of = {mutant: number for number, mutant in enumerate(mutants, 1)}
    usable = [mutant for mutant in mutants if number_of[mutant] not in planted.dropped | planted.left_out]
    print(f"{len(usable)} of {len(mutants)} defects are planted", flush=True)
    if options.again:
        chosen = list(survivors_of(options.again.read_text()))
    else:
        chosen = list(draw(usable, options.seed))[:options.count or None]

    runner, records = Runner(planted.build), Records(options.folder / "records", planted.key)
    if options.afresh:
        records.of_test.clear()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    interrupted = False
    pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
    try:
        record_all(pool, runner, records, list(tests_of(planted.build)), len(mutants))
        judge_all(pool, runner, records, [(number_of[mutant], mutant) for mutant in chosen if mutant in set(usable)], score)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        runner.stop()
        pool.shutdown(cancel_futures=True)
    print(f"{'survivors' if options.again else f'seed {options.seed}'}: {score}{', interrupted' if interrupted else ''}")
    return 1 if score.survived or interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
