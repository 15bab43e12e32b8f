# Made from mailqueue/client/asynchronous, which is to be changed instead:
# python -m tests.client.made --write

"""Schedules."""

from collections.abc import Mapping
from typing import Any, Unpack
from uuid import UUID

from mailqueue.client import answers, schedules
from mailqueue.client.schedules import ScheduleFields
from mailqueue.client.synchronous.calls import Calls


class Schedules(Calls):
    """Methods for schedules."""

    def create_schedule(
        self, schedule_type: str, payload: Mapping[str, Any], **fields: Unpack[ScheduleFields]
    ) -> answers.Schedule:
        """Add a schedule of type once, cron or local; `payload` is as in the API."""
        return self._ask(schedules.create(schedule_type, payload, fields))

    def try_schedule(
        self, schedule_type: str, payload: Mapping[str, Any], **fields: Unpack[ScheduleFields]
    ) -> answers.ScheduleEstimate:
        """Return what a run of such a schedule would come to; it is not added."""
        return self._ask(schedules.try_out(schedule_type, payload, fields))

    def schedule(self, schedule_id: UUID | str) -> answers.Schedule:
        """Return a schedule."""
        return self._ask(schedules.get(schedule_id))

    def schedules(
        self, *, status: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> answers.Page[answers.Schedule]:
        """Return one page of schedules, newest first."""
        return self._ask(schedules.list_page({"status": status, "limit": limit, "cursor": cursor}))

    def pause_schedule(self, schedule_id: UUID | str) -> answers.Schedule:
        """Pause a schedule."""
        return self._ask(schedules.act(schedule_id, "pause"))

    def resume_schedule(self, schedule_id: UUID | str) -> answers.Schedule:
        """Resume a schedule; occurrences of the pause are left out."""
        return self._ask(schedules.act(schedule_id, "resume"))

    def cancel_schedule(self, schedule_id: UUID | str) -> answers.CancelledRun:
        """Cancel a schedule, and mail of its runs whose time has not come."""
        return self._ask(schedules.cancel(schedule_id))

    def schedule_runs(
        self, schedule_id: UUID | str, *, limit: int = 50, cursor: str | None = None
    ) -> answers.Page[answers.ScheduleRun]:
        """Return one page of the runs of a schedule, newest first."""
        return self._ask(schedules.runs(schedule_id, {"limit": limit, "cursor": cursor}))

    def preview_schedule(self, schedule_id: UUID | str, *, count: int = 5) -> answers.NextRuns:
        """Return the next runs of a schedule."""
        return self._ask(schedules.preview(schedule_id, count))

    def run_schedule(self, schedule_id: UUID | str) -> answers.ScheduleRun:
        """Run a schedule now, beside its own times."""
        return self._ask(schedules.run_now(schedule_id))

    def skip_run(self, schedule_id: UUID | str) -> answers.SkippedRun:
        """Leave out the next run of a schedule."""
        return self._ask(schedules.skip(schedule_id))

    def estimate_schedule(self, schedule_id: UUID | str) -> answers.ScheduleEstimate:
        """Return how many emails the next run would send, and what limits allow."""
        return self._ask(schedules.estimate(schedule_id))
