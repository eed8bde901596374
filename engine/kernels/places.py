"""Places: how many more rows a group's answer takes, at each of its versions.

A version is the state of a group between two of its changes. Rows are offered in the wanted order, each for
the versions in which it exists; each copy takes a place as long as places are free. The last `limit` places
count; those before them are the offset. What a row gains differs between neighbouring versions only if places
ran out in one, and a tree over the versions finds just these.

There is a tree for every corner s of a time, in int64[corners, 2 * leaves, FIELDS]. It is a heap: node 1 is
the root, nodes 2n and 2n + 1 lie below n, and leaf v is node leaves + v. LEAST and MOST are the fewest and
the most free places of the versions below a node; TAKEN is what each of them took that the nodes below do not
know of yet.
"""

from __future__ import annotations

from numba import njit

LEAST, MOST, TAKEN, FIELDS = 0, 1, 2, 3

# Gains, a line a version: how much more it gains than the version before, and the next version in the list of
# noted versions, which begins at line 0 and ends with LAST.
MORE, FOLLOWING = 0, 1
LAST = -1

STACK = 256
"""Lines of scratch for a walk in a tree: three a level are enough."""


@njit
def leaves_for(versions):
    """The number of leaves of a tree over `versions` versions: a power of two."""
    leaves = 1
    while leaves < versions:
        leaves *= 2
    return leaves


@njit
def fill(trees, s, leaves, first, last, places):
    """Give `places` free places to the versions first ≤ v < last, and none to the others."""
    for v in range(leaves):
        free = places if first <= v < last else 0
        trees[s, leaves + v, LEAST] = free
        trees[s, leaves + v, MOST] = free
        trees[s, leaves + v, TAKEN] = 0
    for node in range(leaves - 1, 0, -1):
        trees[s, node, TAKEN] = 0
        _look_below(trees, s, node)


@njit(inline="always")
def _look_below(trees, s, node):
    trees[s, node, LEAST] = min(trees[s, 2 * node, LEAST], trees[s, 2 * node + 1, LEAST])
    trees[s, node, MOST] = max(trees[s, 2 * node, MOST], trees[s, 2 * node + 1, MOST])


@njit(inline="always")
def _take(trees, s, node, copies):
    """Take `copies` places from every version below `node`."""
    trees[s, node, LEAST] -= copies
    trees[s, node, MOST] -= copies
    trees[s, node, TAKEN] += copies


@njit(inline="always")
def _tell_below(trees, s, node):
    """Pass TAKEN on to the nodes below."""
    taken = trees[s, node, TAKEN]
    if taken > 0:
        _take(trees, s, 2 * node, taken)
        _take(trees, s, 2 * node + 1, taken)
        trees[s, node, TAKEN] = 0


@njit(inline="always")
def _push(stack, height, node, low, high):
    stack[height, 0] = node
    stack[height, 1] = low
    stack[height, 2] = high
    return height + 1


@njit(inline="always")
def _counted(copies, free, limit):
    """How many of a row's copies get a place that counts, if `free` places are free."""
    taken = min(copies, free)
    return taken - max(min(free - limit, taken), 0)


@njit(inline="always")
def _note(gains, version, more):
    """Note that the versions from `version` on gain `more`, measured against version 0."""
    if version > 0 and more != 0:
        if gains[version, FOLLOWING] == 0:
            gains[version, FOLLOWING] = gains[0, FOLLOWING]
            gains[0, FOLLOWING] = version
        gains[version, MORE] += more


@njit
def offer(trees, s, leaves, first, last, copies, limit, sign, gains, stack):
    """Offer copies of a row to the versions first ≤ v < last.

    Notes in `gains`, times `sign`, how many get a place that counts. `stack` is scratch.
    """
    height = _push(stack, 0, 1, 0, leaves)
    while height > 0:
        height -= 1
        node, low, high = stack[height, 0], stack[height, 1], stack[height, 2]
        if node < 0:
            _look_below(trees, s, -node)
            continue
        if high <= first or last <= low or trees[s, node, MOST] == 0:
            continue
        least = trees[s, node, LEAST]
        most = trees[s, node, MOST]
        if first <= low and high <= last and (copies <= least or least == most):
            gain = _counted(copies, least, limit)
            if gain == _counted(copies, most, limit):
                _take(trees, s, node, min(copies, least))
                _note(gains, low, sign * gain)
                _note(gains, high, -sign * gain)
                continue
        _tell_below(trees, s, node)
        middle = (low + high) >> 1
        stack[height, 0] = -node
        height = _push(stack, height + 1, 2 * node + 1, middle, high)
        height = _push(stack, height, 2 * node, low, middle)
