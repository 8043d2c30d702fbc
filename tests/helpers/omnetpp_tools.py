"""OMNeT++ on this machine, for tests that check against the real thing: where it is, its samples, its scavetool."""

import csv
import os
import shutil
import subprocess
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from causeway.errors import UserError
from causeway.toolchain.model_projects import find_models
from causeway.toolchain.omnet_find import find_omnetpp, missing_omnetpp

csv.field_size_limit(1 << 30)


def need_home() -> Path:
    """Return the folder of OMNeT++; skip the test where there is none."""
    found = find_omnetpp()
    if found is None:
        pytest.skip(missing_omnetpp())
    return found.root


def environment(root: Path) -> dict[str, str]:
    """Return the variables of `setenv` that building and running samples needs."""
    return os.environ | {
        "PATH": f"{root / 'bin'}:{os.environ['PATH']}",
        "OMNETPP_ROOT": str(root),
        "__omnetpp_root_dir": str(root),
        "LD_LIBRARY_PATH": f"{root / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        "OMNETPP_RELEASE": "",
        "PYTHONPATH": str(root / "python"),
    }


def build_sample(name: str, folder: Path) -> Path:
    """Build a copy of an OMNeT++ sample in `folder`; return its folder."""
    root = need_home()
    copy = folder / name
    shutil.copytree(root / "samples" / name, copy, ignore=shutil.ignore_patterns("out", "results"))
    for command in (["opp_makemake", "-f", "--deep", "-O", "out"], ["make", "MODE=release", "-j2"]):
        done = subprocess.run(command, cwd=copy, env=environment(root), capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return copy


def run_sample(sample: Path, results: Path, *options: str) -> None:
    """Run a built sample in Cmdenv, results into `results`."""
    command = [f"./{sample.name}", "-u", "Cmdenv", f"--result-dir={results}", *options]
    done = subprocess.run(command, cwd=sample, env=environment(need_home()), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def export(path: Path, out: Path) -> list[dict[str, str]]:
    """Return all records of a result file, as exported by opp_scavetool (CSV-R)."""
    root = need_home()
    command = ["opp_scavetool", "x", "-F", "CSV-R", "-x", "precision=17", "-o", str(out), str(path)]
    done = subprocess.run(command, env=environment(root), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    with open(out, newline="") as file:
        return list(csv.DictReader(file))


def differences(tables: dict, exported: list[dict[str, str]]) -> dict[str, tuple]:
    """Return the differences between our tables of one file and the export, kind by kind."""
    pairs = {
        "attributes": (_our_attributes(tables), _their_attributes(exported)),
        "itervars": (
            _ours(tables["parameters"], "name", "value"),
            _theirs(exported, "itervar", "attrname", "attrvalue"),
        ),
        "config": (_ours(tables["config"], "name", "value"), _theirs(exported, "config", "attrname", "attrvalue")),
        "pars": (
            _ours(tables["pars"], "module", "name", "value"),
            _theirs(exported, "param", "module", "name", "value"),
        ),
        "scalars": (_our_scalars(tables["scalars"]), _their_scalars(exported)),
        "vectors": (_our_vectors(tables), _their_vectors(exported)),
        "bins": (_our_bins(tables["bins"]), _their_bins(exported)),
        "statistics": (_our_statistics(tables["statistics"]), _their_statistics(exported)),
    }
    return {kind: (ours - theirs, theirs - ours) for kind, (ours, theirs) in pairs.items() if ours != theirs}


def _ours(frame, *columns: str) -> Counter:
    return Counter(frame[["run_id", *columns]].itertuples(index=False, name=None))


def _theirs(exported, kind: str, *columns: str) -> Counter:
    return Counter((row["run"], *(row[column] for column in columns)) for row in exported if row["type"] == kind)


def _our_attributes(tables) -> Counter:
    return _ours(tables["attributes"], "module", "item", "name", "value")


def _their_attributes(exported) -> Counter:
    run = ((row["run"], "", "", row["attrname"], row["attrvalue"]) for row in exported if row["type"] == "runattr")
    item = (
        (row["run"], row["module"], row["name"], row["attrname"], row["attrvalue"])
        for row in exported
        if row["type"] == "attr"
    )
    return Counter([*run, *item])


def _bits(value: float) -> str:
    return "nan" if value != value else float(value).hex()


def _our_scalars(frame) -> Counter:
    return Counter((r.run_id, r.module, r.name, _bits(r.value)) for r in frame.itertuples())


def _their_scalars(exported) -> Counter:
    return Counter(
        (r["run"], r["module"], r["name"], _bits(float(r["value"]))) for r in exported if r["type"] == "scalar"
    )


def _our_vectors(tables) -> Counter:
    samples = dict(list(tables["samples"].groupby(["run_id", "vector_id"])))
    found = Counter()
    for vector in tables["vectors"].itertuples():
        group = samples.get((vector.run_id, vector.vector_id), tables["samples"].head(0))
        columns = (group[name].tolist() for name in ("time_raw", "time_exp", "value"))
        data = tuple((Decimal(raw).scaleb(exp), _bits(value)) for raw, exp, value in zip(*columns, strict=True))
        found[vector.run_id, vector.module, vector.name, data] += 1
    return found


def _their_vectors(exported) -> Counter:
    return Counter(
        (
            row["run"],
            row["module"],
            row["name"],
            tuple(
                (Decimal(time), _bits(float(value)))
                for time, value in zip(row["vectime"].split(), row["vecvalue"].split(), strict=True)
            ),
        )
        for row in exported
        if row["type"] == "vector"
    )


def _our_bins(frame) -> Counter:
    """Per histogram: underflows, overflows, edges, values. Equal edges are one bin, as scavetool reads them."""
    found = Counter()
    for (run, module, name), group in frame.groupby(["run_id", "module", "name"]):
        merged: list[list[float]] = []
        for edge, value in zip(group.edge.tolist(), group.value.tolist(), strict=True):
            if merged and merged[-1][0] == edge:
                merged[-1][1] += value
            else:
                merged.append([edge, value])
        edges, values = tuple(_bits(e) for e, _ in merged), tuple(v for _, v in merged)
        found[run, module, name, values[0], values[-1], edges[1:], tuple(map(_bits, values[1:-1]))] += 1
    return found


def _their_bins(exported) -> Counter:
    return Counter(
        (
            row["run"], row["module"], row["name"], float(row["underflows"]), float(row["overflows"]),
            tuple(_bits(float(e)) for e in row["binedges"].split()),
            tuple(_bits(float(v)) for v in row["binvalues"].split()),
        )
        for row in exported
        if row["type"] == "histogram"
    )  # fmt: skip


def _our_statistics(frame) -> Counter:
    """count, min and max; the tool computes mean and standard deviation anew, so those are no record of the file."""
    found = Counter()
    for (run, module, name), group in frame.groupby(["run_id", "module", "name"]):
        fields = dict(zip(group.field, group.value, strict=True))
        found[run, module, name, float(fields["count"]), _bits(fields["min"]), _bits(fields["max"])] += 1
    return found


def _their_statistics(exported) -> Counter:
    return Counter(
        (
            row["run"], row["module"], row["name"], float(row["count"]),
            _bits(float(row["min"] or "nan")), _bits(float(row["max"] or "nan")),
        )
        for row in exported
        if row["type"] in ("statistic", "histogram")
    )  # fmt: skip


def need_inet() -> Path:
    """Return the folder of the INET that goes with OMNeT++; skip the test where there is none."""
    found = find_omnetpp()
    if found is None or not found.has_inet or found.inet_root is None:
        pytest.skip("no INET found that fits OMNeT++: see `causeway doctor`")
    return found.inet_root


def run_inet(example: str, results: Path, *options: str) -> None:
    """Run one of INET's examples in Cmdenv."""
    inet = need_inet()
    ned = f"{inet / 'examples'}:{inet / 'src'}"
    command = ["opp_run", "-l", str(inet / "src" / "libINET.so"), "-n", ned, "-u", "Cmdenv", f"--result-dir={results}"]
    done = subprocess.run(
        [*command, *options],
        cwd=inet / "examples" / example,
        env=environment(need_home()),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def version_of_inet() -> str:
    """Return the version of the INET that `need_inet` returns."""
    found = find_omnetpp()
    assert found is not None and found.inet_version is not None
    return found.inet_version


def need_simu5g() -> Path:
    """Return the folder of a Simu5G that was built with the INET in use."""
    need_inet()
    try:
        folders, _ = find_models(["simu5g"])
    except UserError as error:
        pytest.skip(str(error))
    return Path(folders[0]).parent
