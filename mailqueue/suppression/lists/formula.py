"""Escape cells that a spreadsheet would execute as a formula, and undo it. Pure.

https://owasp.org/www-community/attacks/CSV_Injection
"""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_MARK = "'"


def harmless(cell: str) -> str:
    """Return a cell with a quote before it where a spreadsheet would take it for a formula."""
    return _MARK + cell if cell.startswith((*_FORMULA, _MARK)) else cell


def plain(cell: str) -> str:
    """Return a cell without that quote."""
    return cell[1:] if cell[:1] == _MARK and cell[1:].startswith((*_FORMULA, _MARK)) else cell
