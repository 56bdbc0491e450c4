/**
 * The page at `/docs`: Swagger UI with the agent's own API document. Unlike other pages it loads scripts,
 * which the agent serves itself.
 */
import { assetNames } from './assets.ts'
import type { Texts } from './english.ts'
import { html } from './html.ts'
import type { Page } from './page.ts'

/**
 * Scripts, styles and calls of this agent only. The script that starts Swagger UI is a file too, because
 * inline scripts are forbidden. The pictures of Swagger UI's style sheet are data URLs.
 */
const sources = { script: "'self'", style: "'self'", connect: "'self'" }

/**
 * `base` is the URL of the API relative to the page, with a slash at the end.
 *
 * @throws {Error} if the program was not built
 */
export async function referencePage({ reference }: Texts, base: string): Promise<Page> {
  const { scripts, styles } = await assetNames()
  return {
    title: reference.title,
    app: {
      sources,
      head: html`${styles.map((name) => html`<link rel="stylesheet" href="${base}docs/${name}" />`)}
      ${scripts.map((name) => html`<script defer src="${base}docs/${name}"></script>`)}`,
    },
    // Swagger UI is in English only.
    content: html`<main class="page">
      <header>
        <p class="kind">identity-agent</p>
        <h1>${reference.heading}</h1>
        <p>${reference.text}</p>
        <ul>
          <li>${reference.apikey}</li>
          <li>${reference.adminKey}</li>
          <li>${reference.document(`${base}docs/openapi.json`)}</li>
        </ul>
      </header>
      <noscript><p class="note">${reference.noScript}</p></noscript>
      <div id="reference" lang="en" data-base="${base}"></div>
    </main>`,
  }
}
