"""Files written by real OMNeT++ simulations: every record equals what opp_scavetool exports."""

import subprocess
import time

import numpy as np
import pytest

from causeway.analysis import convert, store
from tests.helpers.omnetpp_tools import build_sample, differences, environment, export, need_home, run_inet, run_sample

pytestmark = [pytest.mark.omnet, pytest.mark.slow]

SQLITE = (
    "--outputvectormanager-class=omnetpp::envir::SqliteOutputVectorManager",
    "--outputscalarmanager-class=omnetpp::envir::SqliteOutputScalarManager",
)
EVERYTHING = ("--**.param-recording=true", "--**.vector-recording=true", "--**.result-recording-modes=all")
RUNS = {
    "fifo": ("fifo", ("-c", "Fifo1", "--sim-time-limit=2000s", "--**.param-recording=true")),
    "fifo in SQLite": ("fifo", ("-c", "Fifo1", "--sim-time-limit=500s", *SQLITE, *EVERYTHING)),
    "queues without event numbers": ("fifo", (
        "-c", "TandemQueueExperiment", "--sim-time-limit=300s", "--**.vector-record-eventnumbers=false",
        "--output-vector-precision=17",
    )),
    "aloha, all modes": ("aloha", ("-c", "PureAloha2", "--sim-time-limit=60s", *EVERYTHING)),
    "aloha, histograms in SQLite": ("aloha", ("-c", "PureAloha2", "--sim-time-limit=60s", *SQLITE, *EVERYTHING)),
    "routing": ("routing", ("-c", "Net10", "--sim-time-limit=20s", *EVERYTHING)),
    "times in femtoseconds": ("fifo", ("-c", "Fifo1", "--sim-time-limit=300s", "--simtime-resolution=fs")),
}  # fmt: skip


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """Builds each sample once."""
    built: dict = {}
    folder = tmp_path_factory.mktemp("samples")

    def get(name: str):
        need_home()
        if name not in built:
            built[name] = build_sample(name, folder)
        return built[name]

    return get


@pytest.mark.parametrize("case", RUNS)
def test_every_record_of_a_sample_simulation_equals_scavetools_export(sample, tmp_path, case):
    name, options = RUNS[case]
    run_sample(sample(name), tmp_path / "results", *options)
    files = sorted(p for p in (tmp_path / "results").iterdir() if p.suffix in (".sca", ".vec"))
    assert len(files) >= 2
    for path in files:
        assert differences(convert.pandas_tables([path]), export(path, tmp_path / "x.csv")) == {}, path.name


INET = {
    "ad hoc network": ("manetrouting/dsdv", ("--sim-time-limit=5s",)),
    "wired LAN": ("ethernet/lans", ("-c", "MixedLAN1", "--sim-time-limit=0.5s", *EVERYTHING)),
    "TCP clients in SQLite": ("inet/nclients", ("-r", "0", "--sim-time-limit=10s", *SQLITE, *EVERYTHING)),
}


@pytest.mark.parametrize("case", INET)
def test_every_record_of_an_inet_simulation_equals_scavetools_export(tmp_path, case):
    example, options = INET[case]
    run_inet(example, tmp_path / "results", *options)
    files = sorted(p for p in (tmp_path / "results").iterdir() if p.suffix in (".sca", ".vec"))
    assert len(files) == 2
    for path in files:
        assert differences(convert.pandas_tables([path]), export(path, tmp_path / "x.csv")) == {}, path.name


def test_the_result_files_that_come_with_omnetpp_equal_scavetools_export(tmp_path):
    folder = need_home() / "samples" / "resultfiles"
    files = [p for p in sorted(folder.rglob("*")) if p.suffix in (".sca", ".vec")]
    if not files:
        pytest.skip("this OMNeT++ comes without samples/resultfiles")
    for path in files[::5]:
        copy = tmp_path / path.name
        copy.write_bytes(path.read_bytes())
        assert differences(convert.pandas_tables([copy]), export(copy, tmp_path / "x.csv")) == {}, path.name


def test_text_and_sqlite_of_the_same_simulation_give_the_same_tables(sample, tmp_path):
    options = ("-c", "Fifo1", "--sim-time-limit=300s")
    run_sample(sample("fifo"), tmp_path / "text", *options)
    run_sample(sample("fifo"), tmp_path / "sqlite", *options, *SQLITE)
    text, database = (convert.pandas_tables([tmp_path / kind]) for kind in ("text", "sqlite"))
    key = ["vector_id", "event"]
    ours = [tables["samples"].sort_values(key, ignore_index=True) for tables in (text, database)]
    shift = ours[1].vector_id.min() - ours[0].vector_id.min()
    assert (ours[0].vector_id + shift).equals(ours[1].vector_id) and ours[0].event.equals(ours[1].event)
    assert ours[0].time_raw.equals(ours[1].time_raw) and ours[0].time_exp.equals(ours[1].time_exp)
    assert np.allclose(ours[0].value, ours[1].value, rtol=1e-13, atol=0), "text has 14 digits"


def test_a_growing_file_can_be_converted_repeatedly(sample, tmp_path):
    results, out = tmp_path / "results", tmp_path / "out"
    command = ["./fifo", "-u", "Cmdenv", "-c", "Fifo2", "--sim-time-limit=20000s", f"--result-dir={results}",
               "--output-vectors-memory-limit=100KiB"]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=sample("fifo"), env=environment(need_home()), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    counts = []
    try:
        while process.poll() is None:
            vectors = list(results.glob("*.vec"))
            if vectors and vectors[0].stat().st_size > 5000:
                convert.convert(vectors, out)
                counts.append(store.read_arrow(out, "samples").num_rows)
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    (path,) = results.glob("*.vec")
    convert.convert([path], out)
    tables = {name: store.read_pandas(out, name) for name in store.schema.TABLES}
    assert differences(tables, export(path, tmp_path / "x.csv")) == {}
    assert counts == sorted(counts) and len(set(counts)) > 1, "it was seen growing"
