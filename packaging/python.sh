#!/usr/bin/env bash
# Puts into python/ what a wheel and the source distribution have beside the sources, and git does not know: the page, where it was built
# (ci/page.sh), and the licence texts of all that is linked in.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf python/espbench/page
[ ! -d target/share/espbench/page ] || cp -r target/share/espbench/page python/espbench/page
packaging/licenses.py --package espbench-python >python/THIRD-PARTY-LICENSES.txt
