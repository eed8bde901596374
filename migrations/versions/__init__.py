"""One module a migration, in a chain by `down_revision`."""
