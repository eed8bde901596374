"""The kernels of large work, loaded in the server of children: each child would load them anew.

They are those that most views need for many rows. A child loads the others itself.
"""

from __future__ import annotations

from engine.kernels.arrange import arrange, arrange_sums, distinct_keys
from engine.kernels.compiled import load
from engine.kernels.hashing import hash_texts
from engine.kernels.index import count_keys
from engine.kernels.join import find_pairs, join, room_for_pairs, write_pairs
from engine.kernels.layers import register, register_index
from engine.kernels.magnitudes import mass
from engine.kernels.merge import compact
from engine.kernels.narrow.narrow_rows import ends_of, read_columns, read_stretch, write_rows
from engine.kernels.narrow.ordered_rows import order_rows
from engine.kernels.parallel.key_parts import assign, column_ends, scatter, splitters
from engine.kernels.radix_index import empty_slots, index_buckets
from engine.kernels.reduce import reduce_sums
from engine.kernels.shards import split
from engine.kernels.texts import find_known, insert

load(arrange, arrange_sums, distinct_keys, compact, mass, reduce_sums)
load(ends_of, read_columns, read_stretch, write_rows, split)
load(assign, column_ends, order_rows, scatter, splitters)
load(count_keys, empty_slots, index_buckets, register, register_index)
load(find_pairs, join, room_for_pairs, write_pairs)
load(hash_texts, insert, find_known)
