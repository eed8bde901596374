"""An epoch in supersteps: many tasks, each with a share of the changes, and exchanges between them.

This package does not know how messages travel: a transport delivers them, such as Spark's shuffle
(`engine.spark`) or a loop in one process (`engine.supersteps.local`).
"""
