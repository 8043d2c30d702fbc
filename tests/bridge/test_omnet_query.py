"""What `opp_run -q` says about the runs of a configuration, read."""

from __future__ import annotations

from causeway.bridge.engines.omnet_query import IniRun, read_runs

TOLD = """\
Run 0: $range=200m, $what="a, b", $repetition=0
\textends = Static
\tseed-set = 7
\tseed-set = 9

Run 1: $range=200m, $what="a, b", $repetition=1
\t*.numHosts = 20
"""


def test_a_run_has_its_variables_and_its_seed_set() -> None:
    variables = {"range": "200m", "what": '"a, b"'}
    assert read_runs(TOLD) == [IniRun(0, variables, 7), IniRun(1, variables, 1)]


def test_without_variables_there_is_one_plain_run() -> None:
    assert read_runs("Run 0: \n\tnetwork = Net\n") == [IniRun(0, {}, 0)]
