/** The page of a link that is unknown, closed or cannot be read. */
import type { Problem } from '../../src/foundation/problem.ts'
import type { Texts } from './english.ts'
import { html, line } from './html.ts'
import type { Page } from './page.ts'

/** Explains a problem to the reader. The footer has the problem itself, in English, for support. */
export function problemPage({ problem }: Texts, { status, title, message, retryAfter }: Problem): Page {
  const { 400: unreadable, 404: unknown, 410: closed, 503: unavailable, other } = problem
  const known: Readonly<Record<number, typeof closed>> = {
    400: unreadable,
    404: unknown,
    410: closed,
    503: unavailable,
  }
  const text = known[status] ?? { title, text: other }
  return {
    status,
    retryAfter,
    title: text.title,
    content: html`<h1>${text.title}</h1>
      <p>${text.text}</p>
      <footer><p lang="en">${status} · ${title}: ${line(message, 400)}</p></footer>`,
  }
}
