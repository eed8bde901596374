"""The command line: `freshet`, with one module for each command."""
