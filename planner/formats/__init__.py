"""Formats of dates, times and numbers in the languages of the dialects.

Parsing keeps the calls of functions with formats as they are written (`format_calls`, `format_functions`).
`formatted` (`format_meaning`) returns their meaning as DuckDB's SQL. The scanner of the language (`postgres`,
`oracle`, `percents`, `letters`, over `format_scanner`) divides a format into elements that all languages
share (`elements`). `write_formats` turns a moment into text by them, and `read_formats` a text into a moment.
A token that a language lacks, or that has no known expression, is refused by its name and place.
"""

from planner.formats.format_calls import keeping_formats
from planner.formats.format_meaning import formatted

__all__ = ["formatted", "keeping_formats"]
