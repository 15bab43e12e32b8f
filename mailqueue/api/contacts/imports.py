"""Endpoints of imports of contacts that workers carry out."""

from mailqueue.api.contacts.schema import BeginImportQuery
from mailqueue.api.http.endpoint import ForTestKeys
from mailqueue.api.imports.endpoints import ImportEndpoints
from mailqueue.contract.background import ImportKind
from mailqueue.projects.model import Scope

IMPORT_ENDPOINTS = ImportEndpoints(
    ImportKind.CONTACTS,
    "import_id",
    "Contacts",
    BeginImportQuery,
    reading=Scope.CONTACTS_READ,
    writing=Scope.CONTACTS_WRITE,
    test_keys=ForTestKeys.OWN,
    test_keys_reading=ForTestKeys.OWN,
).endpoints()
