"""The engine as a library: dataflows over collections, in Python."""
