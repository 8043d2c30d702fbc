"""Finding, compiling and loading: adapters of simulators, kernels of numba, files of users.

Start here:

- `installation.py`: the sources of this installation, its version and commit, the user's cache folder
- `omnet_find.py` and `ns3_find.py`: where simulators are installed, and why one cannot be used; `adapters.py` compiles
  the C++ adapters of simulators
- `jit.py`: numba's decorators, as all of Causeway uses them; `compiled_code.py` has the folders of what they compile,
  `first_compile.py` reports the first function that has to be compiled
- `user_file.py` imports a user's Python file; `siblings.py` the files beside it; `sources.py` finds the modules that it
  imports, `opened_files.py` the files that it opens

Nothing here depends on networks, protocols or results.
"""
