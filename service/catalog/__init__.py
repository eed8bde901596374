"""The catalog: what the database keeps of definitions, epochs, files and counters."""
