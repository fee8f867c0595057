"""Where the extension finds nanobind for the interpreter at hand (nanobind's split mode).

Beside this file there is a compiled backend for each interpreter that was known when the wheel was made; a later one
is served by the package nanobind-backend.
"""


def fill(abi_major: int, platform_tag: str, table: object) -> object:
    """Fill the extension's table of functions; called by the extension itself."""
    try:
        if abi_major != 1:
            raise ModuleNotFoundError(f"backend of version {abi_major}")
        from . import _nb_backend_v1 as backend
    except ModuleNotFoundError:
        try:
            import nanobind_backend as backend
        except ModuleNotFoundError:
            raise ImportError(
                "this wheel of limber-sim knows no such Python: install the package nanobind-backend beside it"
            ) from None
    return backend.fill(abi_major, platform_tag, table)
