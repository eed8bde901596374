"""Makes the routes of the service and the statements of a start when it is imported: what is forked from a
process that has done so need not."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from service.app import create_app
from service.exposition.otlp_switch import NOTHING
from service.metrics import Metrics
from service.running.state import recover
from service.settings.settings import Settings
from tests import compiled_statements

compiled_statements.share()
with TemporaryDirectory() as directory:
    settings = Settings(data=Path(directory) / "data")
    create_app(settings, otlp=NOTHING).build_middleware_stack()
    recover(settings, Metrics()).close()
