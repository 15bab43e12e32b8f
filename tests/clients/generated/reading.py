"""Reads with a client that openapi-python-client generated: what each answer was parsed into.

Arguments: the folder of the generated package `client`, the URL, a key, an administrator's token.
Standard input: reads as JSON. Standard output: for each its status, class and number of items.
"""

import importlib
import json
import pkgutil
import re
import sys
from datetime import datetime
from typing import Any

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)")


def plain(value: Any) -> Any:
    """Return a document with instants in one spelling: the client writes an offset for Z."""
    match value:
        case str() if _INSTANT.fullmatch(value):
            return datetime.fromisoformat(value).isoformat()
        case dict():
            return {name: plain(item) for name, item in value.items()}
        case list():
            return [plain(item) for item in value]
    return value


FOLDER, URL, KEY, TOKEN = sys.argv[1:]
sys.path.insert(0, FOLDER)
client: Any = importlib.import_module("client")
api: Any = importlib.import_module("client.api")
modules = {
    one.name.rpartition(".")[2]: one.name
    for one in pkgutil.walk_packages(api.__path__, "client.api.")
    if not one.ispkg
}
with_key = client.AuthenticatedClient(base_url=URL, token=KEY)
with_token = client.AuthenticatedClient(base_url=URL, token=TOKEN)
found = []
for path, operation, variables, query in json.load(sys.stdin):
    module: Any = importlib.import_module(modules[operation])
    caller = with_token if path.startswith("/admin/") else with_key
    safe = {f"{name}_" if name in ("id", "from") else name: one for name, one in query.items()}
    answer = module.sync_detailed(*variables.values(), client=caller, **safe)
    parsed = answer.parsed
    data = getattr(parsed, "data", None)
    found.append(
        {
            "path": path,
            "status": int(answer.status_code),
            "class": type(parsed).__name__,
            "items": [type(one).__name__ for one in data] if isinstance(data, list) else None,
            "same": parsed is not None
            and plain(parsed.to_dict()) == plain(json.loads(answer.content)),
        }
    )
json.dump(found, sys.stdout)
