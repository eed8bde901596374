"""Plans into running operators: a family of nodes a file."""
