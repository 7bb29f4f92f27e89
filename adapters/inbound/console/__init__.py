"""The console: pages at `/console` for people who set up, operate and answer. An inbound adapter like REST.

How a page is made:

- A module in `pages/` has a list `ROUTES` of Starlette routes with full paths; `app.py` lists the modules.
- A handler is `async def name(request: ConsoleRequest) -> Response`. `request.caller` and `request.services` are the
  signed-in caller and the use cases; `path_id` of REST reads ids in paths; `request.posted()` reads a form whose CSRF
  token was checked. It raises the refusals of the use cases: `errors.py` makes a page of them, or a
  notice where htmx asked.
- `render(request, "name.html", {...})` answers with a template that extends `page.html` (blocks `title`, `actions`,
  `content`); `render_part` answers htmx with a template of its own, or a block of the page. Macros are at hand in
  each template: `parts` (icons, badges, notices, empty states, pagers) of `parts.html`, `forms` (fields with labels,
  help and faults) of `forms.html`; filters (`moment`, `size`, `duration`, `segment`) are in `filters.py`.
- A form is `<form method="post">` with `{{ forms.csrf() }}` as its first field. What was wrong is shown next to the
  field: `faults_of(refusal)`. After success `redirect(path, "Saved.")` shows that notice on the next page.
- Live parts: give `live_kinds` to `render`; the script opens `/console/live` and fires `live:<event kind>` on the
  body, and `live:reset` when events may have been missed. A part fetches itself anew with
  `hx-get="..." hx-trigger="live:message.received from:body throttle:1s, live:reset from:body"`, or at once with
  `live_trigger` of `navigation.py`. A page about one conversation names it in the block
  `live`, and gets its events only.
- Styles: `static/console.css`, design tokens at its beginning. Scripts: `static/console.js`. No inline script, style
  or event handler: the Content-Security-Policy refuses them.
- `tests/features/console/shown/<area>.py` gives the paths of pages with something on them: axe, both widths, light
  and dark, and the size are checked for all of them in `test_pages.py`. With PICTURES=<folder> it keeps screenshots.
"""
