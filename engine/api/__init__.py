"""The engine as a library: dataflows over collections, in Python.

`Dataflow` is where to begin:

    flow = Dataflow()
    edges = flow.input("edges", source=int, target=int)
    reach = edges.iterate(lambda paths: paths.concat(
        paths.join(edges, on=("target", "source"), select=lambda path, edge: (path.source, edge.target))
    ).distinct()).output()
    edges.insert((1, 2))
    edges.insert((2, 3))
    flow.advance()
    reach.rows()        # {(1, 2): 1, (1, 3): 1, (2, 3): 1}
"""

from engine.api.collection import Arranged, Collection
from engine.api.dataflow import Dataflow
from engine.api.flow import Probe
from engine.api.group_functions import avg, count, descending, max_, min_, python, sum_
from engine.api.inputs import Input
from engine.api.loop_scope import LoopVariable, Scope
from engine.api.outputs import Output
from engine.api.symbolic_rows import Row, Value, sql, when
from engine.errors import EngineError
from engine.plan.row_ids import IdHash

__all__ = [
    "Arranged",
    "Collection",
    "Dataflow",
    "EngineError",
    "IdHash",
    "Input",
    "LoopVariable",
    "Output",
    "Probe",
    "Row",
    "Scope",
    "Value",
    "avg",
    "count",
    "descending",
    "max_",
    "min_",
    "python",
    "sql",
    "sum_",
    "when",
]
