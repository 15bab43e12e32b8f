"""The statements of sql/queries/schedules.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

CLAIM_SCHEDULES = ManyRows.named("claim_schedules")
"""sql/queries/schedules.sql:3: Take due schedules for a worker."""
SCHEDULE_TIME = OneValue.named("schedule_time")
"""sql/queries/schedules.sql:11: The time of the database."""
SCHEDULE_ZONE_RELEASE = OneValue.named("schedule_zone_release")
"""sql/queries/schedules.sql:15: The version of the rules of time zones."""
SCHEDULE_CLOCKS = ManyRows.named("schedule_clocks")
"""sql/queries/schedules.sql:19: What clocks show at instants."""
FIRST_OCCURRENCES = ManyRows.named("first_occurrences")
"""sql/queries/schedules.sql:24: The first occurrence of each recurrence after its instant."""
OCCURRENCES_UNTIL = ManyRows.named("occurrences_until")
"""sql/queries/schedules.sql:30: Occurrences up to an instant, in order."""
FIRE_SCHEDULES = ManyRows.named("fire_schedules")
"""sql/queries/schedules.sql:35: Begin the runs of schedules."""
FIND_UNPLANNED_SCHEDULE = MaybeRow.named("find_unplanned_schedule")
"""sql/queries/schedules.sql:40: A schedule whose next occurrence is to be computed."""
PLAN_SCHEDULE = NoRows.named("plan_schedule")
"""sql/queries/schedules.sql:48: Write the next occurrence of a schedule."""
REPLAN_SCHEDULES = OneValue.named("replan_schedules")
"""sql/queries/schedules.sql:52: Have occurrences computed again that other rules of time zones
gave.
"""
ADD_SCHEDULE = MaybeRow.named("add_schedule")
"""sql/queries/schedules.sql:56: Id of the schedule that was added; none: there is one of that name.
"""
CHANGE_SCHEDULE = OneValue.named("change_schedule")
"""sql/queries/schedules.sql:62: What became of a change."""
PAUSE_SCHEDULE = OneValue.named("pause_schedule")
"""sql/queries/schedules.sql:66: State of the schedule afterwards."""
RESUME_SCHEDULE = OneValue.named("resume_schedule")
"""sql/queries/schedules.sql:70: State of the schedule afterwards."""
CANCEL_SCHEDULE = OneRow.named("cancel_schedule")
"""sql/queries/schedules.sql:74: State of the schedule afterwards, its last run, and the emails that
are cancelled.
"""
COUNT_SCHEDULE_MAIL_AHEAD = MaybeRow.named("count_schedule_mail_ahead")
"""sql/queries/schedules.sql:79: Emails of a schedule whose time has not come."""
RUN_SCHEDULE = OneRow.named("run_schedule")
"""sql/queries/schedules.sql:85: The run that was begun."""
SKIP_SCHEDULE = OneRow.named("skip_schedule")
"""sql/queries/schedules.sql:90: The occurrence that is left out."""
SCHEDULE_NAMED = MaybeRow.named("schedule_named")
"""sql/queries/schedules.sql:95: Id of the schedule of that id or name."""
LIST_SCHEDULES = ManyRows.named("list_schedules")
"""sql/queries/schedules.sql:101: Schedules of a project, newest first, or the one of an id."""
LIST_SCHEDULE_RUNS = ManyRows.named("list_schedule_runs")
"""sql/queries/schedules.sql:119: Runs of a schedule, newest first, or the one of a number or an id.
"""
LIST_SCHEDULE_RECIPIENTS = ManyRows.named("list_schedule_recipients")
"""sql/queries/schedules.sql:134: Recipients of a run that was made in parts, by address."""
ESTIMATE_SCHEDULE = MaybeRow.named("estimate_schedule")
"""sql/queries/schedules.sql:144: What a run of a schedule would come to now."""
NETWORKS_OF_RUN = ManyRows.named("networks_of_run")
"""sql/queries/schedules.sql:150: Networks of the next recipients of a run whose time zone is not
known.
"""
CONTINUE_SCHEDULE_RUN = OneValue.named("continue_schedule_run")
"""sql/queries/schedules.sql:155: Make the next mails of a run."""
END_SCHEDULE_RUN = NoRows.named("end_schedule_run")
"""sql/queries/schedules.sql:159: Forget what a finished run was made from."""
