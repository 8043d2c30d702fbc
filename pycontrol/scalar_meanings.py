"""Descriptions of the scalars that do not depend on the study: of the causality checker, of nodes and of programs."""

from __future__ import annotations

MEANINGS = {
    "messages": "messages that nodes broadcast",
    "deliveries": "deliveries of messages by nodes",
    "violations": "deliveries out of causal order: the node had not yet delivered a message of the delivered one's "
    "causal past",
    "violations_own": "violations by a node that delivered a message of its own",
    "messages_violated": "messages of which at least one delivery was a violation",
    "duplicates": "deliveries of a message by a node that had already delivered it",
    "unowed": "deliveries of a message that was broadcast before the node joined; a node that left and joined is a "
    "new process with an empty past",
    "missing": "deliveries that were still missing at the end of the run",
    "arrivals_out_of_order": "messages of others that arrived before a message of their causal past was delivered",
    "flagged": "deliveries that the protocol itself reported as suspicious beforehand",
    "flagged_and_violated": "flagged deliveries that were violations",
    "violations_undetected": "violations that the protocol did not flag",
    "messages_violated_undetected": "messages with at least one violation that was not flagged",
    "packets": "packets that nodes sent; a packet to everyone counts once",
    "pending_tasks": "tasks of asyncio programs that had not ended when the run did",
    "failed_tasks": "tasks of asyncio programs that ended with an error that the program did not retrieve",
    "mains_ended": "nodes whose main had returned when the run ended",
    "refused_datagrams": "datagrams of asyncio programs that could not be sent: too long, or to an unknown address",
}
