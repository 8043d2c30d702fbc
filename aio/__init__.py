"""asyncio programs, unmodified, on simulated nodes.

    from causeway.aio import ProgramStudy

    async def main(node):                       # runs on every node
        ...                                     # any asyncio: tasks, timeouts, datagrams, streams

    class Mine(ProgramStudy):
        name, title, main = "mine", "my program", main

Start reading at `loop.py`. The map:

    loop.py         scheduling on simulated time; refusals.py: what a simulated node does not have
    networked.py    the part that opens sockets
    node.py         the loop of one node, and `node`, which main is given; programs.py: all nodes as a protocol
    stack.py        what an operating system would do: names.py, datagrams.py (UDP), streams.py over connection.py
    wire.py         what crosses the network, and how long it is
    world.py        names and sockets as a program sees them; watch.py: a step that does not end
    study.py        a study in ten lines; real.py: the same file as real processes over loopback
    solo.py         a loop without engine, a host by itself, for tests
"""

from causeway.aio.node import ProgramNode
from causeway.aio.programs import Programs
from causeway.aio.solo import SoloLoop, solo_world
from causeway.aio.study import ProgramParams, ProgramStudy
from causeway.pycontrol.outside import OutsideError

__all__ = ["OutsideError", "ProgramNode", "ProgramParams", "ProgramStudy", "Programs", "SoloLoop", "solo_world"]
