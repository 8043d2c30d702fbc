"""The controller's socket over tcp: libzmq's PAIR, always with CURVE, with keys made for one run."""

from __future__ import annotations

import zmq

from causeway.bridge.errors import UserError


class LibzmqPair:
    """Listens for one peer. `receive` and `send` take no longer than a slice."""

    gone = False
    """Strangers come and go over tcp: only the deadline says that the peer is gone."""

    def __init__(self, slice_ms: int, high_water: int, longest: int) -> None:
        self._context = zmq.Context()
        socket = self._socket = self._context.socket(zmq.PAIR)
        for option in (zmq.RCVTIMEO, zmq.SNDTIMEO):
            socket.setsockopt(option, slice_ms)
        for option in (zmq.RCVHWM, zmq.SNDHWM):
            socket.setsockopt(option, high_water)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, longest)
        server_public, server_secret = zmq.curve_keypair()
        client_public, client_secret = zmq.curve_keypair()
        socket.curve_server = True
        socket.curve_publickey, socket.curve_secretkey = server_public, server_secret
        self.environment = {
            "CAUSEWAY_CURVE_SERVER_KEY": server_public.decode(),
            "CAUSEWAY_CURVE_PUBLIC_KEY": client_public.decode(),
            "CAUSEWAY_CURVE_SECRET_KEY": client_secret.decode(),
        }
        """What the peer must know."""

    def listen(self, endpoint: str) -> str:
        """Listens there; where that is."""
        try:
            self._socket.bind(endpoint)
        except zmq.ZMQError as error:
            self.close()
            raise UserError(f"cannot listen on {endpoint}: {error}; use 'tcp' for any free port") from None
        return self._socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def receive(self) -> bytes | None:
        """The next message; None if none came within a slice."""
        try:
            return self._socket.recv()
        except zmq.Again:
            return None

    def send(self, message: bytes) -> bool:
        """False if it could not be taken within a slice."""
        try:
            self._socket.send(message)
        except zmq.Again:
            return False
        return True

    def close(self, linger_ms: int = 0) -> None:
        """What was sent gets so long to go out."""
        if not self._context.closed:
            self._socket.close(linger_ms)
            self._context.term()
