"""HTML as a tree of elements: text is escaped where it is put in, so no page can forget it."""

from __future__ import annotations

from html import escape

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem 1.5rem 4rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 1px solid #8884; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { background: #8881; border-radius: 4px; overflow-x: auto; padding: .6rem .8rem; }
details { border: 1px solid #8884; border-radius: 4px; margin: .5rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; } summary code { font-weight: 600; }
table { border-collapse: collapse; }
td, th { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
:root { color-scheme: light dark; }
"""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "Cache-Control": "no-cache",
}
"""A page loads nothing and runs no script."""


class Markup(str):
    """Text that is HTML already."""


def element(name: str, *content: object, **attributes: str) -> Markup:
    """An element with content: markup, text to be escaped, or lists of these. `class_` is `class`."""
    written = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{written}>{_inside(content)}</{name}>")


def page(title: str, *content: object) -> bytes:
    """A whole page."""
    head = element("head", Markup('<meta charset="utf-8">'), _VIEWPORT, element("title", title), _STYLE)
    return f"<!doctype html>{element('html', head, element('body', *content), lang='en')}".encode()


def _inside(content: object) -> str:
    if isinstance(content, Markup):
        return content
    if isinstance(content, list | tuple):
        return "".join(map(_inside, content))
    return "" if content is None else escape(str(content))


_VIEWPORT = Markup('<meta name="viewport" content="width=device-width">')
_STYLE = Markup(f"<style>{STYLE}</style>")
