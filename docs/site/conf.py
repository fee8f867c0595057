"""Pages of the Python package (scripts/docs.sh)."""

project = "limber"
author = "the limber authors"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "limber from Python"
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "description"
autodoc_member_order = "bysource"
# python.md links to pages of the repository that are not here.
suppress_warnings = ["myst.xref_missing", "mystnb.unknown_mime_type", "ref.python"]
exclude_patterns = ["_build"]
