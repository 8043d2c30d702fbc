"""Run a program in simulation, twice for comparison, or as real processes.

python -m causeway.aio FILE                     simulated, as `causeway run FILE` does, with results printed
python -m causeway.aio FILE --twice             simulated twice: the same, or the first difference
python -m causeway.aio FILE --real 5            as 5 real processes over loopback
"""

from __future__ import annotations

import argparse
import sys

from causeway.errors import RunError, UserError


def main() -> int:
    """Run the command line and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m causeway.aio", description=__doc__.splitlines()[0])
    parser.add_argument("file", help="a Python file with a ProgramStudy")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="K=V", help="a parameter")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", help="default: the first engine that is installed")
    parser.add_argument("--twice", action="store_true", help="run it twice and name the first difference")
    parser.add_argument("--real", type=int, metavar="N", help="run it as N real processes over loopback")
    parser.add_argument("--seconds", type=float, default=60.0, help="--real: stop the processes after this time")
    args = parser.parse_args()
    try:
        return _real(args) if args.real is not None else _simulated(args)
    except UserError as error:
        print(f"causeway: {error}", file=sys.stderr)
        return 2
    except RunError as error:
        print(f"causeway: {error}", file=sys.stderr)
        return 1


def _simulated(args: argparse.Namespace) -> int:
    from causeway.studies import registry
    from causeway.studies.parameters import make_params, parse_settings
    from causeway.studies.runner import Job, choose_engine, run_job

    study = registry.get(args.file)
    parameters = parse_settings(args.settings)
    network = study.network(make_params(study, parameters), args.seed)
    engine = choose_engine(study, args.engine, network)
    if args.twice:
        from causeway.studies.twice import twice

        comparison = twice(Job(args.file, parameters, args.seed, engine))
        print(comparison)
        return 0 if comparison.same else 1
    result = run_job(Job(args.file, parameters, args.seed, engine))
    print(f"engine {engine}, {result.outcome.finish.reason} at {result.outcome.finish.end_ps / 1e12:g} s")
    for name, value in sorted(result.scalars.items()):
        print(f"  {name} = {value:g}")
    print(f"digest {result.outcome.digest}")
    return 0


def _real(args: argparse.Namespace) -> int:
    from causeway.aio.real import run_processes
    from causeway.studies.parameters import parse_settings

    return run_processes(args.file, args.real, parse_settings(args.settings), args.seconds)


if __name__ == "__main__":
    from causeway.pycontrol.hash_seed import fix_hash_seed

    fix_hash_seed()
    sys.exit(main())
