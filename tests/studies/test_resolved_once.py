"""A run is resolved once: its study's file, its parameters, its id; and pickles to names for workers."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from causeway.analysis import report, study_description
from causeway.bridge import engines
from causeway.bridge.engines.inline import InlineEngine
from causeway.cli.run import RunOptions, run_study
from causeway.errors import UserError
from causeway.studies import campaign, registry
from causeway.studies.runner import Job, choose_engine
from tests.helpers.edits import edited

TOY = Path(__file__).parents[1] / "helpers" / "toy_study.py"
COUNTING = """
from pathlib import Path
with open(Path(__file__).with_suffix(".count"), "a") as reported:
    reported.write("x")
from pydantic import field_validator
"""
VALIDATING = """
    @field_validator("rate")
    @classmethod
    def _reported(cls, value):
        with open(Path(__file__).with_suffix(".checked"), "a") as reported:
            reported.write("x")
        return value
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A study in a file of its own that counts how often it is executed and its parameters are validated."""
    text = edited(TOY.read_text(), ("from typing", COUNTING + "from typing"))
    path = tmp_path / "mine.py"
    path.write_text(text.replace('    order: Literal["fifo", "none"] = "none"', VALIDATING))
    return path


def count(path: Path, what: str = ".count") -> int:
    reported = path.with_suffix(what)
    return len(reported.read_text()) if reported.exists() else 0


def run(file: Path, out: Path, reps: int = 1, wished: int = 1) -> None:
    set_ = ["messages=20", "rate=40"]
    options = RunOptions(str(file), settings=set_, reps=reps, out_dir=out, processes=wished)
    run_study(options, Console(quiet=True))


def test_one_command_executes_the_file_of_a_study_once(file: Path, tmp_path: Path) -> None:
    run(file, tmp_path / "out", reps=3)
    assert count(file) == 1


def test_the_parameters_of_a_point_are_validated_once_for_all_its_repetitions(file: Path, tmp_path: Path) -> None:
    run(file, tmp_path / "out", reps=10)
    assert count(file, ".checked") == 1


@pytest.mark.slow
def test_every_process_of_a_campaign_executes_the_file_of_a_study_once(file: Path, tmp_path: Path) -> None:
    run(file, tmp_path / "out", reps=10, wished=2)
    assert 2 <= count(file) <= 3


def test_a_worker_executes_the_file_once_for_any_number_of_jobs(file: Path) -> None:
    jobs = campaign.plan(str(file), "inline", [{"rate": 10.0}, {"rate": 20.0}], 1, 3)
    copies = [pickle.loads(pickle.dumps(job)) for job in jobs]
    assert [job.run_id for job in copies] == [job.run_id for job in jobs]
    assert count(file) == 1
    assert b"ToyParams" not in pickle.dumps(jobs[0]), "names only: a worker may not be able to import the class"


def test_a_file_that_was_changed_is_executed_again(file: Path) -> None:
    assert registry.get(str(file)).title == "flooding without order"
    file.write_text(edited(file.read_text(), ("flooding without order", "something else entirely")))
    assert registry.get(str(file)).title == "something else entirely"


def test_two_files_of_one_name_are_two_studies(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / file.name
    other.parent.mkdir()
    other.write_text(edited(file.read_text(), ('name = "toy"', 'name = "toy2"')))
    names = [registry.get(str(path)).name for path in (file, other, file)]
    assert names == ["toy", "toy2", "toy"]


def test_committed_results_are_not_read_back(file: Path, tmp_path: Path, monkeypatch) -> None:
    read = []
    for module, name in ((pq, "read_table"), (pq, "ParquetFile"), (ds, "dataset")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, real=real, **more: read.append(args) or real(*args, **more))
    run(file, tmp_path / "out", reps=3)
    assert read == []
    run(file, tmp_path / "out", reps=3)
    assert read, "what was there before is read"


def test_a_job_with_another_seed_is_the_same_point(file: Path) -> None:
    job = Job(str(file), {"rate": 5}, 1, "inline")
    other = job.but(seed=7)
    assert (other.point, other.seed, job.seed) == (job.point, 7, 1)
    assert other.params is job.params
    with pytest.raises(UserError, match=r"below 2\^63"):
        job.but(seed=2**63)


def test_the_report_of_a_users_study_draws_its_plots_without_its_file(file: Path, tmp_path: Path) -> None:
    headed = edited(file.read_text(), ("    sweeps:", PLOTTED + "    sweeps:"))
    file.write_text(headed.replace("from typing", "from causeway.analysis.plots import Headline, Plot\nfrom typing", 1))
    file.with_name("numbers.csv").write_text(NUMBERS)
    run(file, tmp_path / "out", reps=2)
    shutil.move(file, tmp_path / "gone.py")
    text = report.write(tmp_path / "out").read_text()
    assert "Deliveries by rate" in text and text.count("<figure>") == 1
    assert "too many to count" in text and "too few seeds" in text
    (described,) = study_description.read(tmp_path / "out")
    assert described.study == "toy" and described.headlines[0].meaning == "all of them"


PLOTTED = """    published = "numbers.csv"
    headlines = (Headline("deliveries", "deliveries", "", "all of them"),)
    plots = (Plot("Deliveries by rate", "toy", "deliveries", "rate", paper="p, Fig. 1"),)
"""
NUMBERS = """paper,where,quantity,condition,study,parameters,scalar,published,relation,low,high,note
p,Fig. 1,too many to count,,toy,"{""messages"": 20}",deliveries,,>,100,,
"""


class Third(InlineEngine):
    """An engine in a file of its own."""

    name = "third"


class Blind(InlineEngine):
    """An engine without radios."""

    name = "blind"
    networks = (object,)


def test_an_engine_is_its_class_and_one_line(monkeypatch) -> None:
    monkeypatch.setitem(engines.ENGINES, "third", f"{__name__}:Third")
    monkeypatch.setitem(engines.ENGINES, "blind", f"{__name__}:Blind")
    monkeypatch.setattr(engines, "get", lambda name: {"third": Third, "blind": Blind}.get(name, InlineEngine)())
    toy, mobile = Job(str(TOY), {}, 1, "third"), Job("mobile20", {}, 1, "blind")
    assert choose_engine(toy.study, "third", toy.study.network(toy.params, 1)) == "third"
    with pytest.raises(UserError, match="study mobile20 does not run on engine blind"):
        choose_engine(mobile.study, "blind", mobile.study.network(mobile.params, 1))
