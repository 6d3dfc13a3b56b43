"""`espbench serve` of the wheel, which has the page."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rooms import ROOT

import espbench

PAGE = Path(espbench.__file__).with_name("page")


@pytest.mark.skipif(os.environ.get("CI") != "true" and not PAGE.is_dir(), reason="no page was built (ci/page.sh)")
def test_the_command_of_the_wheel_finds_the_page_in_it(tmp_path):
    subprocess.run([sys.executable, ROOT / "ci/page_served.py", sys.executable, "-m", "espbench"], check=True, cwd=tmp_path)
