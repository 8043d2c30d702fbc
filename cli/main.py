"""The commands of `causeway`. Each one only parses, calls and prints; other modules do the work."""

from __future__ import annotations

if __name__ == "__main__":  # must come before all other imports, since it restarts the process
    from causeway.cli.start import prepare

    prepare()

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from causeway.cli.console import console, printable, prints_elsewhere, real_stdout
from causeway.cli.folders import Folder, OutDir, place
from causeway.cli.installations import Inet, Models, Omnetpp
from causeway.cli.once import Interrupted, StrictGroup
from causeway.cli.result_commands import compact, convert, diff, tables
from causeway.cli.start import TERMINATED
from causeway.errors import FULL, RunError, UserError
from causeway.toolchain.installation import has_other_distribution, other_distribution
from causeway.toolchain.user_file import describe_user_error

app = typer.Typer(cls=StrictGroup, invoke_without_command=True, pretty_exceptions_enable=False)
out = console()
err = console(stderr=True)


def _version(wanted: bool) -> None:
    if wanted:
        import causeway

        print(f"causeway {causeway.__version__}")
        raise typer.Exit()


@app.callback()
def top(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="The version.", callback=_version, is_eager=True)] = False,
) -> None:
    """Run distributed protocols written in Python on packet-level network simulators. Start: causeway studies."""
    if ctx.invoked_subcommand is None:
        from causeway.cli.new import show_first_steps

        show_first_steps(out)


@app.command()
def doctor(
    directory: Annotated[
        Path | None,
        typer.Argument(help="A result folder to check; default: this machine.", callback=place),
    ] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Restore or remove damaged runs; remove orphans.")] = False,
    former_repair: Annotated[bool, typer.Option("--mend", hidden=True, help="The former name of --repair.")] = False,
    omnetpp: Omnetpp = None,
    inet: Inet = None,
) -> None:
    """Check the software on this machine, or a result folder, and print what to do about each problem."""
    from causeway.cli import doctor

    if directory is None:
        doctor.show_machine(out)
    else:
        raise typer.Exit(doctor.check_folder(directory, repair or former_repair, out))


@app.command()
def studies(
    study: Annotated[str | None, typer.Argument(help="A study, or a file that defines one: its details.")] = None,
) -> None:
    """List the studies, or the parameters, sweeps and results of one."""
    from causeway.cli import show

    if study is None:
        show.show_studies(out)
    else:
        show.show_study(study, out)


@app.command()
def examples(
    names: Annotated[
        list[str] | None, typer.Argument(help="The examples to copy, or `all`. Default: list the examples.")
    ] = None,
    into: Annotated[Path, typer.Option("--into", help="The folder to copy into.")] = Path("."),
) -> None:
    """List the examples that come with Causeway, or copy some of them."""
    from causeway.cli.bundled import show_or_copy

    show_or_copy(names or [], into, out)


@app.command()
def new(file: Annotated[Path, typer.Argument(metavar="FILE.py", help="The file to write.")]) -> None:
    """Write a first protocol: a node, a network and a run. An existing file is not replaced."""
    from causeway.cli.new import write_protocol

    write_protocol(file, out)


Debugger = Annotated[
    bool, typer.Option("--pdb", help="Open the debugger where a handler fails, and at breakpoint() in one.")
]
LogLevel = Annotated[
    str, typer.Option(metavar="LEVEL", help="Print the nodes' log: debug, info, warning, error or critical.")
]
LogFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The file for the nodes' log (level info without --log).")
]
Animate = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0.001, help="Record positions for an animation, at this interval."),
]
Fingerprint = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The file of the runs' fingerprints: write or compare (engine omnet)."),
]


@app.command()
def run(
    study: Annotated[str, typer.Argument(help="A study; `causeway studies` lists them.")],
    engine: Annotated[
        str | None, typer.Option(help="inline, omnet or ns3. Default: the study's first engine that is installed.")
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="K=V", help="A parameter; repeatable.")] = None,
    sweep: Annotated[str | None, typer.Option(help="One of the study's named sweeps instead of one point.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the first repetition; the next ones count up.")] = 1,
    reps: Annotated[int, typer.Option(min=1, max=1_000_000, help="Repetitions of every point.")] = 1,
    out_dir: OutDir = Path("results"),
    record: Annotated[
        bool, typer.Option(help="Keep the frames of every run in OUT/recordings, for `causeway replay`.")
    ] = False,
    spark: Annotated[
        str | None, typer.Option(metavar="MASTER", help="Run as tasks of Spark: local[*] or spark://...")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Number of processes on this machine. Default: its cores.")
    ] = None,
    cap: Annotated[
        int,
        typer.Option(min=0, max=2**31 - 1, help="Most events in a window (0: no limit). Changes no result."),
    ] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Repeat all runs, and remove those that are in OUT.")] = False,
    twice: Annotated[
        bool,
        typer.Option("--twice", help="Run each point twice, report the first difference, and keep no results."),
    ] = False,
    all_: Annotated[bool, typer.Option("--all", help="Print every scalar, not only the study's headlines.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else, on stdout.")] = False,
    ini: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The ini file of an INET project; its network replaces the study's."),
    ] = None,
    config: Annotated[
        str, typer.Option(metavar="NAME", help="The configuration in --ini. All of its runs are made.")
    ] = "General",
    hosts: Annotated[
        str, typer.Option(metavar="PATTERN", help="The hosts of the project that are nodes, unless --ini says so.")
    ] = "",
    with_: Models = None,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Capture every node's frames in OUT/pcap (engine omnet).")
    ] = False,
    eventlog: Annotated[
        bool, typer.Option("--eventlog", help="Keep OMNeT++'s event log in OUT/eventlog (engine omnet).")
    ] = False,
    fingerprint: Fingerprint = None,
    ui: Annotated[str, typer.Option(help="Qtenv: show the simulation while it runs (engine omnet).")] = "",
    animate: Animate = None,
    pdb: Debugger = False,
    log: LogLevel = "",
    log_file: LogFile = None,
    omnetpp: Omnetpp = None,
    inet: Inet = None,
) -> None:
    """Run a study: one point or a sweep, once or many times.

    Finished runs in OUT are used again unless the code has changed.
    """
    from causeway.cli.run import Instruments, RunOptions, contained, project_of, run_study

    options = RunOptions(
        study, engine, set_ or (), sweep, seed, reps, out_dir, record, spark, processes=jobs, cap=cap, fresh=fresh,
        twice=twice, all_scalars=all_, as_json=json_, project=project_of(ini, config, hosts, with_ or ()),
        instruments=Instruments(pcap, eventlog, fingerprint, ui, animate or 0.0), pdb=pdb, log=log, log_file=log_file,
    )  # fmt: skip
    with prints_elsewhere() if json_ else contextlib.nullcontext(), contained(study):
        failed = run_study(options, err if json_ else out)
    raise typer.Exit(1 if failed else 0)


@app.command()
def attach(
    study: Annotated[str, typer.Argument(help="The study with the protocol for your simulations.")],
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="K=V", help="A parameter; repeatable.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the protocol and of its load. The simulation has its own.")] = 1,
    hosts: Annotated[
        str, typer.Option(metavar="PATTERN", help="The hosts of your INET network, which replaces the study's network.")
    ] = "",
    times: Annotated[int, typer.Option(min=0, help="Number of simulations to wait for (0: until interrupted).")] = 0,
    out_dir: Annotated[
        Path | None, typer.Option("--out", help="The folder for results, with one folder for each simulation.")
    ] = None,
    omnetpp: Omnetpp = None,
    inet: Inet = None,
) -> None:
    """Wait for simulations that you start in a shell, the IDE, Qtenv or a debugger.

    The settings that these simulations need are printed first.
    """
    from causeway.cli.attach import attach_study

    attach_study(study, set_ or [], seed, hosts, out_dir, times, out)


Properties = Annotated[
    list[str] | None,
    typer.Option(
        "--property",
        help="once, causal, fifo, total, arrives, valid, recovers, quiet, linearizable; default: the study's, or "
        "once, causal and arrives. Repeatable.",
    ),
]
Always = Annotated[list[str] | None, typer.Option(metavar="PYTHON", help="A condition on `nodes` for every state.")]
AtEnd = Annotated[list[str] | None, typer.Option(metavar="PYTHON", help="A condition on `nodes` for final states.")]
OnlyCalls = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Allow only this call of the application. Repeatable.")
]
Late = Annotated[bool, typer.Option("--late", help="Timers fire in order, and only if no other event is left.")]
OneState = Annotated[
    bool, typer.Option(help="Exhaustive search: merge states that differ only in names of symmetric nodes.")
]


@app.command()
def check(
    study: Annotated[str, typer.Argument(help="A study whose protocol consists of nodes (PerNode), or a file.")],
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="K=V", help="A parameter; repeatable.")] = None,
    property_: Properties = None,
    always: Always = None,
    at_end: AtEnd = None,
    bound: Annotated[
        list[str] | None, typer.Option(metavar="NAME=N", help="Nodes keep at most N things in NAME. Repeatable.")
    ] = None,
    broadcasts: Annotated[int | None, typer.Option(min=0, help="Number of broadcasts.")] = None,
    calls: Annotated[int | None, typer.Option(min=0, help="Maximum number of other calls of the application.")] = None,
    call: OnlyCalls = None,
    moves: Annotated[int | None, typer.Option(min=0, help="Maximum number of moves of hosts to other cells.")] = None,
    losses: Annotated[int | None, typer.Option(min=0, help="Maximum number of lost copies.")] = None,
    duplicates: Annotated[int | None, typer.Option(min=0, help="Maximum number of copies that arrive twice.")] = None,
    crashes: Annotated[int | None, typer.Option(min=0, help="Maximum number of nodes that fail.")] = None,
    recover: Annotated[bool | None, typer.Option(help="Let failed nodes recover.")] = None,
    forever: Annotated[bool | None, typer.Option(help="Let a copy arrive any number of times.")] = None,
    tries: Annotated[int, typer.Option(min=1, help="Number of random schedules.")] = 5000,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time for the search (for each mutant).")] = 60.0,
    every: Annotated[int, typer.Option(metavar="STATES", min=0, help="Search exhaustively, up to STATES states.")] = 0,
    late: Late = False,
    early: Annotated[int | None, typer.Option(min=0, help="With --late: number of timers that may fire early.")] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Exhaustive search without reduction: finds the shortest schedule.")
    ] = False,
    symmetry: OneState = True,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Mutate the protocol line by line, and list undetected mutants.")
    ] = False,
    seeded: Annotated[
        Path | None, typer.Option(metavar="FILE.py", help="A file of mistakes to plant: functions of a monkeypatch.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random schedules.")] = 1,
    out_dir: Annotated[Path, typer.Option("--out", help="Folder for counterexamples.")] = Path("results/check"),
) -> None:
    """Explore models of a protocol: any order of events, losses, crashes. Counterexamples are shrunk and drawn."""
    from causeway.cli.check import Search, check_study
    from causeway.cli.mutants import check_mutants, check_seeded
    from causeway.studies.contained import contained
    from causeway.studies.parameters import parse_settings
    from causeway.studies.trial import Trial, parse_bounds

    options = {
        "broadcasts": broadcasts, "calls": calls, "moves": moves, "losses": losses, "duplicates": duplicates,
        "crashes": crashes, "recover": recover, "forever": forever, "early": early,
    }  # fmt: skip
    bounds = {name: value for name, value in options.items() if value is not None}
    properties = tuple(property_ or ())
    trial = Trial(
        study, parse_settings(set_ or []), properties, bounds, tuple(always or ()), tuple(at_end or ()),
        parse_bounds(bound or []), "late" if late else "", tuple(call or ()), bool(every),
    )  # fmt: skip
    if not every and (whole or not symmetry):
        raise UserError("--whole and --no-symmetry need an exhaustive search; add --every STATES, or omit them")
    with contained(study):
        trial.check_effect()
        if mutants:
            broken = check_mutants(trial, tries, seconds, seed, out)
        elif seeded is not None:
            broken = check_seeded(trial, seeded, tries, seconds, seed, out, every)
        else:
            broken = check_study(trial, Search(tries, seconds, every, whole, seed, symmetry), out_dir, out)
    raise typer.Exit(1 if broken else 0)


@app.command()
def explain(
    run: Annotated[str, typer.Argument(help="A run's id, a recording, or a result folder (its first wrong run).")],
    out_dir: OutDir = Path("results"),
    study: Annotated[
        str | None, typer.Option(metavar="FILE.py", help="The file of the run's study, if it is your own.")
    ] = None,
    violations: Annotated[int, typer.Option(min=1, max=100, help="Number of violations to explain.")] = 3,
    pages: Annotated[Path, typer.Option(help="Folder for diagrams.")] = Path("results/explained"),
) -> None:
    """Explain a run's first violations as text, as a space-time diagram, and as a log for ShiViz."""
    from causeway.cli import explain

    raise typer.Exit(1 if explain.explain(run, out_dir, study, violations, pages, out) else 0)


@app.command("build")
def build_(
    engine: Annotated[
        list[str] | None, typer.Argument(help="ns3, omnet or kernels. Default: all that can be compiled here.")
    ] = None,
    omnetpp: Omnetpp = None,
    inet: Inet = None,
) -> None:
    """Compile the adapters and the kernels of all studies into the cache folder (CAUSEWAY_CACHE).

    `run` compiles what it needs at its first use.
    """
    from causeway.cli.build import build_adapters

    build_adapters(engine or [], out)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A recording (see `run --record`), or a counterexample (.json).")],
    study: Annotated[
        str | None, typer.Option(metavar="FILE.py", help="The file of the recorded study, if it is your own.")
    ] = None,
    by_hand: Annotated[
        bool,
        typer.Option(
            "--pdb",
            help="Debug: a counterexample event by event, also backwards; a recording at --at (and --node).",
        ),
    ] = False,
    always: Always = None,
    at_end: AtEnd = None,
    at: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0, help="With --pdb: stop at the first event from this time on."),
    ] = None,
    node: Annotated[int | None, typer.Option(min=0, help="With --at: stop at the first event of this node.")] = None,
) -> None:
    """Feed recorded frames to the protocol again, and report the first frame where it answers differently.

    A counterexample of `check` is executed again.
    """
    from causeway.cli.replay import replay_example, replay_file

    if file.suffix == ".json":
        if at is not None or node is not None:
            raise UserError("--at and --node need a recording; a counterexample is debugged event by event (--pdb)")
        differs = replay_example(file, out, study, by_hand, always or [], at_end or [])
        raise typer.Exit(1 if differs else 0)
    if always or at_end:
        raise UserError("--always and --at-end need a counterexample of `causeway check` (a .json file)")
    if by_hand != (at is not None) or (node is not None and at is None):
        raise UserError(
            "--pdb needs the time at which to stop in a recording: --pdb --at SECONDS, and --node N for one node"
        )
    replay_file(file, out, study, None if at is None else (round(at * 10**12), -1 if node is None else node))


@app.command()
def report(
    directory: Folder,
    spark: Annotated[
        str | None, typer.Option(metavar="MASTER", help="The Spark master for the reductions. Default: local[*].")
    ] = None,
    kinds: Annotated[
        list[Path] | None, typer.Option(metavar="FILE.py", help="A file with your own plots or kinds of plots.")
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FORMAT",
            help="Also write files for a paper into report/export: svg, pdf, pgf (figures) or tex (tables).",
        ),
    ] = None,
    study: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE.py", help="The file of your own study, to draw examples of its violations."),
    ] = None,
    again: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0, help="Time limit for repeating a wrong run to draw its violations (0: draw none)."
        ),
    ] = 20.0,
) -> None:
    """Write DIR/report/index.html and comparison.csv from a result folder."""
    from causeway.cli.report import write_report

    write_report(directory, spark, out, kinds or [], export or [], study or [], again)


for command in (tables, convert, compact, diff):
    app.command()(command)


def main() -> None:
    """Run the command line. Every error that a user can correct is reported in one line."""
    try:
        signal.signal(signal.SIGTERM, _terminate)
        if has_other_distribution():
            print(f"causeway: {other_distribution()}", file=sys.stderr)
        app()
    except UserError as error:
        _report_error(str(error), 2)
    except RunError as error:
        _report_error(str(error), 1)
    except (Interrupted, KeyboardInterrupt):
        how, status = ("terminated", TERMINATED) if _terminated else ("interrupted", 130)
        _report_error(f"{how}; finished runs are kept, and the same command continues from there", status)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        advice = "; free some space and repeat the command: finished runs are kept" if error.errno in FULL else ""
        _report_error(f"{error.strerror or error}{where}{advice}", 1)
    except Exception as error:
        if reported := describe_user_error(error):  # a mistake in a user's own study
            _report_error(reported, 1)
        raise


_terminated: list[int] = []


def _terminate(number: int, _: object) -> None:
    """End the command on SIGTERM as on an interrupt: end workers and simulators, and commit finished runs."""
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, None):
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
    _terminated.append(number)
    signal.raise_signal(signal.SIGINT)


def _report_error(text: str, status: int) -> None:
    print(f"causeway: {printable(text)}", file=sys.stderr)
    sys.exit(status)


def print_json(value: object) -> None:
    """Print the single JSON object of --json."""
    text = json.dumps(value, allow_nan=False, default=str)
    with real_stdout():
        print(text, flush=True)


if __name__ == "__main__":
    main()
