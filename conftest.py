"""For all tests: clients of SDKs, which talk to local servers without TLS, need not read the bundle of certificates."""

from __future__ import annotations

import os
import tempfile

os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = tempfile.mkdtemp(prefix="no-certificates-")
