"""Keep what a study's own code does to the process inside its run: the command and the other runs go on."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from causeway.bridge.errors import RunError
from causeway.pycontrol.interrupts import noticing_interrupts, was_interrupted


@contextlib.contextmanager
def contained(study: str) -> Iterator[None]:
    """Turn an exit of the study's code into an error of the run, and undo os.chdir, which moves a relative --out."""
    folder = os.getcwd()
    with noticing_interrupts():
        try:
            yield
        except (SystemExit, GeneratorExit, KeyboardInterrupt) as error:
            if was_interrupted(error):
                raise
            what = f"sys.exit({error.code})" if isinstance(error, SystemExit) else type(error).__name__
            raise RunError(f"study {study}: {what} would end the command; raise an error instead") from error
        finally:
            moved = os.getcwd()
            os.chdir(folder)
    if moved != folder:
        raise RunError(
            f"study {study}: os.chdir({moved!r}) would move what is relative, as results; use absolute paths, such as "
            "Path(__file__).parent / 'data'"
        )
