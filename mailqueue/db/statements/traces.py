"""The statements of sql/queries/traces.sql."""

from mailqueue.db.sql import ManyRows, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

BEGIN_TRACE_PAGE = OneRow.named("begin_trace_page")
"""sql/queries/traces.sql:3: What is exported next, and whether it may be: state ready."""
READ_TRACE_PAGE = ManyRows.named("read_trace_page")
"""sql/queries/traces.sql:8: The next attempts and events to export, in order."""
READ_SEND_STAGES = ManyRows.named("read_send_stages")
"""sql/queries/traces.sql:15: What workers did at attempts of these emails, in the order of time."""
END_TRACE_PAGE = OneValue.named("end_trace_page")
"""sql/queries/traces.sql:20: Write how far spans are exported; false: another process exports."""
RELEASE_TRACE_EXPORT = NoRows.named("release_trace_export")
"""sql/queries/traces.sql:24: Give up the right to export."""
READ_TRACED_CALLS = ManyRows.named("read_traced_calls")
"""sql/queries/traces.sql:28: The oldest calls of webhooks that wait for their export, in order."""
END_TRACED_CALLS = NoRows.named("end_traced_calls")
"""sql/queries/traces.sql:34: Write that the spans of calls are exported."""
