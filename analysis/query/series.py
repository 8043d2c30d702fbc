"""A recorded series and its operations, which have the names and definitions of omnetpp.scave's vector operations.

    series.timewinavg(1.0).crop(10, 60)

Every operation returns a new series; y[k] is value k, recorded at time t[k]. For other operations, `time_s` and `value`
are numpy arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causeway.errors import UserError

Numbers = NDArray[np.float64]
MSER_BATCH = 5
HOLDS = ("sample-hold", "backward-sample-hold", "linear")
"""The value between two samples: that of the first one, that of the second one, or a straight line between them."""


@dataclass(frozen=True, eq=False)
class Series:
    """Samples in order of time."""

    time_s: Numbers
    value: Numbers
    name: str = ""
    unit: str = ""

    def __len__(self) -> int:
        return len(self.value)

    # ---- over neighbours --------------------------------------------------------------------------------------------
    def mean(self) -> Series:
        """Return the mean of y[0] to y[k]."""
        return self._with(np.cumsum(self.value) / np.arange(1, len(self) + 1))

    def diffquot(self) -> Series:
        """Return (y[k+1] - y[k]) / (t[k+1] - t[k])."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._with(np.diff(self.value) / np.diff(self.time_s), self.time_s[:-1])

    def movingavg(self, alpha: float) -> Series:
        """Return the weighted mean of y[0] to y[k].

        The weight of a value is 1 - alpha times the weight of the next one.
        """
        import pandas as pd

        return self._with(pd.Series(self.value).ewm(alpha=alpha).mean().to_numpy())

    def winavg(self, window_size: int = 10) -> Series:
        """Return the mean of each `window_size` consecutive values, at the time of the first one."""
        begins = np.arange(0, len(self), window_size)
        counts = np.diff(np.append(begins, len(self)))
        return self._with(self._sums(begins) / counts, self.time_s[begins])

    # ---- over time --------------------------------------------------------------------------------------------------
    def crop(self, t1: float, t2: float) -> Series:
        """Return the samples from t1 to t2, both included."""
        kept = slice(np.searchsorted(self.time_s, t1, "left"), np.searchsorted(self.time_s, t2, "right"))
        return self._with(self.value[kept], self.time_s[kept])

    def integrate(self, interpolation: str = "sample-hold") -> Series:
        """Return the integral from the first sample to t[k]."""
        return self._with(self._integral(interpolation), unit=f"{self.unit}*s" if self.unit else "")

    def timeavg(self, interpolation: str = "sample-hold") -> Series:
        """Return the integral from the first sample to t[k], divided by t[k]; 0 at time 0."""
        t = self.time_s
        return self._with(np.divide(self._integral(interpolation), t, out=np.zeros_like(t), where=t != 0))

    def timewinavg(self, window_size: float = 1.0) -> Series:
        """Return the mean of the samples in each interval [k, k+1) * window_size that has any, at its beginning."""
        windows, begins = np.unique(np.floor(self.time_s / window_size), return_index=True)
        counts = np.diff(np.append(begins, len(self)))
        return self._with(self._sums(begins) / counts, windows * window_size)

    def steady(self) -> Series:
        """Return the series without its warm-up: the mean of the rest has the smallest standard error of all cuts.

        This is MSER-5 (White 1997): values are averaged in batches of 5. Only cuts in the first half are considered; a
        minimum in the second half would mean that the run is too short.
        """
        count = len(self) // MSER_BATCH
        if count < 4:
            return self
        means = self.value[: count * MSER_BATCH].reshape(count, MSER_BATCH).mean(axis=1)
        means = means - means.mean()  # keeps the squares small
        left = np.arange(count, 0, -1)
        sums, squares = np.cumsum(means[::-1])[::-1], np.cumsum(means[::-1] ** 2)[::-1]
        error = (squares - sums**2 / left) / left**2
        first = int(np.argmin(error[: count // 2 + 1])) * MSER_BATCH
        return self._with(self.value[first:], self.time_s[first:])

    def timewinthruput(self, window_size: float = 1.0) -> Series:
        """Return the sum of the samples in each interval [k, k+1) * window_size, divided by window_size, at its end."""
        if not len(self):
            return self
        edges = np.arange(0, self.time_s[-1] + window_size, window_size)
        sums, _ = np.histogram(self.time_s, edges, weights=self.value)
        return self._with(sums / window_size, edges[1:], f"{self.unit}/s" if self.unit else "")

    # ---- inside ----------------------------------------------------------------------------------------------------
    def _with(self, value: Any, time_s: Any = None, unit: str | None = None) -> Series:
        return replace(
            self, value=value, time_s=self.time_s if time_s is None else time_s,
            unit=self.unit if unit is None else unit,
        )  # fmt: skip

    def _sums(self, begins: Any) -> Any:
        """Return the sums of the values from each of these positions to the next."""
        return np.add.reduceat(self.value, begins) if len(self) else np.empty(0)

    def _integral(self, interpolation: str) -> Any:
        if interpolation not in HOLDS:
            raise UserError(f"a series cannot be '{interpolation}' between its samples; allowed: {', '.join(HOLDS)}")
        dt = np.append(0.0, np.diff(self.time_s))[: len(self)]
        before = np.append(0.0, self.value[:-1])[: len(self)]
        height = {
            "sample-hold": before, "backward-sample-hold": self.value, "linear": (before + self.value) / 2,
        }[interpolation]  # fmt: skip
        return np.cumsum(dt * height)
