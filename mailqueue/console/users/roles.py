"""The form of a role and its projects, as it was typed. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from mailqueue.admin.users.model import Role
from mailqueue.contract.admin import ConsoleUser
from mailqueue.web.forms import text_of

EVERY = "*"
MEANINGS: Mapping[Role, str] = {
    Role.SUPERADMIN: "everything, in every project; manages users",
    Role.PROJECT_ADMIN: "acts on emails, and invites members to the projects",
    Role.SUPPORT: "sees what emails say, and sends them again",
    Role.VIEWER: "sees lists and states, not what emails say",
}


@dataclass(frozen=True, slots=True)
class RoleForm:
    """A role, and the projects as typed: names separated by commas, or `*` for every project."""

    role: str
    typed: str

    @property
    def sees_all(self) -> bool:
        """Return whether every project is meant."""
        return self.role == Role.SUPERADMIN or self.typed == EVERY

    @property
    def projects(self) -> list[str]:
        """Return the names of the projects."""
        if self.typed == EVERY:
            return []
        return [name for part in self.typed.split(",") if (name := part.strip())]


def read_form(form: Mapping[str, str]) -> RoleForm:
    """Return what was typed."""
    return RoleForm(text_of(form, "role"), text_of(form, "projects"))


def form_of(user: ConsoleUser) -> RoleForm:
    """Return the form as it is for a user."""
    typed = "" if user.role == Role.SUPERADMIN else EVERY if user.sees_all else None
    return RoleForm(user.role, ", ".join(user.projects) if typed is None else typed)
