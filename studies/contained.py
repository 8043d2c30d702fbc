"""Contain a study's own code: sys.exit, os.chdir and os.close(1) make the run fail, and not the command."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from causeway.errors import RunError, UserError
from causeway.pycontrol.interrupts import noticing_interrupts, was_interrupted
from causeway.pycontrol.own_code import own_code
from causeway.pycontrol.standard_streams import standard_streams


@contextlib.contextmanager
def contained(study: str) -> Iterator[None]:
    """Turn an exit of the study's code into an error of the run, and undo its os.chdir.

    A changed directory would move relative paths, such as --out. Calls that end the process at once, or keep it alive,
    are refused by `causeway.pycontrol.own_code`.

    Raises:
        RunError: The study's code exited, changed the directory or closed the command's output.
    """
    folder = os.getcwd()
    with noticing_interrupts(), standard_streams(study), own_code(f"study {study}"):
        try:
            yield
        except (SystemExit, GeneratorExit, KeyboardInterrupt) as error:
            if was_interrupted(error):
                raise
            what = f"sys.exit({error.code})" if isinstance(error, SystemExit) else type(error).__name__
            raise RunError(f"study {study}: {what} would end the command; raise an error instead") from error
        except UserError as error:
            if (moved := os.getcwd()) == folder:
                raise
            raise _moved(study, moved) from error  # the change is the likely cause, e.g. of a file not found
        finally:
            moved = os.getcwd()
            os.chdir(folder)
    if moved != folder:
        raise _moved(study, moved)


def _moved(study: str, folder: str) -> RunError:
    return RunError(
        f"study {study}: os.chdir({folder!r}) would move relative paths, as of results; use absolute paths, such as "
        "Path(__file__).parent / 'data'"
    )
