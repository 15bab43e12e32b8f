"""The statements of sql/queries/projects/projects.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

FIND_PROJECT_ID = MaybeRow.named("find_project_id")
"""sql/queries/projects/projects.sql:3: The id of the project of that name."""
ADD_PROJECT = OneValue.named("add_project")
"""sql/queries/projects/projects.sql:9: Create a project with its lanes and limit; settings as for
change_project().
"""
READ_PROJECT = MaybeRow.named("read_project")
"""sql/queries/projects/projects.sql:13: The project of that name or id; deleted ones too."""
LIST_PROJECTS = ManyRows.named("list_projects")
"""sql/queries/projects/projects.sql:33: Projects by name, a page after the given name; text is
searched in names, description and From address.
"""
CHANGE_PROJECT = NoRows.named("change_project")
"""sql/queries/projects/projects.sql:60: Change settings of a project; null resets one."""
SUSPEND_PROJECT = OneValue.named("suspend_project")
"""sql/queries/projects/projects.sql:64: Stop all sending of a project until it is activated."""
ACTIVATE_PROJECT = OneValue.named("activate_project")
"""sql/queries/projects/projects.sql:68: Resume a suspended, paused or deleted project."""
DELETE_PROJECT = OneValue.named("delete_project")
"""sql/queries/projects/projects.sql:72: Delete a project softly: no mail in or out, no keys."""
READ_PROJECT_TODAY = MaybeRow.named("read_project_today")
"""sql/queries/projects/projects.sql:76: Mail that a project sent today, may still send, and has in
the queue.
"""
LIST_PROJECT_BOUNDS = ManyRows.named("list_project_bounds")
"""sql/queries/projects/projects.sql:82: What a project, or each that is not deleted, uses of its
bounds now; max is null where there is none.
"""
LIST_PROJECT_DAYS = ManyRows.named("list_project_days")
"""sql/queries/projects/projects.sql:87: Mail of a project on each of the last days, oldest first.
"""
