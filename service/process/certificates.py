"""TLS: the context of all connections, whose certificate can be replaced while they are open.

New connections get the new certificate; those that are open go on with the old one.
"""

from __future__ import annotations

import logging
import signal
import ssl
from types import FrameType

_log = logging.getLogger("freshet.tls")


class Certificate:
    """A certificate and its private key, in two files of PEM."""

    def __init__(self, certificate: str, key: str) -> None:
        """Reads the files. Raises ValueError if they cannot be used."""
        self._files = certificate, key
        self.context = self._read()

    def reload(self) -> None:
        """Reads the files again. If they cannot be used, the old certificate stays, and the log says why."""
        try:
            self._read()  # into a context that nobody uses, because half a change would be none
            self.context.load_cert_chain(*self._files, password=_none)
        except (OSError, ValueError) as error:
            _log.error("the certificate stays as it was: %s", error)
        else:
            _log.info("the certificate was read again")

    def reload_on(self, number: signal.Signals) -> None:
        """Reloads whenever the process gets the signal."""

        def handle(sig: int, frame: FrameType | None) -> None:
            self.reload()

        signal.signal(number, handle)

    def _read(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(*self._files, password=_none)
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
            raise ValueError(
                f"the certificate cannot be used (FRESHET_TLS_CERTIFICATE, FRESHET_TLS_KEY): "
                f"{str(reason).lower().replace('_', ' ')}"
            ) from None
        return context


def _none() -> str:
    """Nobody is there to type the password of a key."""
    raise ValueError("the key is encrypted, and there is nobody to type its password")
