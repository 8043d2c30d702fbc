"""A headless Chromium that tests drive, to look at pages as readers do."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

if DEPS := os.environ.get("CAUSEWAY_BROWSER_DEPS", ""):  # the folder into which `make test` installs them
    sys.path.append(str(Path(DEPS).resolve()))

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars",
)  # fmt: skip


def skip_without_browser() -> None:
    """Skips the test where there is no Chromium, no driver for it, or no selenium."""
    if not (CHROMIUM and DRIVER):
        pytest.skip("no chromium and chromedriver here (apt install chromium chromium-driver)")
    pytest.importorskip("selenium", reason="no selenium here (make test installs requirements-browser.txt)")


@contextmanager
def browser() -> Iterator[Any]:
    """Starts one, with a new profile and without a network."""
    skip_without_browser()
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = CHROMIUM or ""
    for option in OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def show(driver: Any, page: Path, width: int = 1300, dark: bool = False) -> None:
    """Opens a page in a window of this width; below 500 pixels it is a phone's."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    driver.get(page.as_uri())


def faults(driver: Any) -> list[str]:
    """The errors of the page, the files that it loaded, and the number of pixels by which it is too wide."""
    found = [entry["message"] for entry in driver.get_log("browser")]
    found += driver.execute_script("return performance.getEntriesByType('resource').map(one => one.name)")
    wider = driver.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
    return found + ([f"{wider} pixels too wide"] if wider > 0 else [])
