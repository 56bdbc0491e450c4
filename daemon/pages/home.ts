/** The page at `/`: what the agent is, with links to its API document and its health. */
import type { Texts } from './english.ts'
import { html } from './html.ts'
import type { Page } from './page.ts'

/** `base` is the URL of the API relative to the page, with a slash at the end. */
export function homePage({ home }: Texts, base: string): Page {
  return {
    title: undefined,
    content: html`<header>
        <p class="kind">${home.kind}</p>
        <h1>identity-agent</h1>
        <p>${home.text}</p>
      </header>
      <h2>${home.programs}</h2>
      <ul>
        <li>${home.reference(`${base}docs`)}</li>
        <li>${home.document(`${base}docs/openapi.json`)}</li>
        <li>${home.health(`${base}_system/health`)}</li>
      </ul>
      <h2>${home.commands}</h2>
      <ul>
        <li>${home.tui}</li>
        <li>${home.doctor}</li>
        <li>${home.help}</li>
      </ul>`,
  }
}
