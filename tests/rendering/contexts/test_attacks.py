"""No value changes the elements, attributes, links, rules or scripts around it."""

import pytest

from mailqueue.rendering.compiled import Compiler, TemplateSource
from tests.rendering.contexts.attacks import ATTACKS, PLACES
from tests.rendering.contexts.rendered import elements

SCRIPTS = ("javascript:", "vbscript:", "livescript:", "data:", "about:", "blob:", "file:")
LINKS = ("href", "src", "action", "formaction", "background", "poster", "cite", "data", "srcset")


@pytest.mark.parametrize("place", PLACES)
def test_no_attack_leaves_its_place(place: str) -> None:
    source = place.replace("{{", "\0").replace("}}", "\1").replace("{}", "{{ v }}")
    source = source.replace("\0", "{").replace("\1", "}")
    compiled = Compiler().compiled(TemplateSource("s", source))
    harmless = elements(compiled.render({"v": "x1"}).html or "")

    for attack in ATTACKS:
        found = compiled.render({"v": attack}).html or ""

        assert attacked(elements(found), harmless) == [], (attack, found)


def attacked(
    found: list[tuple[str, dict[str, str]]], harmless: list[tuple[str, dict[str, str]]]
) -> list[str]:
    """Return what a value changed in a document beside the value itself."""
    if len(found) != len(harmless):
        return [f"{len(found)} elements, not {len(harmless)}"]
    faults = []
    for (tag, attributes), (was, had) in zip(found, harmless, strict=True):
        if tag != was and tag not in ("h", "hblocked", "h1"):
            faults.append(f"<{tag}> for <{was}>")
        names = set(attributes) - set(had)
        faults += [f"attribute {name}" for name in names if name.startswith("on") or name in LINKS]
        if len(attributes) > len(had):
            faults.append(f"attributes {sorted(attributes)}")
        for name, value in attributes.items():
            plain = "".join(char for char in value if char > " ").lower()
            if name in LINKS and plain.startswith(SCRIPTS):
                faults.append(f"{name} {value}")
            if name.startswith("on") and value.count("(") != had.get(name, "").count("("):
                faults.append(f"{name} {value}")
            if name == "style" and value.count(";") != had.get(name, "").count(";"):
                faults.append(f"{name} {value}")
    return faults
