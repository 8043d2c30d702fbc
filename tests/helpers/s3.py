"""A real S3 server on loopback (moto's, from PyPI), for tests of result folders behind URLs."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.helpers.ports import free_ports

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "anything", "AWS_DEFAULT_REGION": "us-east-1"}


DEPS = os.environ.get("CAUSEWAY_S3_DEPS", "")
"""The folder into which `make test` installs requirements-s3.txt."""


def server_program() -> list[str] | None:
    if DEPS:
        return [sys.executable, "-c", "from moto.server import main; main()"]
    beside = Path(sys.executable).with_name("moto_server")
    found = str(beside) if beside.exists() else shutil.which("moto_server")
    return [found] if found else None


needs_s3 = pytest.mark.skipif(server_program() is None, reason="no moto_server (make test installs it)")


@contextmanager
def s3_server() -> Iterator[str]:
    """Starts one with a bucket; gives a URL with %s where the folder goes."""
    from pyarrow.fs import FileSystem

    (port,), program = free_ports(1), server_program()
    assert program is not None
    command = [*program, "-H", "127.0.0.1", "-p", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(Path(DEPS).resolve())} if DEPS else None
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        deadline = time.monotonic() + 60
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None and time.monotonic() < deadline, "moto_server does not start"
            time.sleep(0.1)
        query = f"?endpoint_override=127.0.0.1:{port}&scheme=http"
        FileSystem.from_uri(f"s3://results{query}&allow_bucket_creation=true")[0].create_dir("results")
        yield f"s3://results/%s{query}"
    finally:
        process.kill()
        process.wait()


def with_credentials(environment: Mapping[str, str]) -> dict[str, str]:
    return {**environment, **CREDENTIALS}


@pytest.fixture
def s3(monkeypatch) -> Iterator[str]:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with s3_server() as url:
        yield url


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
