import sys

from bench.table import duration
from bench.wire.run import *

s = QUICK if "quick" in sys.argv else Sizes(1, 300_000, 10_000, 3_000, 60, 100)
for name, of in measure(s, lambda l: print(l, flush=True)).items():
    for system, f in of.items():
        t = f.timing
        print(
            f"{name:35} {system:12} {f.operations / f.elapsed:12,.0f}/s  cpu/op {f.server / f.operations * 1e6:9.1f} us  client {f.client / f.operations * 1e6:6.1f} us",
            "" if t is None else f"median {duration(t.median)} p99 {duration(t.p99)}",
        )
