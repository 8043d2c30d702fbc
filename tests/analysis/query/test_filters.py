"""Filters select the same as OMNeT++'s result tools: compared with opp_scavetool if it is installed, else by hand."""

import csv
import subprocess
from pathlib import Path

import pytest

import causeway.results
from causeway.analysis import convert
from causeway.analysis.query.filters import select
from causeway.analysis.query.patterns import matcher
from causeway.errors import UserError
from tests.helpers.omnetpp_tools import environment, need_home

NAMES = ["delay:mean", "delay:max", "queue length", "sent", "sent17", "sent117", "a.b", "x{y", "[5]", "OR"]
MODULES = ["Net", "Net.host[3]", "Net.host[17].app[0]", "Net.host[117].udp", "Net.ap.wlan[0].mac"]
FILTERS = [
    "sent", "sent*", "*", "**", "sent{17..20}", "sent{..99}", "sent{18..}", "*{17..19}", "delay:m??", "delay:{a-m}*",
    "delay:{^i}*", '"queue length"', 'name =~ "queue length"', "module =~ Net.*", "module =~ **.app[0]",
    "module =~ Net.host[3..17]*", "module =~ *host[10..]*", 'module =~ "Net.host[{..20}]*"', "sent AND module =~ Net",
    "sent OR delay:max", "NOT sent", "NOT sent AND NOT delay*", "NOT (sent* OR delay*)", "not sent or sent and sent17",
    "sent or delay:mean and module =~ Net", "type =~ scalar AND sent", r"x\{y", "a.b", "a?b", '"[5]"', '"OR"', "{[}5]",
    "runattr:network =~ Net AND sent", "runattr:network =~ Other", "itervar:n =~ {3..5} AND sent", "attr:unit =~ s",
    "config:network =~ N*", "no-such", "run =~ R-1",
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    lines = ["version 3", "run R-1", "attr network Net", "itervar n 4", "config network Net"]
    for module in MODULES:
        for at, name in enumerate(NAMES):
            lines.append(f'scalar {module} "{name}" {at}')
            if name.startswith("delay"):
                lines.append("attr unit s")
    path = tmp_path / "r.sca"
    path.write_text("\n".join(lines) + "\n")
    return path


def ours(file: Path, text: str) -> set[tuple[str, str]]:
    out = file.parent / "out"
    if not out.exists():
        convert.convert([file], out)
    found = causeway.results.open(out).scalars(text)
    return set(zip(found["module"], found["name"], strict=True))


@pytest.mark.omnet
def test_every_filter_accepts_the_expressions_of_scavetool(file: Path) -> None:
    root = need_home()
    wrong, refused = {}, []
    for text in FILTERS:
        csv_file = file.parent / "x.csv"
        csv_file.unlink(missing_ok=True)
        command = ["opp_scavetool", "x", "-F", "CSV-R", "-o", str(csv_file), "-f", text, str(file)]
        ran = subprocess.run(command, env=environment(root), capture_output=True, text=True)
        if ran.returncode != 0:
            refused.append(text)
            continue
        theirs = set()
        if csv_file.exists():
            with open(csv_file, newline="") as opened:
                theirs = {(r["module"], r["name"]) for r in csv.DictReader(opened) if r["type"] == "scalar"}
        if theirs != ours(file, text):
            wrong[text] = theirs ^ ours(file, text)
    assert wrong == {}
    assert set(refused) <= {'"queue length"', '"[5]"', '"OR"'}  # it wants a field before a quoted pattern


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("sent*", {"sent", "sent17", "sent117"}),
        ("*{17..19}", {"sent17", "sent117"}),
        ('"queue length" OR a.b', {"queue length", "a.b"}),
        ("NOT *e* AND NOT *.*", {"x{y", "[5]", "OR"}),
        ("sent AND module =~ *host[10..]*", {"sent"}),
        ("param:n =~ 4 AND sent", {"sent"}),
        ("param:n =~ 5 AND sent", set()),
    ],
)
def test_a_filter_selects_these_rows(file: Path, text: str, names: set[str]) -> None:
    assert {name for _, name in ours(file, text)} == names


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("a AND", "it ends too early"),
        ("(a", "it ends too early"),
        ("(a b)", "a bracket is not closed"),
        ("a b", "'b' follows a complete expression"),
        ("=~ a", "'=~' is in the place of a pattern"),
        ("a =~ )", "')' is in the place of a pattern"),
        ("colour =~ red", "there is no field 'colour' here"),
        ('"open', "cannot be parsed"),
        ("{a", "without '}'"),
        ("{z-a}", "range z-a, which is empty"),
        ("(" * 5000, "its brackets are nested too deeply"),
    ],
)
def test_a_filter_that_cannot_be_read_is_reported_in_one_line(text: str, reported: str) -> None:
    def column(field: str) -> list[str]:
        return {"name": ["a"], "a": ["a"]}[field]

    with pytest.raises(UserError) as error:
        select(text, column, 1)
    assert reported in str(error.value)
    assert "\n" not in str(error.value)


def test_numbers_in_patterns_are_tried_at_every_place() -> None:
    assert matcher("*{17..19}")("963217")
    assert not matcher("{17..19}")("963217")
    assert matcher("a[..5]*")("a[3].b")
    assert not matcher("a[..5]*")("a[6].b")
    assert matcher("*[..5]*{7..7}")("a[3][9].b7")
