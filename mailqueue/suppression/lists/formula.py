"""Keeps a spreadsheet from taking what stands in a cell for a formula, and undoes it. Pure.

https://owasp.org/www-community/attacks/CSV_Injection
"""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_MARK = "'"


def harmless(cell: str) -> str:
    """Return a cell as spreadsheets read it as text: a mark before what they would reckon."""
    return _MARK + cell if cell.startswith((*_FORMULA, _MARK)) else cell


def plain(cell: str) -> str:
    """Take the mark off again."""
    return cell[1:] if cell[:1] == _MARK and cell[1:].startswith((*_FORMULA, _MARK)) else cell
