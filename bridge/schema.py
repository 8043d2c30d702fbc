"""The wire contract of this checkout: its version, the hash of its text, and the generated protobuf code."""

from __future__ import annotations

import hashlib
import importlib
from functools import cache
from pathlib import Path
from typing import Any

from causeway.bridge.errors import UserError

CONTRACT = 2
PROTO = Path(__file__).resolve().parent.parent / "proto" / "causeway.proto"

try:
    pb: Any = importlib.import_module("causeway.proto.causeway_pb2")  # generated: mypy cannot see into it
except ImportError as error:  # pragma: no cover - only in a checkout that was never set up
    raise UserError("proto/causeway_pb2.py is not built or too new for this protobuf; run `make setup`") from error

__all__ = ["CONTRACT", "PROTO", "pb", "schema_sha256"]


@cache
def schema_sha256() -> str:
    """What both sides must agree on."""
    return hashlib.sha256(PROTO.read_bytes()).hexdigest()
