"""The tables of transitions in the documentation, what a database does, and which functions may."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mailqueue.db.fetch import Conn
from tests import make

PAGE = Path(__file__).parents[3] / "docs" / "inbox-watch.md"
MACHINES = ("Inbox", "Channel", "Notification")
_WRITES = re.compile(
    r"UPDATE mailqueue\.(?:mailboxes|notification_channels|notifications)\b[^;]*?\bSET\b"
    r"(?:(?!\bWHERE\b)[^;])*?(?<![.\w])status = "
    r"|INSERT INTO mailqueue\.(?:mailboxes|notification_channels|notifications)\b"
)

# States as the views have them. A summary is what its mail is `batched` in.
_RECORD = """
CREATE TABLE public.transitions (n serial, machine text, id uuid, was text, state text, by text);
CREATE FUNCTION public.state_of(r jsonb, is_batched boolean) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN r IS NULL THEN NULL
                WHEN r ? 'channel_type' THEN r ->> 'status'
                WHEN r ? 'sealed_password' THEN
                     CASE WHEN r ->> 'status' = 'failed' THEN 'error'
                          WHEN r ->> 'paused_by' IS NOT NULL THEN 'paused' ELSE 'active' END
                WHEN r ->> 'status' = 'held' THEN 'unknown'
                WHEN r ->> 'status' = 'merged' THEN 'batched'
                WHEN r ->> 'status' NOT IN ('pending', 'assigned') THEN r ->> 'status'
                WHEN is_batched THEN 'batched'
                WHEN r ->> 'status' = 'pending' AND (r ->> 'attempts')::integer > 0
                     AND (r ->> 'run_at')::timestamptz > clock_timestamp() THEN 'failed'
                ELSE 'pending' END
$$;
CREATE FUNCTION public.note_transition() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    c_machine CONSTANT text := CASE TG_TABLE_NAME WHEN 'mailboxes' THEN 'Inbox'
        WHEN 'notifications' THEN 'Notification' ELSE 'Channel' END;
    v_old jsonb := CASE TG_OP WHEN 'UPDATE' THEN to_jsonb(OLD) END;
    v_context text;
BEGIN
    GET DIAGNOSTICS v_context = PG_CONTEXT;
    INSERT INTO public.transitions (machine, id, was, state, by)
    SELECT DISTINCT c_machine, NEW.id, t.was, t.state,
           (SELECT m.found[1]
              FROM regexp_matches(v_context, 'function "?(?:mailqueue\\.|public\\.)?(\\w+)', 'g')
                   WITH ORDINALITY AS m(found, n)
             WHERE m.found[1] <> 'note_transition' ORDER BY m.n LIMIT 1)
      FROM (SELECT public.state_of(v_old, b.is_batched) AS was,
                   public.state_of(to_jsonb(NEW), b.is_batched) AS state
              FROM (VALUES (false), (true)) AS b (is_batched)
             WHERE NOT b.is_batched
                OR to_jsonb(NEW) ->> 'kind' = 'summary' AND v_old IS NOT NULL) AS t
     WHERE t.was IS DISTINCT FROM t.state;
    RETURN NULL;
END $$;
"""


class Transition(NamedTuple):
    """A change of the state of an inbox, a channel or a notification."""

    machine: str
    was: str
    state: str


async def record(conn: Conn) -> None:
    """Note each transition of a database from now on, with the function that made it."""
    await conn.execute(_RECORD.encode())
    for table in ("mailboxes", "notification_channels", "notifications"):
        await conn.execute(
            f"CREATE TRIGGER noted AFTER INSERT OR UPDATE ON mailqueue.{table}"
            " FOR EACH ROW EXECUTE FUNCTION public.note_transition()".encode()
        )


async def recorded(conn: Conn) -> dict[Transition, set[str]]:
    """Return the transitions that were noted, each with the functions that made it.

    A notification whose time has come is pending without one: a test moves its time.
    """
    query = "SELECT machine, coalesce(was, '–'), state, array_agg(DISTINCT coalesce(by, 'time'))"
    rows = await make.rows(conn, f"{query} FROM public.transitions GROUP BY 1, 2, 3")
    return {Transition(*row[:3]): set(row[3]) for row in rows}


def documented() -> Mapping[Transition, set[str]]:
    """Return the transitions of the page, each with the functions that may make it."""
    found: dict[Transition, set[str]] = {}
    machine = ""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            machine = ""
        elif len(cells) == 4 and cells[0] in MACHINES and cells[1] == "becomes":
            machine = cells[0]
        elif machine and not cells[0].startswith("---"):
            one = Transition(machine, cells[0].strip("`"), cells[1].strip("`"))
            assert one not in found, f"{one} has two rows"
            found[one] = {name.strip("`") for name in cells[3].split(", ")}
    return found


async def writers(conn: Conn) -> set[str]:
    """Return the functions whose text writes a state."""
    query = (
        "SELECT p.proname, p.prosrc FROM pg_catalog.pg_proc AS p"
        " WHERE p.pronamespace = 'mailqueue'::regnamespace"
    )
    return {name for name, text in await make.rows(conn, query) if _WRITES.search(text)}
