"""Values to words and back: JSON rows (`json`), Arrow tables (`arrow`), single values (`values`)."""

from engine.codec.arrow import arrow_type, decode_arrow, decode_column, encode_arrow, encode_column
from engine.codec.json import decode_rows, encode_rows
from engine.codec.values import encoder

__all__ = [
    "arrow_type",
    "decode_arrow",
    "decode_column",
    "decode_rows",
    "encode_arrow",
    "encode_column",
    "encode_rows",
    "encoder",
]
