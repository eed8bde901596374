"""Alembic's entry point: runs the migrations on the connection that the service passes in."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transaction_per_migration=False)
context.run_migrations()
