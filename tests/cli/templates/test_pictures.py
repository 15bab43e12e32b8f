"""`mailqueue template picture`: pictures from files."""

import json
from pathlib import Path

from tests.cli.support.invoked import Cli
from tests.templates.pictures.drawing import GIF, png


def test_a_picture_is_added_from_a_file_listed_and_removed(
    on_fresh_db: Cli, tmp_path: Path
) -> None:
    file, wrong = tmp_path / "logo.png", tmp_path / "page.png"
    file.write_bytes(png())
    wrong.write_bytes(b"<html></html>")

    made = on_fresh_db("template", "picture", "add", str(file), "--json")
    named = on_fresh_db("template", "picture", "add", str(file), "--name", "other.png")
    refused = on_fresh_db("template", "picture", "add", str(wrong))
    picture = json.loads(made.stdout)
    listed = on_fresh_db("template", "picture", "list")
    document = json.loads(on_fresh_db("template", "picture", "list", "--json").stdout)
    gone = on_fresh_db("template", "picture", "remove", picture["id"], "--yes")
    again = on_fresh_db("template", "picture", "remove", picture["id"], "--yes")

    assert (picture["name"], picture["media_type"]) == ("logo.png", "image/png")
    assert named.stdout.startswith("logo.png is stored: "), "the same bytes are the same picture"
    assert (refused.exit_code, "no PNG, JPEG, GIF or WebP" in refused.output) == (1, True)
    assert "logo.png" in listed.stdout
    assert document["data"] == [picture]
    assert gone.stdout == f"picture {picture['id']} is removed\n"
    assert again.exit_code == 1


def test_a_picture_is_the_logo_of_a_project_until_another_is_chosen(
    on_fresh_db: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "logo.png"
    file.write_bytes(png())
    picture = json.loads(on_fresh_db("template", "picture", "add", str(file), "--json").stdout)

    chosen = on_fresh_db("project", "change", "default", "--logo", picture["id"], "--json")
    unknown = on_fresh_db("project", "change", "default", "--logo", "logo.png")
    kept = on_fresh_db("template", "picture", "remove", picture["id"], "--yes")
    reset = on_fresh_db("project", "change", "default", "--logo", "none", "--json")
    gone = on_fresh_db("template", "picture", "remove", picture["id"], "--yes")

    assert json.loads(chosen.stdout)["logo"] == picture["id"]
    assert "logo: the id of a picture of the project is needed" in unknown.stderr
    assert (kept.exit_code, '"logo.png" is the logo of the project' in kept.stderr) == (1, True)
    assert (json.loads(reset.stdout)["logo"], gone.exit_code) == (None, 0)


def test_a_picture_belongs_to_the_project_that_is_named(on_fresh_db: Cli, tmp_path: Path) -> None:
    file = tmp_path / "a.gif"
    file.write_bytes(GIF)
    on_fresh_db("project", "add", "shop")

    added = on_fresh_db("template", "picture", "add", str(file), "--project", "shop", "--json")
    other = json.loads(on_fresh_db("template", "picture", "list", "--json").stdout)
    unknown = on_fresh_db("template", "picture", "list", "--project", "nothing")

    assert (added.exit_code, other["data"], unknown.exit_code) == (0, [], 1)
