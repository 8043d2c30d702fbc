"""Studies that are objects of this process, such as a class in a script or a notebook, with the digest of their code.

A study in a file is identified by its file and all files that it imports. An object without a file (in a notebook, or a
class made by a function) is identified by its content: code, closure and the global variables that it uses, as
cloudpickle writes them.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import io
import json
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel
from pyspark import cloudpickle as untyped

from causeway.errors import UserError
from causeway.studies.identity import DIGITS, StudyCode, data_of, of_file, of_shipped
from causeway.studies.registry import STUDIES, Resolved, check_study, resolve
from causeway.studies.study import Study
from causeway.toolchain.installation import SOURCES
from causeway.toolchain.user_file import is_user_file

cloudpickle: Any = untyped
ALL = frozenset(["causeway.*"])
"""The modules of Causeway that code without a file may use."""


@dataclass(frozen=True)
class StudyObject(Resolved):
    """A study that is pickled with its jobs, since another process could not load it by a name."""

    content: str
    """The digest of its content; "" if it cannot be pickled."""
    pickled: bytes
    """A function and its arguments, which make the study in another process; empty if they cannot be pickled."""

    def check_pickled(self, remedy: str) -> None:
        """Raise UserError if the study cannot be pickled."""
        if not self.content or not self.pickled:
            raise UserError(
                f"{self.study.name} contains an object that cannot be pickled (an open file, a lock), {remedy}, or "
                f"make it in on_start"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.pickled, self.code, self.content)


def study_object(make: Callable[..., Study], arguments: tuple[Any, ...], code: StudyCode, content: str) -> StudyObject:
    """Return the study that `make(*arguments)` makes, here and in other processes.

    It is pickled by content, because a process that imports the script again does not have values that were changed
    later.
    """
    pickled = b""
    with _own_modules_by_value(), contextlib.suppress(Exception):
        pickled = cloudpickle.dumps((make, arguments))
    return StudyObject(make(*arguments), code, content, pickled)


def check_folder(source: str | Resolved) -> None:
    """Raise UserError if a folder could not distinguish two versions of a study."""
    if isinstance(source, StudyObject):
        source.check_pickled("so a folder could not distinguish two versions of it; omit out=...")


def check_processes(source: str | Resolved, remedy: str = "give jobs=1") -> None:
    """Raise UserError if a study cannot be passed to other processes."""
    if isinstance(source, StudyObject):
        source.check_pickled(f"so it cannot be sent to other processes; {remedy}")


def _again(pickled: bytes, code: StudyCode, content: str) -> StudyObject:
    make, arguments = pickle.loads(pickled)
    return StudyObject(make(*arguments), code, content, pickled)


def of_study(study: Study) -> str | Resolved:
    """Return the name of a study that ships with Causeway, or else the study with its code."""
    kind = type(study)
    shipped = [name for name, place in STUDIES.items() if place == f"{kind.__module__}:{kind.__qualname__}"]
    if shipped and not vars(study):
        return resolve(shipped[0])
    check_study(f"study {kind.__name__}", kind)
    code = code_of(kind)
    if code.path is not None and study.files:
        code = of_file(code.path, data_of(code.path, study.files))
    content = content_of(study)
    return study_object(_same, (study,), _with_content(code, content), content)


def _same(study: Study) -> Study:
    return study


def code_of(*things: Any) -> StudyCode:
    """Return the code of classes and functions: their files, Causeway's, or none (a notebook)."""
    parts = [_code_of(sys.modules.get(module)) for module in dict.fromkeys(_module_of(thing) for thing in things)]
    if len(parts) == 1:
        return parts[0]
    digest = hashlib.blake2b(" ".join(part.digest for part in parts).encode(), digest_size=16).hexdigest()[:DIGITS]
    own = frozenset().union(*(part.own for part in parts))
    files = frozenset().union(*(part.files for part in parts))
    return StudyCode(digest, own, files, next((part.path for part in parts if part.path), None))


def _module_of(thing: Any) -> str:
    while hasattr(thing, "func"):  # functools.partial
        thing = thing.func
    return str(thing.__module__ if hasattr(thing, "__qualname__") else type(thing).__module__)


def _code_of(module: ModuleType | None) -> StudyCode:
    file = Path(getattr(module, "__file__", None) or "")
    if not file.is_file() or file.suffix != ".py":
        return StudyCode("", ALL)
    if file.resolve().is_relative_to(SOURCES) and not is_user_file(str(file)):
        return of_shipped(file)
    return of_file(file)


def _with_content(code: StudyCode, content: str) -> StudyCode:
    text = f"{code.digest} {content}".encode()
    digest = hashlib.blake2b(text, digest_size=16).hexdigest()[:DIGITS]
    return StudyCode(digest, code.own, code.files, code.path)


def content_of(thing: Any) -> str:
    """Return a digest of an object's content, including code that it holds; "" if it cannot be pickled.

    The user's modules are included by content, together with the variables that the code uses.
    """
    with _own_modules_by_value():
        written = io.BytesIO()
        try:
            _Content(written).dump(thing)
        except Exception:
            return ""
        content = written.getvalue()
    for random_id in _random_ids():
        content = content.replace(random_id.encode(), b"")
    return hashlib.blake2b(content, digest_size=16).hexdigest()[:DIGITS]


class _Content(cloudpickle.Pickler):  # type: ignore[misc]
    """Writes the content of an object, with equal bytes in every process."""

    def reducer_override(self, thing: Any) -> Any:
        """Write the fields and the functions of a model class, since pydantic's compiled parts contain addresses."""
        if (
            isinstance(thing, type)
            and issubclass(thing, BaseModel)
            and thing.__module__.partition(".")[0] != "causeway"
        ):
            functions = {name: one for name, one in vars(thing).items() if inspect.isfunction(one)}
            return _fields_of, (thing.__qualname__, json.dumps(thing.model_json_schema(), sort_keys=True), functions)
        return super().reducer_override(thing)


def _fields_of(*parts: Any) -> tuple[Any, ...]:
    """Return the parts, which stand for the content of a model class in a digest."""
    return parts


def _random_ids() -> list[str]:
    """Return the ids that cloudpickle draws for classes, which differ from process to process."""
    return list(getattr(cloudpickle.cloudpickle, "_DYNAMIC_CLASS_TRACKER_BY_CLASS", {}).values())


def _is_own(module: ModuleType) -> bool:
    """Return whether a module is the user's: a file of theirs, or a module that their program has made."""
    file = getattr(module, "__file__", None)
    return is_user_file(file) if file else module.__spec__ is None


@contextlib.contextmanager
def _own_modules_by_value() -> Iterator[None]:
    registered = []
    for module in {id(one): one for one in list(sys.modules.values())}.values():  # some modules have two names
        if inspect.ismodule(module) and module.__name__ != "__main__" and _is_own(module):
            with contextlib.suppress(ValueError):
                cloudpickle.register_pickle_by_value(module)
                registered.append(module)
    try:
        yield
    finally:
        for module in registered:
            cloudpickle.unregister_pickle_by_value(module)
