"""The OpenAPI document of the endpoints, made once for all tests of a process."""

from mailqueue.api.http.openapi.document import openapi
from mailqueue.api.table import ENDPOINTS

DOCUMENT = openapi(ENDPOINTS)
