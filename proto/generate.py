"""Generate proto/causeway_pb2.py, with a last line that identifies its source, causeway.proto."""

import hashlib
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
PROTO = "proto/causeway.proto"

if __name__ == "__main__":
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", "-I.", "--python_out=.", PROTO], cwd=TOP, check=True)
    with (TOP / "proto/causeway_pb2.py").open("a") as generated:
        generated.write(f'PROTO_SHA256 = "{hashlib.sha256((TOP / PROTO).read_bytes()).hexdigest()}"\n')
