"""Formats of dates, times and numbers in the languages of the dialects.

Parsing keeps the calls of `functions` as they are written (`calls`); `formatted` (`meaning`) says what one
means, as DuckDB's SQL. A format is taken apart by the `scanning` of its language (`postgres`, `oracle`,
`percents`, `letters`) into elements that all languages share (`elements`). Then `writing` makes a text of a
moment by them, or `reading` a moment of a text. What a language does not have, or what no expression is
known for, is refused by its name and place.
"""

from planner.formats.format_calls import keeping_formats
from planner.formats.format_meaning import formatted

__all__ = ["formatted", "keeping_formats"]
