/** The style sheets in the pages. */
import { createHash } from 'node:crypto'
import { rawHtml, type Html } from './html.ts'

/** The colours. The API reference has only these, and its own style sheet. */
const palette = `
:root {
  color-scheme: light dark;
  --ground: #f3f5f8; --card: #ffffff; --line: #d9dee6; --text: #16191d; --soft: #525c69; --accent: #1d4fd7; --note: #fff6dd; --note-line: #b7791f;
}
@media (prefers-color-scheme: dark) {
  :root { --ground: #0e1116; --card: #171b22; --line: #303844; --text: #e8ebf0; --soft: #a3adba; --accent: #93b4ff; --note: #2a2413; --note-line: #d9a441; }
}
`

const style = `${palette}* { box-sizing: border-box; }
body {
  margin: 0; padding: .75rem; min-height: 100vh; display: grid; place-items: center; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: anywhere;
}
main {
  width: 100%; max-width: 30rem; padding: 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
}
h1 { margin: 0 0 .5rem; font-size: 1.75rem; line-height: 1.2; letter-spacing: -.01em; }
h2 { margin: 1.5rem 0 .5rem; font-size: 1.0625rem; }
p { margin: 0 0 .75rem; }
bdi { font-weight: 600; }
.kind { margin-bottom: .25rem; color: var(--accent); font-weight: 600; font-size: .875rem; }
.from { overflow: clip; }
blockquote { margin: 0 0 .75rem; padding-left: .75rem; border-left: 3px solid var(--accent); overflow: clip; }
figure { margin: 1.25rem 0; }
.card { display: block; width: 100%; max-width: 20rem; margin: 1rem 0; border-radius: .75rem; border: 1px solid var(--line); }
.qr { display: block; width: 100%; max-width: 24rem; margin: 0 auto; border-radius: .5rem; border: 1px solid var(--line); }
figcaption, .soft { color: var(--soft); font-size: .875rem; }
figcaption { margin-top: .5rem; text-align: center; }
ol, ul { margin: 0 0 .75rem; padding-left: 1.375rem; }
a { color: var(--accent); }
code { font: .9em ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono", monospace; }
li { margin-bottom: .375rem; }
li::marker { color: var(--accent); font-weight: 600; }
.note { margin: 1.25rem 0; padding: .75rem 1rem; background: var(--note); border-left: 3px solid var(--note-line); border-radius: .375rem; overflow: clip; }
.note p:last-child { margin: 0; }
main > :last-child > :last-child { margin-bottom: 0; }
details { margin: 1.25rem 0; border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); }
details + details { margin-top: -1.25rem; border-top: 0; }
summary { padding: .75rem 0; cursor: pointer; font-weight: 600; color: var(--accent); }
summary:focus-visible, textarea:focus-visible, input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
textarea {
  display: block; width: 100%; margin: .25rem 0 1rem; padding: .75rem; resize: vertical; background: var(--ground); color: var(--text);
  border: 1px solid var(--soft); border-radius: .5rem; font: .8125rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono", monospace; word-break: break-all;
}
form label { display: block; font-weight: 600; }
input, button { padding: .625rem 1rem; font: inherit; color: var(--text); background: var(--ground); border: 1px solid var(--soft); border-radius: .5rem; }
input { display: block; width: 100%; margin: .25rem 0 1rem; }
button { cursor: pointer; font-weight: 600; }
a.button { padding: .625rem 1rem; border: 1px solid; border-radius: .5rem; font-weight: 600; text-decoration: none; }
.folded { display: none; }
@media (max-width: 37.4375rem) {
  figure:has(+ .folded) { display: none; }
  .folded { display: block; }
}
button:first-child, a.button { color: var(--card); background: var(--accent); border-color: var(--accent); }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; }
dl { margin: 0 0 1rem; }
dt { color: var(--soft); font-size: .875rem; }
dd { margin: 0 0 .5rem; word-break: break-all; }
footer { color: var(--soft); font-size: .875rem; }
footer p:last-child { margin: 0; }
@media (min-width: 30rem) { main { padding: 2.25rem; } }
@media (min-width: 60rem) {
  main.wide { max-width: 62rem; display: grid; grid-template: auto 1fr / minmax(0, 1fr) 25rem; column-gap: 3rem; align-items: start; }
  main.wide > figure { grid-area: 1 / 2 / span 2; margin: 0; }
}
@media (forced-colors: active) { .qr { forced-color-adjust: none; } }
`

/** An element, and its text's `'sha256-…'`, by which the content security policy allows it (CSP 3 §2.3.1). */
export type Inline = { element: Html; source: string }

export function inline(tag: 'style' | 'script', text: string): Inline {
  const digest = createHash('sha256').update(text).digest('base64')
  return { element: rawHtml(`<${tag}>${text}</${tag}>`), source: `'sha256-${digest}'` }
}

export const pageStyle = inline('style', style)
export const paletteStyle = inline('style', palette)
