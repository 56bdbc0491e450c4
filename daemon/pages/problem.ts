/** The page of a link that is unknown or has expired. */
import type { Problem } from '../../src/base/problem.ts'
import { html, line } from './html.ts'
import type { Page } from './page.ts'

const texts: Readonly<Record<number, { title: string; text: string }>> = {
  400: {
    title: 'This link cannot be read',
    text: 'A part of it may be missing. Ask the sender for the whole link.',
  },
  404: {
    title: 'This link leads nowhere',
    text: 'This agent did not make it, or a part of it is missing. Ask the sender for the whole link.',
  },
  410: {
    title: 'This link has expired',
    text: 'It worked once and for a limited time: it was answered or withdrawn, or its time has passed. Ask the sender for a new one.',
  },
  503: { title: 'Not available at the moment', text: 'Your link is valid. Open it again later.' },
}

/** Explains a problem to the reader. The footer has the problem itself, for support. */
export function problemPage({ status, title, message, retryAfter }: Problem): Page {
  const text = texts[status] ?? { title, text: 'The link cannot be shown.' }
  return {
    status,
    retryAfter,
    title: text.title,
    content: html`<h1>${text.title}</h1>
      <p>${text.text}</p>
      <footer><p>${status} · ${title}: ${line(message, 400)}</p></footer>`,
  }
}
