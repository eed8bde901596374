"""The pipeline: loads, exports, sources that watch directories, and sinks that write files."""
