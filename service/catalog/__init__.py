"""The catalog: the database tables of definitions, epochs, state files and identity counters."""
