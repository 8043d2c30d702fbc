"""Send a user's study to the workers of a cluster, which cannot read the user's files.

`send` packs it on this machine, and `receive` unpacks it on a worker.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causeway.analysis import ship, spark
from causeway.errors import UserError
from causeway.studies.runner import Job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Shipped = tuple[tuple[Any, ...], dict[str, Any], str]
"""The arguments of a job, further attributes, and the name of the zip file of its study ("" if it needs none)."""


def send(session: SparkSession, jobs: Iterable[Job]) -> list[Shipped]:
    """Send the studies' files to the workers of a session; return the jobs as arguments of `receive`."""
    archives: dict[str, str] = {}
    sent = []
    for job in jobs:
        if job.name not in archives:
            packed = _pack(job) if job.name.endswith(".py") and not spark.is_local(session) else None
            if packed is not None:
                session.sparkContext.addFile(str(packed))
            archives[job.name] = packed.name if packed else ""
        _, arguments, known = job.__reduce__()
        sent.append((arguments, known, archives[job.name]))
    return sent


def receive(sent: Shipped) -> Job:
    """Return the job on the worker, after unpacking its study if that was sent."""
    (name, *rest), known, archive = sent
    if archive:
        from pyspark import SparkFiles

        name = str(ship.unpacked(Path(SparkFiles.get(archive))) / Path(name).name)
    job = Job(name, *rest)
    job.__dict__.update(known)
    return job


def _pack(job: Job) -> Path:
    """Zip the study's file, the files that it imports or reads there, its published numbers and its `files`."""
    path = Path(job.name).resolve()
    paths = {one for one in job.study_code.files if one.is_relative_to(path.parent)}
    for pattern in (*job.study.files, job.study.published):
        found = [one for one in path.parent.glob(pattern) if one.is_file()] if pattern else []
        if pattern and not found:
            raise UserError(f"study {job.study.name} declares files {pattern!r}, but there are none beside {path}")
        paths.update(found)
    files = {one.relative_to(path.parent).as_posix(): one.read_bytes() for one in paths}
    return ship.zipped(f"study-{path.stem}", files)
