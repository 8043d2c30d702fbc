"""The description of Causeway for opp_env: a file for the folder `opp_env/database` of that program.

Its name is added to `python_files` in `opp_env/opp_env.py`, the list of the files that opp_env reads.

opp_env installs the OMNeT++ and INET that are named here, and sets OMNETPP_ROOT and INET_ROOT in its shell, where
Causeway looks first. Before the file is submitted, REPOSITORY must be set to the public repository.
"""

REPOSITORY = "https://example.org/causeway.git"
PAIRS = {"6.2.*": "4.6.*", "6.1.*": "4.5.*"}
"""Maps OMNeT++ to INET: the pairs on which the project's tests were run."""


def get_project_descriptions() -> list[dict[str, object]]:
    """Return the descriptions of all versions, as opp_env reads them."""
    return [
        {
            "name": "causeway",
            "version": "git",
            "description": "Distributed protocols written in Python on packet-level network simulators",
            "required_projects": {"omnetpp": list(PAIRS), "inet": list(PAIRS.values())},
            "nix_packages": ["zeromq", "protobuf", "pkg-config", "python311"],
            "git_url": REPOSITORY,
            "setenv_commands": ["export PATH=$CAUSEWAY_ROOT/.venv/bin:$PATH"],
            "build_commands": [
                "python3.11 -m venv .venv",
                ".venv/bin/python -m pip install -r requirements.txt",
                ".venv/bin/python -m pip install --no-deps --no-build-isolation -e .",
                ".venv/bin/causeway build omnet",
            ],
            "clean_commands": ["make clean"],
            "smoke_test_commands": ["causeway doctor", "causeway run mobile20 --engine omnet --set duration_s=1"],
        }
    ]
