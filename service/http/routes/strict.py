"""Strict requests: all routes refuse unknown parameters, repeated ones, and bodies that are not JSON.

`StrictRoute` checks before FastAPI reads parameters and body; hand-written routes call the same functions.
A body of another type is never tried as JSON, because any page may send a form or plain text to any address
without asking the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Mapping
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, get_type_hints

from fastapi.routing import APIRoute
from pydantic.fields import FieldInfo
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from planner.suggestions import did_you_mean
from service.decoding.parsing import JSON, media_type_of, unsupported_content_type
from service.errors import Invalid
from service.http.bodies import with_body_limit

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_Converter = Callable[[str], tuple[Any, list[Any]]]
"""Gives a parameter's value, or what is wrong with it."""


_OTHER_NAMES = {
    "accept": "format",
    "count": "limit",
    "epoch": "as_of",
    "filter": "where",
    "from": "since",
    "max": "limit",
    "next": "cursor",
    "offset": "cursor",
    "order": "order_by",
    "page": "cursor",
    "page_size": "limit",
    "page_token": "cursor",
    "per_page": "limit",
    "q": "where",
    "query": "where",
    "size": "limit",
    "sort": "order_by",
    "sort_by": "order_by",
    "timestamp": "as_of",
    "to": "until",
    "type": "format",
    "valid_time": "valid_at",
    "version": "as_of",
}
"""What other services call our parameters, where the spelling does not lead to ours."""


class StrictRoute(APIRoute):
    """A route that refuses unknown parameters, and bodies except JSON of up to `FRESHET_SQL_LIMIT` bytes."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        known = frozenset(field.alias for field in self.dependant.query_params)
        takes_body = self.body_field is not None or "requestBody" in (self.openapi_extra or {})
        plain = self._plain()

        async def strict(request: Request) -> Response:
            check_parameters(request, known)
            if takes_body:
                if has_body(request):
                    check_json(request)
                request = with_body_limit(request, request.app.state.settings.sql_limit)
            if plain is not None and (given := _converted(request.query_params, plain)) is not None:
                return await self.endpoint(request=request, **request.path_params, **given)  # type: ignore[no-any-return]
            return await handle(request)

        return strict

    def _plain(self) -> Mapping[str, _Converter | None] | None:
        """The query parameters by name, with what converts and checks those that may not be any text; if the
        route makes a response from the request, texts in its path, and query parameters that may all be left
        out. None if it is something else.

        The framework finds out anew for every request of which kind each parameter is, also of those that
        are left out, which takes longer than a row is read.
        """
        asked = self.dependant
        more = (asked.dependencies, asked.header_params, asked.cookie_params, asked.body_params)
        is_plain = asked.request_param_name == "request" and not any(more) and not self.response_model
        if not is_plain or any(field.field_info.annotation is not str for field in asked.path_params):
            return None
        if any(field.name != field.alias or field.field_info.is_required() for field in asked.query_params):
            return None
        if not iscoroutinefunction(self.endpoint) or get_type_hints(self.endpoint)["return"] is not Response:
            return None
        return {
            field.name: None if _is_any_text(field.field_info) else partial(field.validate, values={}, loc=())
            for field in asked.query_params
        }


def _is_any_text(parameter: FieldInfo) -> bool:
    return parameter.annotation == (str | None) and not parameter.metadata


def _converted(given: QueryParams, converters: Mapping[str, _Converter | None]) -> dict[str, object] | None:
    """The values of query parameters; None if one is wrong, which the framework then says."""
    values: dict[str, object] = {}
    for name, text in given.items():
        convert = converters[name]
        if convert is None:
            values[name] = text
            continue
        values[name], errors = convert(text)
        if errors:
            return None
    return values


def check_parameters(request: Request, known: Collection[str] = ()) -> None:
    """Raises Invalid for a query parameter that the route does not have, or that is given twice."""
    if not request.scope["query_string"]:
        return
    seen: set[str] = set()
    for name, _ in request.query_params.multi_items():
        if name not in known:
            raise _unknown(request.url.path, name[:_LONGEST], known)
        if name in seen:
            raise Invalid(
                f"{request.url.path} has parameter {name!r} twice",
                "send one value",
                code="repeated_parameter",
            )
        seen.add(name)


def _unknown(path: str, name: str, known: Collection[str]) -> Invalid:
    takes = f"it takes {', '.join(sorted(known))}" if known else "it takes none"
    meant = _OTHER_NAMES.get(name.lower().replace("-", "_"), "")
    hint = f"did you mean {meant}?" if meant in known else did_you_mean(name, known, takes)
    return Invalid(f"{path} has no parameter {name!r}", hint, code="unknown_parameter")


def check_json(request: Request) -> None:
    """Raises UnsupportedFormat unless the content type is JSON."""
    given = media_type_of(request.headers.get("content-type", ""))
    if given != JSON and not (given.startswith("application/") and given.endswith("+json")):
        raise unsupported_content_type(given, (JSON,))


def has_body(request: Request) -> bool:
    """Whether a request has a body, even an empty chunked one."""
    headers = request.headers
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


_LONGEST = 100
"""The most characters of a client's input that a message repeats."""
