"""`make bench`: the goals of the engine, each as a ratio within one run. Absolute figures are orientation only.

python -m bench [--quick] [--only PART ...] [--rounds N]
"""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module

from bench.database import running_database
from bench.measuring import ROOT
from bench.part import Bench
from bench.report import Report, Row, table

PARTS = ("acknowledgement", "end_to_end", "engine", "throughput", "start")
OTHERS = ("agents", "events", "floors", "streaming", "usage")
"""Not of the goals: only where they are named."""
ROUNDS = 7


def main() -> int:
    options = _options()
    if shutil.which("wrk") is None:
        print(
            "make bench needs the load generator wrk; install it, for example: apt-get install wrk",
            file=sys.stderr,
        )
        return 1
    os.chdir(ROOT)
    began, report = time.monotonic(), Report()
    with running_database() as database:
        bench = Bench(database, report, 1 if options.quick else options.rounds, quick=options.quick)
        for name in options.only or PARTS:
            print(name, flush=True)
            run: Callable[[Bench], Sequence[Row]] = import_module(f"bench.{name}").run
            report.add(run(bench))
    print(table(report.rows))
    if not (options.quick or options.only):
        report.write(bench.rounds, time.monotonic() - began)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="one short round: a check that the bench itself works"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=(*PARTS, *OTHERS),
        metavar="PART",
        help=f"these parts, without keeping the result: {', '.join((*PARTS, *OTHERS))}",
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each case is measured")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
