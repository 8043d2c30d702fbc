"""Hexagonal layouts: rings of stations, and a tree of wires over them."""

from __future__ import annotations

from math import cos, dist, pi, sin

import pytest

from causeway.errors import UserError
from causeway.network.hexagons import hexagonal_places, tree_of
from causeway.studies import registry
from causeway.studies.mobile20.study import CELLS, Mobile20Params
from causeway.studies.parameters import make_params

SPACING_MM = 208_000


@pytest.mark.parametrize(("cells", "neighbours"), [(1, 0), (7, 12), (19, 42), (37, 90), (61, 156), (127, 342)])
def test_full_rings_are_a_hexagonal_grid(cells: int, neighbours: int) -> None:
    """A hexagon of r rings has 9 r^2 + 3 r pairs of neighbours, and nobody is nearer than they are."""
    places = hexagonal_places(cells, SPACING_MM)
    apart = [dist(a, b) for i, a in enumerate(places) for b in places[:i]]
    assert len(set(places)) == cells
    assert sum(d < SPACING_MM * 1.01 for d in apart) == neighbours
    assert not apart or min(apart) > SPACING_MM - 2


def test_seven_stations_are_where_the_paper_has_them() -> None:
    x, y = 400_000, 400_000
    around = [(x + round(SPACING_MM * cos(k * pi / 3)), y + round(SPACING_MM * sin(k * pi / 3))) for k in range(6)]
    assert hexagonal_places(7, SPACING_MM) == ((x, y), *around)
    assert tree_of(hexagonal_places(7, SPACING_MM)) == tuple((0, outer) for outer in range(1, 7))


def test_more_cells_add_to_fewer() -> None:
    assert hexagonal_places(37, SPACING_MM)[:19] == hexagonal_places(19, SPACING_MM)


@pytest.mark.parametrize("cells", [*CELLS, 10, 23])
def test_the_tree_reaches_everyone_by_neighbours_ring_by_ring(cells: int) -> None:
    places = hexagonal_places(cells, SPACING_MM)
    depth = {0: 0}
    for a, b in tree_of(places):
        assert dist(places[a], places[b]) < SPACING_MM * 1.01, "a wire joins neighbours"
        assert b not in depth
        depth[b] = depth[a] + 1
    rings = [ring for ring in range(1, 8) for _ in range(6 * ring)]
    assert [depth[station] for station in range(cells)] == [0, *rings][:cells], "as deep as the ring it is in"


def test_the_study_has_ten_hosts_a_cell_and_neighbours_that_fit_the_wires() -> None:
    study = registry.get("mobile20")
    for cells in CELLS:
        params = make_params(study, {"cells": str(cells)})
        network = study.network(params, 1)
        assert (network.hosts, len(network.wires)) == (10 * cells, cells - 1)  # type: ignore[union-attr]
    assert Mobile20Params(cells=19, hosts=5).hosts == 5
    assert Mobile20Params().hosts == 70


def test_failures_need_the_station_whose_hosts_fail() -> None:
    with pytest.raises(UserError, match="cells must be larger than this number"):
        make_params(registry.get("mobile20"), {"experiment": "faults", "cells": 3})


def test_the_tree_of_the_authors_program_joins_seven_cells_only() -> None:
    with pytest.raises(UserError, match="tree=three connects 7 cells"):
        make_params(registry.get("mobile20"), {"tree": "three", "cells": 19})
