"""The check of services that the settings of this process name."""

from mailqueue.core.services.registry import SERVICES
from mailqueue.operations import services
from mailqueue.operations.doctor.context import CheckContext, passed, some
from mailqueue.operations.model import CheckState, Finding


async def configured_services(context: CheckContext) -> Finding:
    """Check that a process runs each service whose variables are set here."""
    seen = await services.list_all(context.conn)
    missing = services.not_running(SERVICES, seen, context.settings.variables_set)
    if not missing:
        return passed("configured services", "each service whose variables are set here runs")
    variables = [f"MAILQUEUE_{name.upper()}" for one in missing for name in one.needs]
    commands = [" ".join(("mailqueue", *one.command)) for one in missing]
    return Finding(
        "configured services",
        is_ok=False,
        says=f"no process runs {some([one.name for one in missing])}, though "
        f"{some(variables)} {'is' if len(variables) == 1 else 'are'} set",
        fix=f"start it: {'; '.join(commands)}",
        state=CheckState.WARNING,
    )
