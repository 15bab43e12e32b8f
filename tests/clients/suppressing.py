"""Suppressions of the project that clients read and change."""

from tests.clients.serving import Served

BOUNCED = "550 5.1.1 no such mailbox"


def put(
    site: Served,
    address: str,
    reason: str,
    *,
    category: str = "",
    project: str = "default",
    detail: str | None = None,
) -> None:
    """Suppress an address, as an event of its mail would."""
    site.rows(
        "INSERT INTO mailqueue.suppressions (project_id, address, reason, category, detail)"
        " SELECT id, %s, %s, %s, %s FROM mailqueue.projects WHERE name = %s RETURNING 1",
        address,
        reason,
        category,
        detail,
        project,
    )


def clear(site: Served) -> None:
    """Remove all suppressions."""
    site.rows("DELETE FROM mailqueue.suppressions RETURNING 1")


def stored(site: Served, project: str = "default") -> set[tuple[str, str, str]]:
    """Return address, reason and category of each suppression of a project."""
    found = site.rows(
        "SELECT address, reason, category FROM mailqueue.suppressions WHERE project_id ="
        " (SELECT id FROM mailqueue.projects WHERE name = %s) AND expires_at > now()",
        project,
    )
    return {(str(address), str(reason), str(category)) for address, reason, category in found}


def fill(site: Served) -> None:
    """Suppress one address for each reason, one of another project, and one that is over."""
    clear(site)
    put(site, "hard@example.org", "hard_bounce", detail=BOUNCED)
    put(site, "often@example.org", "soft_bounce_threshold", detail="five temporary refusals")
    put(site, "angry@example.org", "complaint")
    put(site, "left@example.org", "unsubscribed", category="marketing")
    put(site, "all@example.org", "unsubscribed", category="*")
    put(site, "manual@example.org", "manual")
    put(site, "asm@example.org", "unsubscribed", category="asm-7")
    put(site, "foreign@example.org", "hard_bounce", project="other")
    put(site, "over@example.org", "hard_bounce")
    site.rows(
        "UPDATE mailqueue.suppressions SET created_at = now() - interval '2 days',"
        " expires_at = now() - interval '1 day' WHERE address = 'over@example.org' RETURNING 1"
    )
