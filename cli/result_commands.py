"""The commands that read and write result folders: `tables`, `convert`, `compact`, `diff`.

`main.py` adds them to the command line. Each one only parses, calls and prints; other modules do the work.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from causeway.cli.console import console
from causeway.cli.folders import Folder, OutDir, place
from causeway.errors import UserError

out = console()
err = console(stderr=True)


def tables(
    study: Annotated[str, typer.Argument(help="A study. `causeway studies` lists all.")],
    directories: Annotated[list[Path] | None, typer.Argument(help="Result folders with its runs.")] = None,
    page: Annotated[Path | None, typer.Option(help="The page. Default: the study's page in docs/papers.")] = None,
    add: Annotated[bool, typer.Option("--add", help="Keep stored runs that are in none of the folders.")] = False,
    by_version: Annotated[
        bool, typer.Option("--by-version", help="Distinguish runs on several versions of an engine.")
    ] = False,
) -> None:
    """Write the tables of a paper's page from result folders, or from the numbers stored beside the page."""
    from causeway.cli.tables import write_tables

    write_tables(study, directories or [], page or Path("docs/papers") / f"{study}.md", add, by_version, out)


def convert(
    paths: Annotated[list[Path], typer.Argument(help="OMNeT++ result files (.sca, .vec) or folders of them.")],
    out_dir: OutDir = Path("results"),
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Report bad lines and convert the rest.")] = False,
    spark: Annotated[str | None, typer.Option(metavar="MASTER", help="Spark master, for many or huge files.")] = None,
    clash: Annotated[
        str, typer.Option(help="Files in two folders with a run of the same name: refuse, keep apart, or merge.")
    ] = "refuse",
) -> None:
    """Convert OMNeT++ result files of any project into the parquet tables."""
    from causeway.cli.convert import convert_files

    raise typer.Exit(convert_files(paths, out_dir, keep_going, spark, clash, out, err))


def compact(directory: Folder) -> None:
    """Merge the files of a result folder into a few, so that 100,000 runs are read in a second."""
    from causeway.cli.compact import compact_folder

    compact_folder(directory, out)


def diff(
    a: Annotated[Path, typer.Argument(help="A result folder, or a baseline.", callback=place)],
    b: Annotated[Path | None, typer.Argument(help="Another one.", callback=place)] = None,
    threshold: Annotated[float, typer.Option(min=0, help="Largest relative difference that is allowed.")] = 0.0,
    filter_text: Annotated[
        str,
        typer.Option(
            "--filter", metavar="EXPR", help="Compare only these, e.g. 'name =~ delay* AND NOT module =~ run'."
        ),
    ] = "",
    vectors: Annotated[bool, typer.Option("--vectors", help="Compare recorded series, too.")] = False,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write A to this file as a baseline instead.")
    ] = None,
) -> None:
    """Compare two result folders. The exit status is 1 if they differ by more than the threshold."""
    from causeway.cli.diff import diff_folders, save_baseline

    if save is not None and b is None:
        save_baseline(a, save, vectors, out)
    elif b is not None and save is None:
        raise typer.Exit(diff_folders(a, b, threshold, filter_text, vectors, out))
    else:
        raise UserError("causeway diff needs two folders, or one folder and --save FILE.csv")
