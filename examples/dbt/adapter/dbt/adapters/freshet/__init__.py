"""The dbt adapter of Freshet. dbt finds it by the `type` of a profile."""

from dbt.adapters.base import AdapterPlugin
from dbt.adapters.freshet.connections import FreshetConnectionManager
from dbt.adapters.freshet.credentials import FreshetCredentials
from dbt.adapters.freshet.impl import FreshetAdapter
from dbt.include import freshet as include

__all__ = ["FreshetAdapter", "FreshetConnectionManager", "FreshetCredentials", "Plugin"]

Plugin = AdapterPlugin(
    adapter=FreshetAdapter,  # type: ignore[arg-type]
    credentials=FreshetCredentials,
    include_path=include.PACKAGE_PATH,
)
