"""Names of IMAP folders as they go on the wire (RFC 3501, 5.1.3). Pure."""

import base64


def encoded(name: str) -> str:
    """Return a folder's name as a quoted string in modified UTF-7."""
    written, wide = "", ""
    for character in [*name, ""]:
        if character and not " " <= character <= "~":
            wide += character
            continue
        if wide:
            written += "&" + _base64(wide) + "-"
            wide = ""
        written += "&-" if character == "&" else character
    return '"' + written.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _base64(text: str) -> str:
    octets = base64.b64encode(text.encode("utf-16-be")).rstrip(b"=")
    return octets.decode().replace("/", ",")
