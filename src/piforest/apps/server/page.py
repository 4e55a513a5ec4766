"""The page about the API: rendered here, without scripts, so that it works offline."""

from __future__ import annotations

import base64
import hashlib
import html
from typing import Any

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c2126; background: #fff; }
@media (prefers-color-scheme: dark) { body { color: #e8eaed; background: #15181b; } }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8884; border-radius: .4rem; }
dt { font-weight: 600; } dd { margin: 0 0 .5rem; }
"""
_EXAMPLE = """curl -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' \\
  -d '{rows}' {address}/score"""


def api_page(schema: dict[str, Any], model: dict[str, Any]) -> tuple[str, str]:
    """The page, and the policy that lets it load nothing but its own style."""
    escape = html.escape
    columns = model["columns"]
    d = columns if isinstance(columns, int) else len(columns)
    example = _EXAMPLE.format(
        rows='{"rows": [[' + ", ".join(["0.5"] * d) + "]]}", address="http://127.0.0.1:8000"
    )
    about = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in model.items()
    )
    calls = "".join(
        f"<li><code>{method.upper()} {escape(path)}</code>: {escape(call.get('summary', ''))}.</li>"
        for path, methods in schema["paths"].items()
        for method, call in methods.items()
    )
    text = (
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>piforest: scoring</title>"
        f'<meta name=viewport content="width=device-width, initial-scale=1"><style>{_STYLE}</style>'
        f"</head><body><main><h1>Scoring with {escape(str(model['model']))}</h1><dl>{about}</dl>"
        f"<h2>Calls</h2><ul>{calls}</ul><p>Rows and scores are JSON or Arrow\u2019s "
        "stream format (<code>application/vnd.apache.arrow.stream</code>), by Content-Type and "
        "Accept. <code>/openapi.json</code> describes the calls for tools.</p>"
        f"<h2>Example</h2><pre><code>{escape(example)}</code></pre></main></body></html>"
    )
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; frame-ancestors 'none'"
    return text, policy
