"""One recorded series, and what can be made of it. Names and meaning are those of omnetpp.scave's vector operations.

    series.timewinavg(1.0).crop(10, 60)

Every operation gives a new series; value k of the new one is said as y'[k], of the old one as y[k] at time t[k].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causeway.bridge.errors import UserError

Numbers = NDArray[np.float64]
HOLDS = ("sample-hold", "backward-sample-hold", "linear")
"""What a series is between its samples: the last one, the next one, or the straight line between."""


@dataclass(frozen=True, eq=False)
class Series:
    """Samples in order of time."""

    time_s: Numbers
    value: Numbers
    name: str = ""
    unit: str = ""

    def __len__(self) -> int:
        return len(self.value)

    # ---- one value at a time ----------------------------------------------------------------------------------------
    def add(self, c: float) -> Series:
        """y[k] + c"""
        return self._with(self.value + c)

    def multiply_by(self, a: float) -> Series:
        """y[k] * a"""
        return self._with(self.value * a)

    def divide_by(self, a: float) -> Series:
        """y[k] / a"""
        return self._with(self.value / a)

    def modulo(self, m: float) -> Series:
        """The rest of y[k] / m, of the sign of m."""
        return self._with(np.remainder(self.value, m))

    def lineartrend(self, a: float) -> Series:
        """y[k] + a * t[k]"""
        return self._with(self.value + a * self.time_s)

    def subtractfirstval(self) -> Series:
        """y[k] - y[0]"""
        return self._with(self.value - self.value[:1])

    def divtime(self) -> Series:
        """y[k] / t[k]"""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._with(self.value / self.time_s)

    def compare(
        self, threshold: float, less: float | None = None, equal: float | None = None, greater: float | None = None
    ) -> Series:
        """y[k], or the number given for values below, at or above the threshold."""
        y = self.value
        cases = ((y < threshold, less), (y == threshold, equal), (y > threshold, greater))
        given = [(where, number) for where, number in cases if number is not None]
        return self._with(np.select([where for where, _ in given], [n for _, n in given], y) if given else y)

    # ---- over neighbours --------------------------------------------------------------------------------------------
    def sum(self) -> Series:
        """y[0] + ... + y[k]"""
        return self._with(np.cumsum(self.value))

    def mean(self) -> Series:
        """The mean of y[0] to y[k]."""
        return self._with(np.cumsum(self.value) / np.arange(1, len(self) + 1))

    def difference(self) -> Series:
        """y[k] - y[k-1]; y[0] stays."""
        return self._with(np.diff(self.value, prepend=0.0))

    def diffquot(self) -> Series:
        """(y[k+1] - y[k]) / (t[k+1] - t[k])"""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._with(np.diff(self.value) / np.diff(self.time_s), self.time_s[:-1])

    def movingavg(self, alpha: float) -> Series:
        """The mean of y[0] to y[k] in which every older value weighs 1 - alpha of the next."""
        import pandas as pd

        return self._with(pd.Series(self.value).ewm(alpha=alpha).mean().to_numpy())

    def slidingwinavg(self, window_size: int, min_samples: int | None = None) -> Series:
        """The mean of the last `window_size` values; NaN where there are fewer (or fewer than `min_samples`)."""
        import pandas as pd

        return self._with(pd.Series(self.value).rolling(window_size, min_periods=min_samples).mean().to_numpy())

    def winavg(self, window_size: int = 10) -> Series:
        """The mean of each `window_size` values in turn, at the time of the first of them."""
        begins = np.arange(0, len(self), window_size)
        counts = np.diff(np.append(begins, len(self)))
        return self._with(self._sums(begins) / counts, self.time_s[begins])

    def removerepeats(self) -> Series:
        """Without values that are the same as the one before."""
        kept = np.append(True, self.value[1:] != self.value[:-1])[: len(self)]
        return self._with(self.value[kept], self.time_s[kept])

    # ---- over time --------------------------------------------------------------------------------------------------
    def crop(self, t1: float, t2: float) -> Series:
        """From t1 to t2, both included."""
        kept = slice(np.searchsorted(self.time_s, t1, "left"), np.searchsorted(self.time_s, t2, "right"))
        return self._with(self.value[kept], self.time_s[kept])

    def timeshift(self, dt: float) -> Series:
        """Later by dt."""
        return self._with(self.value, self.time_s + dt)

    def timedilation(self, c: float) -> Series:
        """c times as slow."""
        return self._with(self.value, self.time_s * c)

    def timediff(self) -> Series:
        """The time since the sample before, as values."""
        return self._with(np.append(0.0, np.diff(self.time_s))[: len(self)], unit="s")

    def timetoserial(self) -> Series:
        """Sample k at time k."""
        return self._with(self.value, np.arange(len(self), dtype=np.float64))

    def integrate(self, interpolation: str = "sample-hold") -> Series:
        """The integral from the first sample to t[k]."""
        return self._with(self._integral(interpolation), unit=f"{self.unit}*s" if self.unit else "")

    def timeavg(self, interpolation: str = "sample-hold") -> Series:
        """The integral from the first sample to t[k], divided by t[k]; 0 at time 0."""
        t = self.time_s
        return self._with(np.divide(self._integral(interpolation), t, out=np.zeros_like(t), where=t != 0))

    def timewinavg(self, window_size: float = 1.0) -> Series:
        """The mean of the samples in each [k, k+1) * window_size that has any, at its beginning."""
        windows, begins = np.unique(np.floor(self.time_s / window_size), return_index=True)
        counts = np.diff(np.append(begins, len(self)))
        return self._with(self._sums(begins) / counts, windows * window_size)

    def timewinthruput(self, window_size: float = 1.0) -> Series:
        """The sum of the samples in each [k, k+1) * window_size, divided by it, at its end."""
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
        """Of the values from each of these places to the next."""
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
