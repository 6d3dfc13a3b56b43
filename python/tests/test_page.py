"""`espbench serve` of the wheel, which has the page."""

import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import espbench

PAGE = Path(espbench.__file__).with_name("page")


@pytest.mark.skipif(os.environ.get("CI") != "true" and not PAGE.is_dir(), reason="no page was built (ci/page.sh)")
def test_the_command_of_the_wheel_finds_the_page_in_it(tmp_path):
    environment = {name: it for name, it in os.environ.items() if name != "ESPBENCH_PAGE"}
    command = [sys.executable, "-m", "espbench", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment) as server:
        try:
            url = server.stdout.readline().strip()
            page = urllib.request.urlopen(url, timeout=60).read().decode()
            scripts = re.findall(r'<script[^>]* src="\./([^"]+)"', page)
            assert scripts, page
            for script in scripts:
                assert urllib.request.urlopen(url + script, timeout=60).read()
        finally:
            server.terminate()
