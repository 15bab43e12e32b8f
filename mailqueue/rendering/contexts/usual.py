"""Markup behind which text stands again, as nearly all of an email is. Pure."""

import re

from mailqueue.rendering.contexts.names import RAW_ELEMENTS

USUAL_MARKUP = re.compile(
    rf"""(?:[^<]++|</?+(?!(?:{"|".join(sorted(RAW_ELEMENTS))})[\s/>])[a-z][a-z0-9:-]*+"""
    r"""(?:\s++[a-z_:@][\w:.-]*+(?:=(?:"[^"]*+"|'[^']*+'|[!#-&(-=?-~][!-=?-~]*+))?+)*+"""
    r"""\s*+/?+>)++""",
    re.IGNORECASE | re.ASCII,
)
"""Text, and tags with plain attributes in quotes or without spaces."""
