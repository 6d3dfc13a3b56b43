"""What pip, PyPI and a reader of licences see of the package."""

from importlib.metadata import distribution


def test_the_texts_of_all_licences_are_in_the_wheel():
    package = distribution("espbench")
    texts = {it.name: it.read_text() for it in package.files if "licenses" in it.parts}
    assert {"LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt"} <= texts.keys()
    for crate in ["arrow-array", "pyo3", "rusqlite", "smoltcp"]:
        assert f"\n{crate} " in texts["THIRD-PARTY-LICENSES.txt"], crate
    assert "Permission is hereby granted" in texts["THIRD-PARTY-LICENSES.txt"]


def test_the_metadata_is_what_pypi_shows():
    told = distribution("espbench").metadata
    assert told["License-Expression"] == "MIT OR Apache-2.0"
    assert told["Author"] == "The espbench developers"
    urls = dict(it.split(", ", 1) for it in told.get_all("Project-URL"))
    assert urls.keys() == {"Homepage", "Documentation", "Repository", "Changelog", "Issues"}
    assert all(it.startswith(urls["Homepage"]) for it in urls.values())
    classifiers = told.get_all("Classifier")
    assert {"Development Status :: 4 - Beta", "Programming Language :: Python :: Implementation :: CPython"} <= set(classifiers)
    assert "Programming Language :: Python :: 3.10" in classifiers and told["Requires-Python"] == ">=3.10"
