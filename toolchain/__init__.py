"""Find, compile and load adapters of simulators, kernels of numba and files of users.

Start here:

- `installation.py`: the sources of this installation, its version and commit, and the user's cache folder
- `omnet_find.py` and `ns3_find.py`: where simulators are installed, and why one cannot be used; `adapters.py` compiles
  the C++ adapters of simulators
- `jit.py`: numba's decorators for all of Causeway; `compiled_code.py` manages the folders of compiled functions, and
  `first_compile.py` reports the first function that has to be compiled
- `user_file.py` imports a user's Python file, and `siblings.py` the files beside it; `sources.py` finds the modules
  that it imports, and `opened_files.py` the files that it opens

Nothing here depends on networks, protocols or results.
"""
