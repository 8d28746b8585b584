"""The HTTP API of peal, as Python: see README.md, and docs/API.md for what each call does."""
from typing import Any, Iterator, Optional, Sequence

from . import models
from ._api import Api
from ._transport import Event, Mistake, PealError, Unreachable, default_socket, segment

__all__ = ["Client", "Event", "Mistake", "PealError", "Unreachable", "default_socket", "models"]

END_STATES = frozenset(["ok", "failed", "timed_out", "killed", "lost", "skipped", "missed"])


class Client(Api):
    """All calls of the API, and what goes on: events, outputs."""

    def events(self, topics: Optional[Sequence[str]] = None, last_event_id: Optional[str] = None) -> Iterator[Event]:
        """What happens in the cluster, as it happens: jobs, runs, nodes, calendars. The first event is
        "hello", also of a new connection; "reset" instead: some were missed, and what is shown should be read anew."""
        query = {"topics": ",".join(topics) if topics else None}
        yield from self.stream("/api/v1/events", query, last_event_id)

    def follow_log(self, run_id: str, offset: int = 0) -> Iterator[Event]:
        """The output of a run, from the start on and as it comes: events "chunk", and "end" at last, with
        the run; "absent" while its node does not answer."""
        path = f"/api/v1/runs/{segment(run_id)}/log/stream"
        yield from self.stream(path, {"offset": offset or None}, ends_with="end")

    def raw_log(self, run_id: str) -> bytes:
        """The bytes of the output of a run."""
        return self.call_bytes("GET", f"/api/v1/runs/{segment(run_id)}/log", query={"raw": True})

    def run_and_wait(self, name: str, **options: Any) -> models.Run:
        """Runs a job, and waits for the end of the run. The options are those of run_job."""
        run_id = self.run_job(name, **options)["run_id"]
        for event in self.follow_log(run_id):
            if event.event == "end":
                break
        return self.get_run(run_id)
