"""Projects of models, such as Simu5G, are found beside the INET that they were built with."""

from __future__ import annotations

from pathlib import Path

import pytest

from causeway.bridge.engines.omnet_inet import launch_own
from causeway.errors import UserError
from causeway.network.networks import AbstractNetwork
from causeway.studies.external_project import ExternalProject
from causeway.toolchain.model_projects import find_models
from causeway.toolchain.omnet_find import find_omnetpp
from tests.helpers.made_up_installations import install, install_inet, library

pytestmark = pytest.mark.usefixtures("nothing_installed")


@pytest.fixture
def inet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OMNETPP_ROOT", str(install(tmp_path / "home" / "omnetpp-6.1", "6.1")))
    monkeypatch.delenv("SIMU5G_ROOT", raising=False)
    return install_inet(tmp_path / "home" / "inet4.5")


def simu5g(root: Path, inet: Path) -> Path:
    (root / "src").mkdir(parents=True)
    (root / "Version").write_text("1.5.0\n")
    library(root / "src" / "libsimu5g.so", f"-Wl,-rpath,{inet / 'src'}")
    return root


def refusal() -> str:
    with pytest.raises(UserError) as refused:
        find_models(["simu5g"])
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_the_newest_simu5g_beside_inet_that_was_built_with_it_is_used(inet: Path) -> None:
    sims = inet.parent
    simu5g(sims / "Simu5G-1.4", inet)
    fitting = simu5g(sims / "simu5g-1.5", inet)
    simu5g(sims / "simu5g-1.8", install_inet(sims / "other" / "inet4.6", "4.6.0"))
    folders, libraries = find_models(["simu5g"])
    assert folders == (str(fitting / "src"), str(fitting / "simulations"))
    assert libraries == (str(fitting / "src" / "simu5g"),), "as opp_run -l takes it"


def test_a_simu5g_that_does_not_fit_is_refused_with_the_pair_to_choose(
    inet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"no Simu5G found: build one beside INET in {inet}, or set SIMU5G_ROOT=..." == refusal()
    root = simu5g(tmp_path / "mine", inet)
    monkeypatch.setenv("SIMU5G_ROOT", str(root))
    assert find_models(["simu5g"])[1] == (str(root / "src" / "simu5g"),)
    newer = install(inet.parent / "omnetpp-6.2", "6.2")
    monkeypatch.setenv("OMNETPP_ROOT", str(newer))
    library(inet / "src" / "libINET.so", f"-Wl,-rpath,{inet.parent / 'omnetpp-6.1' / 'lib'}")
    other = install_inet(inet.parent / "inet4.6", "4.6.0")
    said = refusal()
    assert said.startswith(f"Simu5G 1.5.0 in {root} was not built with the INET in {other}: choose --omnetpp ")
    assert f"--omnetpp {inet.parent / 'omnetpp-6.1'} --inet {inet}, or set SIMU5G_ROOT" in said
    (root / "src" / "libsimu5g.so").write_bytes(b"")
    assert "has no complete src/libsimu5g.so: build it with make makefiles && make MODE=release" in refusal()


def test_a_simulation_loads_the_models_of_the_network_and_of_the_command(inet: Path, tmp_path: Path) -> None:
    root = simu5g(inet.parent / "simu5g", inet)
    (tmp_path / "mine").mkdir()
    (inet / "examples").mkdir()
    ini = tmp_path / "mine" / "my.ini"
    external = ExternalProject(str(ini), "C", "**.ue[*]", models=("simu5g",))
    network = external.instead_of(AbstractNetwork(2))
    assert network.models == ("simu5g",) and external.reported["with"] == "simu5g"
    found = find_omnetpp()
    assert found is not None
    launch = launch_own(network, found)
    assert launch.libraries[-1] == str(root / "src" / "simu5g")
    assert launch.ned_path == (inet / "src", inet / "examples", root / "src", root / "simulations", ini.parent)


def test_an_unknown_project_is_refused_with_the_known_one(inet: Path) -> None:
    with pytest.raises(UserError, match=r"unknown project of models 'simu6g'; did you mean 'simu5g'\?"):
        find_models(["simu6g"])
