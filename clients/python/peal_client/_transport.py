"""Requests and streams over HTTP, with nothing but the standard library."""
import http.client
import json
import os
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple
from urllib.parse import quote, urlencode, urlsplit


@dataclass(frozen=True)
class Mistake:
    """What is wrong with one field of a request."""

    pointer: str
    message: str
    line: int = 0
    column: int = 0
    hint: Optional[str] = None


class PealError(Exception):
    """The agent has refused a request: its problem (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: Optional[float] = None) -> None:
        self.status = status
        self.detail = str(problem.get("detail") or problem.get("title") or f"HTTP status {status}")
        self.request_id: Optional[str] = problem.get("request_id")
        self.retry_after = retry_after
        """Seconds after which the same request may succeed."""
        self.errors: List[Mistake] = [
            Mistake(
                str(each.get("pointer", "")),
                str(each.get("message", "")),
                int(each.get("line") or 0),
                int(each.get("column") or 0),
                each.get("hint"),
            )
            for each in problem.get("errors") or []
        ]
        self.problem = dict(problem)
        super().__init__(f"{self.detail} ({status})")


class Unreachable(PealError):
    """There was no answer, or no whole one: whether the request was done is not known."""

    def __init__(self, why: str) -> None:
        super().__init__(0, {"detail": why})


@dataclass(frozen=True)
class Event:
    """A server-sent event."""

    event: str
    data: Any
    id: str = ""


def segment(name: str) -> str:
    """A name as one segment of a path."""
    return quote(name, safe="")


def given(fields: Mapping[str, Any]) -> Dict[str, Any]:
    """The fields that are not None."""
    return {key: value for key, value in fields.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("peal", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def default_socket() -> str:
    """The socket of an agent of this user with the default data folder, or of $PEAL_DATA."""
    data = os.environ.get("PEAL_DATA")
    if not data and os.geteuid() == 0:
        data = "/var/lib/peal"
    elif not data:
        state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
        data = os.path.join(state, "peal")
    return os.path.join(data, "api.sock")


class Transport:
    """Where the agent is, and how it is asked. Each request has a connection of its own, so that one
    client serves many threads.

    url: "https://HOST:7325", or "unix:///PATH/api.sock". None: $PEAL_URL, else the default socket.
    token: None: $PEAL_TOKEN. On the socket none is needed.
    ca: a file with the CA of the server's certificate. None: $PEAL_CA, else the system's.
    timeout: seconds that a request waits for the next bytes.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        token: Optional[str] = None,
        ca: Optional[str] = None,
        timeout: float = 60.0,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        url = url or os.environ.get("PEAL_URL") or "unix://" + default_socket()
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "unix"):
            raise ValueError(f"expected http://, https:// or unix://, not {url!r}")
        self.url = url
        self.timeout = timeout
        self._parts = parts
        self._token = token or (os.environ.get("PEAL_TOKEN") if parts.scheme != "unix" else None)
        self._headers = dict(headers or {})
        self._tls: Optional[ssl.SSLContext] = None
        if parts.scheme == "https":
            self._tls = ssl.create_default_context(cafile=ca or os.environ.get("PEAL_CA"))

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._parts.scheme == "unix":
            return _UnixConnection(self._parts.path, timeout)
        host, port = self._parts.hostname or "", self._parts.port
        if self._tls:
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._tls)
        return http.client.HTTPConnection(host, port, timeout=timeout)

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: Any,
        headers: Dict[str, str],
        timeout: float,
    ) -> Tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        pairs = {key: _text(value) for key, value in query.items() if value is not None}
        target = path + ("?" + urlencode(pairs) if pairs else "")
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        connection = self._connect(timeout)
        try:
            connection.request(method, target, data, {**self._headers, **headers})
            response = connection.getresponse()
            if response.status >= 400:
                raise _problem(response)
            return connection, response
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Unreachable(f"{self.url}: {error}") from error
        except PealError:
            connection.close()
            raise

    def call_bytes(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        content_type: str = "application/json",
        if_match: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> bytes:
        """The bytes of an answer; PealError: it is a problem."""
        sent = dict(headers or {})
        if body is not None:
            sent["Content-Type"] = content_type
        if if_match is not None:
            sent["If-Match"] = '"' + if_match.strip('"') + '"'
        if idempotency_key is not None:
            sent["Idempotency-Key"] = idempotency_key
        connection, response = self._send(method, path, query or {}, body, sent, self.timeout)
        try:
            return response.read()
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.url}: {error}") from error
        finally:
            connection.close()

    def call(self, method: str, path: str, **options: Any) -> Any:
        return json.loads(self.call_bytes(method, path, **options))

    def call_text(self, method: str, path: str, **options: Any) -> str:
        return self.call_bytes(method, path, **options).decode()

    def stream(
        self, path: str, query: Mapping[str, Any], last_id: Optional[str] = None, ends_with: str = ""
    ) -> Iterator[Event]:
        """Events without an end, or up to the one of that name. A connection that breaks is made again
        after a pause, and goes on behind the last event. PealError: it can't go on."""
        pause = 0.5
        while True:
            try:
                for event in self._stream_once(path, query, last_id):
                    pause = 0.5
                    last_id = event.id or last_id
                    yield event
                    if event.event == ends_with:
                        return
            except Unreachable:
                pass
            except PealError as error:
                if error.status not in (429, 502, 503, 504):
                    raise
                pause = max(pause, error.retry_after or 0.0)
            time.sleep(pause)
            pause = min(pause * 2, 15.0)

    def _stream_once(self, path: str, query: Mapping[str, Any], last_id: Optional[str]) -> Iterator[Event]:
        headers = {"Accept": "text/event-stream"}
        if last_id:
            headers["Last-Event-ID"] = last_id
        # The agent sends a comment every 15 to 30 s: what is silent for longer is gone.
        connection, response = self._send("GET", path, query, None, headers, 60.0)
        try:
            yield from _events(response)
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.url}: {error}") from error
        finally:
            connection.close()


def _problem(response: http.client.HTTPResponse) -> PealError:
    text = response.read()
    after = response.getheader("Retry-After") or ""
    try:
        problem = json.loads(text)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"detail": text.decode(errors="replace").strip()[:500]}
    return PealError(response.status, problem, float(after) if after.isdigit() else None)


def _events(response: http.client.HTTPResponse) -> Iterator[Event]:
    event, data, last_id = "", [], ""  # type: str, List[str], str
    for raw in iter(response.readline, b""):
        line = raw.decode().rstrip("\r\n")
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if not line:
            if data:
                yield Event(event or "message", json.loads("\n".join(data)), last_id)
            event, data = "", []
        elif field == "event":
            event = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            last_id = value
