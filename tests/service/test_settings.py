"""Settings from the environment."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from service.settings.mistaken_variables import mistaken_variables
from service.settings.settings import SETTINGS, Settings


def test_defaults() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings()
    assert settings.url == "sqlite:///data/freshet.db"


def test_variables_are_read_as_their_types() -> None:
    settings = Settings.from_environment(
        {"FRESHET_PORT": "9", "FRESHET_DATA": "/tmp/x", "FRESHET_HOST": "::", "OTHER": "1"}
    )
    assert (settings.port, settings.data, settings.host) == (9, Path("/tmp/x"), "::")
    assert settings.url == "sqlite:////tmp/x/freshet.db"


def test_spark_is_configured_by_pairs() -> None:
    conf = " spark.executor.memory=4g; spark.executor.extraJavaOptions=-Da=b;"
    options = Settings.from_environment({"FRESHET_SPARK_CONF": conf, "FRESHET_DATA": "/d"}).spark_options
    assert options.conf == {"spark.executor.memory": "4g", "spark.executor.extraJavaOptions": "-Da=b"}
    assert (options.scratch, options.master, options.remote) == (Path("/d/spark"), "local[*,4]", "")


def test_database_url_wins_over_the_data_directory() -> None:
    assert Settings(database_url="postgresql://h/d").url == "postgresql://h/d"


@pytest.mark.parametrize(
    ("variable", "text"),
    [("FRESHET_PORT", "many"), ("FRESHET_PAGE_ROWS", "0"), ("FRESHET_SPARK_CONF", "fast")],
)
def test_a_bad_value_names_its_variable(variable: str, text: str) -> None:
    with pytest.raises(ValueError, match=variable):
        Settings.from_environment({variable: text})


def test_a_bad_number_says_what_it_has_to_be() -> None:
    for variable, text, said in (
        ("FRESHET_BUILDS", "0", "FRESHET_BUILDS is 0, and has to be at least 1"),
        ("FRESHET_THREADS", "-1", "FRESHET_THREADS is -1, and has to be at least 0"),
        ("FRESHET_PORT", "many", "FRESHET_PORT is 'many', not a whole number"),
    ):
        with pytest.raises(ValueError, match=f"^{said}$"):
            Settings.from_environment({variable: text})


def test_a_mistyped_variable_is_told() -> None:
    """Others of the command line and of nobody are not."""
    given = dict.fromkeys(("FRESHET_BILDS", "freshet_port", "FRESHET_KEY", "FRESHET_X", "HOST", "PORT"), "1")
    assert list(mistaken_variables(given)) == [
        "the environment's FRESHET_BILDS is no setting, and is not read; did you mean FRESHET_BUILDS?",
        "the environment's freshet_port is no setting, and is not read; did you mean FRESHET_PORT?",
    ]


def test_settings_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().port = 1  # type: ignore[misc]


def test_every_setting_is_listed_once() -> None:
    variables = [setting.variable for setting in SETTINGS]
    assert len(set(variables)) == len(variables) == len(fields(Settings))
    assert all(v.startswith("FRESHET_") for v in variables)
    assert all(setting.meaning for setting in SETTINGS)
