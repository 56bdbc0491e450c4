/** The page at `/`: what the agent is, with links to its API document and its health. */
import { html } from './html.ts'
import type { Page } from './page.ts'

/** `base` is the URL of the API relative to the page, with a slash at the end. */
export function homePage(base: string): Page {
  return {
    title: 'identity-agent',
    content: html`<header>
        <p class="kind">HTTP API</p>
        <h1>identity-agent</h1>
        <p>
          An agent for self-sovereign identity. It keeps DIDs, connections, credentials and proofs for its
          tenants, and exchanges DIDComm v2 messages with other agents. Its API is that of the Hyperledger
          Identus Cloud Agent.
        </p>
      </header>
      <h2>For programs</h2>
      <ul>
        <li><a href="${base}docs">API reference</a>, to read and to try the operations</li>
        <li>
          <a href="${base}docs/openapi.json">API document</a> (OpenAPI 3.1). Tenants send their key as
          <code>apikey</code>.
        </li>
        <li><a href="${base}_system/health">Health</a> and version</li>
      </ul>
      <h2>At the command line</h2>
      <ul>
        <li><code>agent tui</code> opens the dashboard in a terminal.</li>
        <li><code>agent doctor</code> checks the agent, and names a remedy for each fault.</li>
        <li>
          <code>agent --help</code> lists the commands. The folder <code>docs</code> of the program has the
          manual.
        </li>
      </ul>`,
  }
}
