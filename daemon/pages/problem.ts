/** The page of a link that leads to nothing, or to nothing any more. */
import type { Problem } from '../../src/base/problem.ts'
import { html, line } from './html.ts'
import type { Page } from './page.ts'

const words: Readonly<Record<number, { title: string; text: string }>> = {
  400: {
    title: 'This link cannot be read',
    text: 'A part of it may have been lost on the way. Ask whoever sent it for the whole link, and open that.',
  },
  404: {
    title: 'There is nothing behind this link',
    text: 'It was not made here, or a part of it was lost on the way. Ask whoever sent it for the whole link, and open that.',
  },
  410: {
    title: 'This link is over',
    text: 'It works once and for a limited time. It has been answered, or taken back, or its time has run out. Ask whoever sent it for a new one.',
  },
  503: { title: 'Not available for the moment', text: 'Nothing is wrong with your link. Open it again in a while.' },
}

/** Says in words what went wrong and what to do; the problem's own words are below, for those who are asked about it. */
export function problemPage({ status, title, message, retryAfter }: Problem): Page {
  const said = words[status] ?? { title, text: 'The link cannot be shown.' }
  return {
    status,
    retryAfter,
    title: said.title,
    content: html`<h1>${said.title}</h1>
      <p>${said.text}</p>
      <footer><p>${status} · ${title}: ${line(message, 400)}</p></footer>`,
  }
}
