"""asyncio programs, unmodified, on simulated nodes.

    from causeway.aio import ProgramStudy

    async def main(node):                       # runs on every node
        ...                                     # any asyncio: tasks, timeouts, datagrams, streams

    class Mine(ProgramStudy):
        name, title, main = "mine", "my program", main

Start reading at `event_loop.py`. The map:

    event_loop.py    the event loop on simulated time; refusals.py: the methods that a simulated node refuses
    networked.py     the methods of the loop that open sockets
    program_node.py  the loop of one node, and the argument of main; programs.py: all nodes as a protocol
    stack.py         the operating system's part; names.py, datagrams.py (UDP), streams.py over connection.py
    tcp.py           streams over the simulator's TCP, on networks that have it
    packets.py       the contents of packets and their lengths
    environment.py   names and sockets as a program sees them; sockets.py
    watch.py         reports a step that does not end
    study.py         a study in ten lines; real.py: the same file as real processes over loopback
    solo.py          a loop without an engine: a single host, for tests
"""

from causeway.aio.program_node import ProgramNode
from causeway.aio.programs import Programs
from causeway.aio.solo import SoloLoop, solo_environment
from causeway.aio.study import ProgramParams, ProgramStudy
from causeway.pycontrol.outside import OutsideError

__all__ = ["OutsideError", "ProgramNode", "ProgramParams", "ProgramStudy", "Programs", "SoloLoop", "solo_environment"]
