/** The page at `/docs`: Swagger UI with the agent's own API document. Unlike other pages it runs scripts, which the agent serves itself. */
import { assetNames } from './assets.ts'
import { html } from './html.ts'
import type { Page } from './page.ts'

/**
 * Scripts, styles and calls of this agent only. The script that starts Swagger UI is a file too, because inline scripts are forbidden. The
 * pictures of Swagger UI's style sheet are data URLs.
 */
const sources = { script: "'self'", style: "'self'", connect: "'self'" }

/** `base` is the URL of the API relative to the page, with a slash at the end. @throws {Error} if the program was not built */
export async function referencePage(base: string): Promise<Page> {
  const { scripts, styles } = await assetNames()
  return {
    title: 'identity-agent API',
    app: {
      sources,
      head: html`${styles.map((name) => html`<link rel="stylesheet" href="${base}docs/${name}" />`)}
      ${scripts.map((name) => html`<script defer src="${base}docs/${name}"></script>`)}`,
    },
    content: html`<div class="page">
      <header>
        <p class="kind">identity-agent</p>
        <h1>HTTP API</h1>
        <p>
          Press <b>Authorize</b> and enter a key. Then open an operation, fill in its fields and press
          <b>Execute</b>: it runs on this agent. Keys leave the page with its requests only, and a reload
          forgets them.
        </p>
        <ul>
          <li>
            <code>apikey</code> is the key of a tenant. <code>agent daemon start</code> writes the key of the
            default wallet into the profile, and <code>agent profile show</code> names the profile’s file.
            <code>agent tenant create</code> makes a tenant with a key.
          </li>
          <li>
            <code>x-admin-api-key</code> is the administrator’s token, <code>adminToken</code> in the same
            file. Wallets, entities and keys need it.
          </li>
          <li>
            <a href="${base}docs/openapi.json">openapi.json</a> is the description (OpenAPI 3.1) for programs
            that generate clients.
          </li>
        </ul>
      </header>
      <noscript
        ><p class="note">
          The reference needs JavaScript. The API document above has the same content.
        </p></noscript
      >
      <div id="reference" data-base="${base}"></div>
    </div>`,
  }
}
