#!/usr/bin/env bash
# Builds the page and has headless Chromium play a visit through: the server goes away in the middle.
# Needs chromium and chromedriver. With a file name it leaves a picture of the page there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

./build.sh dev
# Both end with this script: the pipes to them close.
coproc SERVER { exec node serve.mjs; }
read -r -t 20 page <&"${SERVER[0]}"
timeout 120 node check.mjs "$page/?check" "${1:-}"
