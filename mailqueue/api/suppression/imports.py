"""Endpoints of imports of suppressions that workers carry out."""

from mailqueue.api.http.endpoint import ForTestKeys
from mailqueue.api.imports.endpoints import ImportEndpoints
from mailqueue.api.suppression.schema import BeginSuppressionImportQuery
from mailqueue.contract.background import ImportKind
from mailqueue.projects.model import Scope

IMPORT_ENDPOINTS = ImportEndpoints(
    ImportKind.SUPPRESSIONS,
    "suppression_import_id",
    "Suppressions",
    BeginSuppressionImportQuery,
    reading=Scope.SUPPRESSION_MANAGE,
    writing=Scope.SUPPRESSION_MANAGE,
    test_keys=ForTestKeys.REFUSED,
    test_keys_reading=ForTestKeys.READ,
).endpoints()
