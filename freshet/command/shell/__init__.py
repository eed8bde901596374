"""The shell of `freshet sql`: lines, completion, its own commands, and watching a view."""
