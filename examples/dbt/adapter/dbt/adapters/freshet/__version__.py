"""The version that `dbt --version` shows."""

version = "0.1.0"
