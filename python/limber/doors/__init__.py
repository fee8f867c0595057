"""Doors to other programs' files: robots in (MJCF, URDF, SDF), scenes out (MJCF, URDF). docs/import.md."""

from __future__ import annotations

from ._draft import ImportFault, Note
from ._export import Exported, export_scene
from ._import import Imported, import_model

__all__ = ["Exported", "ImportFault", "Imported", "Note", "export_scene", "import_model"]
