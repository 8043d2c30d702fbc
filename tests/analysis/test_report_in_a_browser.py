"""The report as its readers see it: wide, on a phone, light and dark; sorted, filtered and unfolded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from causeway.analysis import report, study_description
from causeway.analysis.study_description import Description
from tests.analysis.test_report import PLOTS
from tests.helpers.browser import browser, faults, show, skip_without_browser
from tests.helpers.result_folder import fill

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skip_without_browser()
    folder = fill(tmp_path_factory.mktemp("results"), sizes=(2, 10, 50, 100, 250))
    row = {"paper": "clk", "where": "Fig. 3", "study": "clocks", "scalar": "wrong", "relation": "=", "note": ""}
    numbers = [
        {**row, "quantity": f"error rate of {clock}", "condition": f"N={n}", "parameters": {"n": n, "clock": clock},
         "published": 0.002 * n, "low": None, "high": None}
        for clock in ("counter", "bloom", "full") for n in (10, 50, 100, 250, 2)
    ]  # fmt: skip
    described = Description("clocks", "Made up", "clk", tuple(PLOTS), (), tuple(numbers))
    study_description.write(folder, "clocks", study_description.text_of(described))
    return report.write(folder)


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    with browser() as started:
        yield started


def script(driver: Any, text: str) -> Any:
    return driver.execute_script(text)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1300, 390])
def test_the_page_fits_the_screen_loads_nothing_and_begins_with_the_reproduced_numbers(
    page: Path, driver: Any, width: int, dark: bool
) -> None:
    show(driver, page, width, dark)
    assert faults(driver) == []
    first = script(driver, "return document.querySelector('main').innerText.split('\\n').filter(Boolean).slice(0, 2)")
    assert first[0].startswith("clocks") and "of 15 published numbers inside the interval" in first[1]
    assert script(driver, "return document.querySelector('.outcome').getBoundingClientRect().bottom") < 600
    paper = script(driver, "return getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 24, 28)" if dark else "rgb(255, 255, 255)")
    label = "document.querySelector('svg.plot text')"
    ink = script(driver, f"return getComputedStyle({label}).fill")
    assert (sum(map(int, ink[4:-1].split(","))) > 384) == dark, "text of figures is light on dark paper"
    shown = script(driver, "return [...document.querySelectorAll('section > details')].some(one => one.open)")
    assert not shown, "details are folded"


def column(driver: Any, index: int) -> list[str]:
    found: list[str] = script(
        driver,
        f"return [...document.querySelector('.numbers table').tBodies[0].rows].map(r => r.cells[{index}].innerText)",
    )
    return found


def test_a_click_on_a_head_sorts_by_numbers_and_another_one_turns_the_order(page: Path, driver: Any) -> None:
    show(driver, page)
    driver.find_element("css selector", ".numbers > summary").click()
    assert list(dict.fromkeys(column(driver, 2))) == ["N=10", "N=50", "N=100", "N=250", "N=2"]
    by_number = ["N=2", "N=10", "N=50", "N=100", "N=250"]
    for expected in (by_number, by_number[::-1]):
        driver.find_elements("css selector", ".numbers th button")[2].click()
        assert list(dict.fromkeys(column(driver, 2))) == expected
    driver.find_elements("css selector", ".numbers th button")[4].click()
    cells = "[...document.querySelectorAll('.numbers tbody tr > :nth-child(5)')]"
    measured = script(driver, f"return {cells}.map(cell => Number(cell.dataset.v))")
    assert measured == sorted(measured)


def shown(driver: Any) -> list[str]:
    rows = "[...document.querySelector('.numbers tbody').rows].filter(row => row.offsetParent)"
    found: list[str] = script(
        driver, f"return {rows}.map(row => row.cells[1].innerText + ' ' + row.cells[2].innerText)"
    )
    return found


def said(driver: Any) -> str:
    return str(script(driver, "return document.querySelector('.numbers output').textContent"))


def test_rows_are_filtered_by_text_and_by_verdict(page: Path, driver: Any) -> None:
    show(driver, page)
    driver.find_element("css selector", ".numbers > summary").click()
    text = driver.find_element("css selector", ".numbers input[type=search]")
    text.send_keys("n=10 FULL")
    assert shown(driver) == ["error rate of full N=10", "error rate of full N=100"] and said(driver) == "2 of 15 rows"
    text.clear()
    text.send_keys(" ")
    assert said(driver) == "15 rows"
    kinds = script(driver, "return [...document.querySelector('.numbers select').options].map(one => one.value)")
    assert set(kinds) >= {"", "inside", "off"}
    script(driver, "const one = document.querySelector('.numbers select'); one.value = 'off'; one.onchange()")
    assert len(shown(driver)) == int(said(driver).split()[0]) > 5
    assert not [row for row in shown(driver) if "counter" in row], "the published numbers are the counter's"


def test_the_numbers_of_a_figure_open_beside_it_and_on_a_phone_below(page: Path, driver: Any) -> None:
    for width, beside in ((1300, True), (390, False)):
        show(driver, page, width)
        script(driver, "document.querySelector('figure details').open = true")
        drawing, numbers = (
            script(driver, f"const box = document.querySelector('figure {one}').getBoundingClientRect(); "
                           "return [box.left, box.right, box.top, box.bottom]")
            for one in (".drawing", "details")
        )  # fmt: skip
        assert (numbers[0] >= drawing[1] and numbers[2] < drawing[3]) == beside
        assert (numbers[2] >= drawing[3]) != beside
        assert faults(driver) == []
