"""An epoch in supersteps: many tasks, each with its share of the changes, and exchanges between them.

Nothing here knows how messages travel: Spark's shuffle is one way (`engine.spark`), a loop in
one process another (`engine.supersteps.local`).
"""
