"""Contain a study's own code: if it calls sys.exit, os.chdir or os.close(1), the run fails and the command goes on."""

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
    """Turn an exit of the study's code into an error of the run, and undo its calls of os.chdir.

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
            raise _moved(study, moved) from error  # this change is the likely cause, e.g. of a file that was not found
        finally:
            moved = os.getcwd()
            os.chdir(folder)
    if moved != folder:
        raise _moved(study, moved)


def _moved(study: str, folder: str) -> RunError:
    return RunError(
        f"study {study}: os.chdir({folder!r}) would change the meaning of relative paths, such as --out; use absolute "
        f"paths, such as "
        "Path(__file__).parent / 'data'"
    )
