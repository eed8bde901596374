"""The parameter by which a request names the branch that it is for."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

BRANCH = "branch"
BRANCH_MEANING = "The branch that the request is for; by default main."
OnBranch = Annotated[str | None, Query(description=BRANCH_MEANING)]
