"""Authentication of administrators: by a token created here or one signed by an OIDC issuer."""

from dataclasses import dataclass

from mailqueue.admin import administrators
from mailqueue.core.errors import Unauthorized
from mailqueue.db.pool import Pool, borrow
from mailqueue.ports.identity import TokenReader
from mailqueue.projects.model import Admin
from mailqueue.settings.environment import DatabaseSettings


@dataclass(frozen=True, slots=True)
class Administrators:
    """Authenticates administrators by token; with `reader` None, only by tokens created here."""

    pool: Pool
    database: DatabaseSettings
    reader: TokenReader | None = None

    async def of(self, token: str) -> Admin:
        """Return the administrator who owns a token.

        Raises:
            Unauthorized: the token is not valid.
            Forbidden: the owner of the token is not an administrator.
            Unavailable: the issuer's keys or PostgreSQL cannot be reached.
        """
        if administrators.may_be_token(token):
            async with borrow(self.pool, self.database) as conn:
                name = await administrators.find(conn, token)
            if name is not None:
                return Admin(name, "token")
        elif self.reader is not None and token.count(".") == 2:
            found = await self.reader.read(token)
            subject = found.subject.encode("ascii", "backslashreplace").decode()
            return Admin(f"{found.called} {subject}" if found.called else subject, "oidc")
        raise Unauthorized("this token is not valid")
