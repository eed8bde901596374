"""Senders: how calls become answers. These two send over HTTP; `freshet/sending/embedded.py` has one without.

A sender does not repeat calls and does not look into answers. It raises UnreachableError if no answer comes.
`freshet/sending/leader_senders.py` chooses among several of them.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import httpx

from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.errors import UnexpectedAnswerError, UnreachableError, error_of

_CONNECT_SECONDS = 10.0
_ASKING_SECONDS = 3.0
"""A service that does not say for so long whether it leads is one that hangs."""
FEED_SECONDS = 60.0
"""A feed is never silent for longer: the service sends a sign of life every 15 seconds."""
_NOT_BEGUN = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
Verify = ssl.SSLContext | bool


class Sender(Protocol):
    """Sends calls from any thread."""

    def send(self, call: ApiCall[Any]) -> ApiAnswer:
        """The answer, of any status."""
        ...

    def stream(self, call: ApiCall[Any]) -> Iterator[bytes]:
        """The body of a successful answer as it comes. Raises the Error of any other."""
        ...

    def close(self) -> None: ...


class AsyncSender(Protocol):
    """Sends calls on the event loop."""

    async def send(self, call: ApiCall[Any]) -> ApiAnswer: ...

    def stream(self, call: ApiCall[Any]) -> AsyncIterator[bytes]: ...

    async def close(self) -> None: ...


def _options(url: str, key: str | None, timeout: float, verify: Verify) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    times = httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS))
    # To load the certificates that the machine trusts takes longer than a hundred calls.
    is_secure = url.lower().startswith("https:")
    return {"base_url": url, "headers": headers, "timeout": times, "verify": verify if is_secure else False}


def _request(http: httpx.Client | httpx.AsyncClient, call: ApiCall[Any], **options: Any) -> httpx.Request:
    return http.build_request(
        call.method,
        call.path,
        params=call.query or None,
        headers=call.headers,
        content=call.body or None,
        **options,
    )


def _stream_request(http: httpx.Client | httpx.AsyncClient, call: ApiCall[Any]) -> httpx.Request:
    timeout = httpx.Timeout(FEED_SECONDS, connect=_CONNECT_SECONDS)
    return _request(http, call, timeout=timeout)


def _leads_request(http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
    return http.build_request("GET", "/readyz", params={"role": "leader"}, timeout=_ASKING_SECONDS)


def _answer(response: httpx.Response) -> ApiAnswer:
    return ApiAnswer(response.status_code, response.headers, response.content)


def _refuse(response: httpx.Response) -> None:
    answer = _answer(response)
    if answer.status < 400:
        raise UnexpectedAnswerError(answer.status, "it redirects, and redirections are not followed")
    raise error_of(answer.status, answer.problem())


class HttpSender:
    """Keeps connections open between calls."""

    def __init__(self, url: str, key: str | None, timeout: float, verify: Verify) -> None:
        self.url = url
        self._http = httpx.Client(**_options(url, key, timeout, verify))

    def send(self, call: ApiCall[Any]) -> ApiAnswer:
        with _reaching(self.url):
            return _answer(self._http.send(_request(self._http, call)))

    def leads(self) -> bool:
        """Whether the service answers, and makes changes."""
        try:
            return self._http.send(_leads_request(self._http)).status_code == 200
        except httpx.TransportError:
            return False

    def stream(self, call: ApiCall[Any]) -> Iterator[bytes]:
        with _reaching(self.url):
            response = self._http.send(_stream_request(self._http, call), stream=True)
            try:
                if not response.is_success:
                    response.read()
                    _refuse(response)
                yield from response.iter_bytes()
            finally:
                response.close()

    def close(self) -> None:
        self._http.close()


class AsyncHttpSender:
    """The same on an event loop."""

    def __init__(self, url: str, key: str | None, timeout: float, verify: Verify) -> None:
        self.url = url
        self._http = httpx.AsyncClient(**_options(url, key, timeout, verify))

    async def send(self, call: ApiCall[Any]) -> ApiAnswer:
        with _reaching(self.url):
            return _answer(await self._http.send(_request(self._http, call)))

    async def leads(self) -> bool:
        try:
            return (await self._http.send(_leads_request(self._http))).status_code == 200
        except httpx.TransportError:
            return False

    async def stream(self, call: ApiCall[Any]) -> AsyncIterator[bytes]:
        with _reaching(self.url):
            response = await self._http.send(_stream_request(self._http, call), stream=True)
            try:
                if not response.is_success:
                    await response.aread()
                    _refuse(response)
                async for piece in response.aiter_bytes():
                    yield piece
            finally:
                await response.aclose()

    async def close(self) -> None:
        await self._http.aclose()


@contextmanager
def _reaching(url: str) -> Iterator[None]:
    """Turns httpx's errors into an UnreachableError."""
    try:
        yield
    except httpx.ReadTimeout:
        raise UnreachableError(
            f"{url} did not answer in time",
            "whether the request was carried out is not known; connect(timeout=...) sets the time",
            began=True,
            code="timeout",
        ) from None
    except (httpx.TransportError, httpx.InvalidURL) as error:
        began = not isinstance(error, (*_NOT_BEGUN, httpx.InvalidURL))
        reason = str(error) or type(error).__name__
        raise UnreachableError(
            f"{url} cannot be reached: {reason}", _way_out(error, began), began=began
        ) from None


def _way_out(error: Exception, began: bool) -> str:
    """The hint for a service that is not reached."""
    if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL)):
        return "an address begins with http:// or https://"
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return (
            "name who signed its certificate: FRESHET_CERTIFICATE=file.pem, or connect(verify=...) in Python"
        )
    if isinstance(error, httpx.RemoteProtocolError):
        return (
            "the connection ended before the answer: whether the request was carried out is not known; "
            "if the service speaks TLS, its address begins with https://"
        )
    if began:
        return "the connection ended before the answer: whether the request was carried out is not known"
    return (
        "start the service with `freshet serve`, or name its address: FRESHET_URL, or connect(url) in Python"
    )
