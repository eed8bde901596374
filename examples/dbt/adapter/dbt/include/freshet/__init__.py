"""The macros of Freshet's adapter, as a project of dbt."""

from pathlib import Path

PACKAGE_PATH = str(Path(__file__).parent)
