#!/usr/bin/env python3
"""Fetches the page that a command serves, with its scripts: `ci/page_served.py COMMAND…` fails where there is none."""

import os
import re
import subprocess
import sys
import urllib.request

environment = {name: it for name, it in os.environ.items() if name != "ESPBENCH_PAGE"}
with subprocess.Popen([*sys.argv[1:], "serve", "--port", "0"], stdout=subprocess.PIPE, text=True, env=environment) as server:
    try:
        url = server.stdout.readline().strip()
        page = urllib.request.urlopen(url, timeout=60).read().decode()
        scripts = re.findall(r'<script[^>]* src="\./([^"]+)"', page)
        assert scripts, page
        for script in scripts:
            assert urllib.request.urlopen(url + script, timeout=60).read(), script
    finally:
        server.terminate()
