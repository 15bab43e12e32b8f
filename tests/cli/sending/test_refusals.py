"""`mailqueue enqueue`: errors name the line, file or template at fault."""

import pytest

from tests.cli.sending.mailing import PEOPLE, Folder


def test_bad_lines_are_told_by_number_and_do_not_stop_the_others(folder: Folder) -> None:
    people = (
        "email,name,city\n"
        "ann@example.com,Ann,Rome\n"  # 2
        "no address,Bob,Rome\n"
        "cy@example.com,Cy\n"  # 4: a column short
        '"multi@example.com","Multi\nLine",Rome\n'  # 5 and 6: a newline in a name
        "\n"
        'dora@example.com,"Do"ra,Rome\n'  # 8: no CSV
        "nul@example.com,N\0l,Rome\n"
        "eve@example.com,Eve,Rome\n"
    )

    result = folder.enqueue(people)
    document = folder.document(people, exit_code=1)

    assert result.exit_code == 1
    assert result.stdout == "2 queued, 0 already queued, 0 suppressed, 5 bad lines\n"
    reasons = {each["line"]: each["reason"] for each in document["bad"]}
    columns = {each["line"]: each["column"] for each in document["bad"]}
    assert list(reasons) == [3, 4, 5, 8, 9]
    assert reasons[3].startswith('"no address" is not an address')
    assert columns[3] == "recipient_email"
    assert 'line 3: recipient_email: "no address" is not an address' in result.stderr
    assert reasons[4] == "it has 2 values, the header has 3 columns"
    assert "control characters are not allowed" in reasons[5]
    assert "this is not CSV" in reasons[8]
    assert "NUL" in reasons[9]
    for line in reasons:
        assert f"line {line}: " in result.stderr
    assert {mail[0] for mail in folder.mails()} == {"ann@example.com", "eve@example.com"}


@pytest.mark.parametrize(
    ("people", "message"),
    [
        (b"email,name,city\nann@example.com,Ren\xe9,x\n", "not UTF-8: line 2 has byte 0xe9; conv"),
        ("email,name\nä@x,y\n".encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),
        (b"email,name\na@example.com,Ren\xc3", "ends in the middle of a character"),
        ("name,city\nAnn,Rome\n", "has no column email; it has name, city"),
        ("", "has no column email; it has none"),
        ("email,name,name\n", "has the column name twice"),
        ('email,"na"me\n', "is not CSV"),
    ],
)
def test_a_file_that_cannot_be_meant_is_one_line_and_queues_nothing(
    idle_folder: Folder, people: str | bytes, message: str
) -> None:
    result = idle_folder.enqueue(people)

    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert idle_folder.count() == 0


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ name", "template-file: line 1:"),
        ("a\n{% if %}", "template-file: line 2:"),
    ],
)
def test_a_broken_template_names_its_line(idle_folder: Folder, template: str, message: str) -> None:
    idle_folder.html.write_text(template)

    result = idle_folder.enqueue(PEOPLE)

    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {message}")


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ nmae }}", "'nmae' is undefined"),
        ("{{ name.__class__.__mro__ }}", "unsafe"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ cycler.__init__.__globals__ }}", "unsafe"),
        ("{% include '/etc/passwd' %}", "no loader"),
    ],
)
def test_a_template_may_use_the_columns_and_nothing_else(
    idle_folder: Folder, template: str, reason: str
) -> None:
    idle_folder.html.write_text(template)

    document = idle_folder.document(PEOPLE, exit_code=1)

    assert [each["line"] for each in document["bad"]] == [2, 3]
    assert reason in document["bad"][0]["reason"]
    assert document["bad"][0]["column"] == "html"
    assert idle_folder.count() == 0


def test_an_unknown_project_is_one_line(idle_folder: Folder) -> None:
    result = idle_folder.enqueue(PEOPLE, "--project", "nowhere")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == 'error: project: there is no project "nowhere"\n'


def test_without_a_template_it_is_wrong_usage(idle_folder: Folder) -> None:
    idle_folder.csv.write_text(PEOPLE)

    assert idle_folder.cli("enqueue", str(idle_folder.csv), "--subject", "s").exit_code == 2
