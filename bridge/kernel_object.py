"""Compiled kernels as plain machine code, called without loading numba: for commands whose start is waited for.

A kernel is a function of numba like any other. The first time on a machine numba compiles it; its machine code is kept
in the cache folder, and from then on LLVM's loader alone brings it in (a fortieth of a second instead of half of one).
Where that cannot be, numba's own function is called: the answer is the same.

A signature says what is given and what comes back: `u1[] i8 f8[,] -> i8 i8` is an array of bytes, a number and an array
of two axes, and two numbers come back. `u8[:]` is an array whose elements need not lie side by side; what stands in
brackets is one argument, a tuple.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import sys
import uuid
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from causeway.bridge.kernel_cache import kernels_dir, state_of

_VERSION = "1"
_CODES = {"u1": "uint8", "u8": "uint64", "i1": "int8", "i4": "int32", "i8": "int64", "f8": "float64"}
_KNOWN = ("memset", "memcpy", "memmove", "NRT_MemInfo_call_dtor", "llvm.")
"""What machine code may call. The destructor never is: no argument of ours has an owner."""
_ENGINES: list[Any] = []
"""Whoever drops one of them drops its code."""


class Kernel:
    """One function of a module that numba compiles. It is looked for when it is first called."""

    tell: ClassVar[Callable[[], None]] = staticmethod(lambda: None)
    """Called before something is compiled, which takes seconds."""

    def __init__(self, module: str, name: str, signature: str) -> None:
        self._module, self._name = module, name
        given, _, back = signature.partition("->")
        self._given, self._back = given.strip(), len(back.split())
        self._call: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._call is None:
            self._call = self._found()
        return self._call(*arguments)

    def _found(self) -> Callable[..., Any]:
        plain = not any(os.environ.get(name) == "1" for name in ("NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT"))
        if plain and sys.byteorder == "little" and ctypes.sizeof(ctypes.c_void_p) == 8:
            try:
                return self._from_address(_address(self._machine_code()))
            except (OSError, RuntimeError, ImportError, ValueError):  # no cache folder, another LLVM: numba can do it
                pass
        return getattr(import_module(self._module), self._name)

    # --- finding the machine code ---

    @property
    def is_ready(self) -> bool:
        """Whether it need not be compiled."""
        return self._path().exists()

    def prepare(self) -> None:
        """Compiles it now if it is not there."""
        self._machine_code()

    def _path(self) -> Path:
        spec = find_spec(self._module)
        assert spec is not None and spec.origin is not None
        about = (_VERSION, state_of(Path(spec.origin)), _machine(), self._name, self._given, str(self._back))
        digest = hashlib.blake2b("\0".join(about).encode(), digest_size=8).hexdigest()
        return kernels_dir() / "objects" / f"{self._name}-{digest}.o"

    def _machine_code(self) -> Path:
        """The file of it, compiled now if it is not there."""
        path = self._path()
        if not path.exists():
            Kernel.tell()
            path.parent.mkdir(parents=True, exist_ok=True)
            half = path.with_name(f".{uuid.uuid4().hex}.part")
            half.write_bytes(self._compiled())
            os.replace(half, path)
        return path

    def _compiled(self) -> bytes:
        import numba
        from llvmlite import binding

        function = getattr(import_module(self._module), self._name).py_func
        options: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
        made: Any = numba.njit(**options)(function)
        made.compile(tuple(map(_numba_type, _parted(self._given))))
        (overload,) = made.overloads.values()
        back = overload.fndesc.restype
        if back != (_numba_type(f"({'i8 ' * self._back})") if self._back else numba.types.none):
            raise ValueError(f"{self._name} gives {back}")
        code = binding.parse_assembly(overload.library.get_llvm_str())
        for one in code.functions:
            if one.is_declaration and not one.name.startswith(_KNOWN):
                raise ValueError(f"{self._name} calls {one.name}")
            if one.name == overload.fndesc.mangled_name:
                one.name = "kernel"
            elif not one.is_declaration:
                one.linkage = "internal"
        return _target(binding).emit_object(code)

    # --- calling it ---

    def _from_address(self, address: int) -> Callable[..., Any]:
        places = _flat_types(self._given)
        function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *places)(address)
        room_type, back = ctypes.c_int64 * max(1, self._back), self._back
        flatten = _flattener(f"({self._given})")

        def call(*arguments: Any) -> Any:
            flat: list[Any] = []
            flatten(flat, arguments)
            room, raised = room_type(), ctypes.c_void_p()
            if function(ctypes.addressof(room), ctypes.addressof(raised), *flat):
                raise RuntimeError(f"the kernel {self._name} failed")
            return tuple(room) if back else None

        return call


def _parted(signature: str) -> list[str]:
    """Its arguments; one in brackets stays together."""
    return re.findall(r"\([^)]*\)|\S+", signature)


def _numba_type(one: str) -> Any:
    import numba

    types: Any = numba.types
    if one[0] == "(":
        return types.Tuple(tuple(map(_numba_type, one[1:-1].split())))
    kind = getattr(types, _CODES[one[:2]])
    return types.Array(kind, 2 if "," in one else 1, "A" if ":" in one else "C") if "[" in one else kind


def _flat_types(signature: str) -> list[Any]:
    """The C types that numba passes: an array as owner, parent, size, size of an element, address, shape, strides."""
    places: list[Any] = []
    for one in re.findall(r"[^\s()]+", signature):
        if "[" in one:
            axes = 2 if "," in one else 1
            places += [ctypes.c_void_p] * 2 + [ctypes.c_int64] * 2 + [ctypes.c_void_p] + [ctypes.c_int64] * (2 * axes)
        else:
            places.append(ctypes.c_double if one[0] == "f" else ctypes.c_int64)
    return places


def _flattener(one: str) -> Callable[[list[Any], Any], None]:
    """What puts such an argument into a list of those places."""
    if one[0] == "(":
        inside = [_flattener(part) for part in _parted(one[1:-1])]

        def of_tuple(flat: list[Any], given: tuple[Any, ...]) -> None:
            for take, value in zip(inside, given, strict=True):
                take(flat, value)

        return of_tuple
    if "[" not in one:
        return list.append

    def of_array(flat: list[Any], array: Any) -> None:
        assert array.dtype.str[1:] == one[:2], f"{one} instead of {array.dtype}"
        address = array.__array_interface__["data"][0]
        flat += (None, None, array.size, array.itemsize, address, *array.shape, *array.strides)

    return of_array


def _target(binding: Any) -> Any:
    """LLVM's view of this machine."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features().flatten()
    made = binding.Target.from_default_triple()
    return made.create_target_machine(cpu=binding.get_host_cpu_name(), features=features, opt=3, reloc="pic")


@cache
def _machine() -> str:
    """What machine code is for: this processor."""
    from llvmlite import binding

    return f"{binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


def _address(code: Path) -> int:
    from llvmlite import binding

    binding.add_symbol("NRT_MemInfo_call_dtor", ctypes.cast(_NO_OWNER, ctypes.c_void_p).value)
    empty = binding.parse_assembly("")
    engine = binding.create_mcjit_compiler(empty, _target(binding))
    engine.add_object_file(binding.ObjectFileRef.from_data(code.read_bytes()))
    engine.finalize_object()
    _ENGINES.append(engine)
    if not (address := engine.get_function_address("kernel")):
        raise OSError(f"{code} holds no kernel")
    return int(address)


def _never(owner: int | None) -> None:
    raise AssertionError("an argument of a kernel has no owner that numba knows")


_NO_OWNER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_never)
