"""Begins an import of each kind, over HTTP."""

from httpx2 import AsyncClient

from mailqueue.contract.background import ImportKind

VARIABLES = {
    ImportKind.CONTACTS: "import_id",
    ImportKind.SUPPRESSIONS: "suppression_import_id",
}
"""Path variables with the id of an import, by kind."""


async def begun(http: AsyncClient, key: str, content: str) -> dict[str, str]:
    """Begin an import of each kind; return the ids by the names of their path variables."""
    found = {}
    for kind, variable in VARIABLES.items():
        answer = await http.post(f"/v1/{kind}/imports", content=content, headers={"X-API-Key": key})
        assert answer.is_success, (kind, answer.text)
        found[variable] = answer.json()["id"]
    return found
