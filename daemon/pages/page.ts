/**
 * Web pages for people who open a wallet link in a browser.
 *
 * Pages load no resources. The only scripts are those of the API reference, one that reloads a page when its
 * link closes, and one that asks the browser for a wallet. Opening a page changes nothing, since link
 * previews and virus scanners open links too.
 */
import type { Answer } from '../http/route.ts'
import type { Texts } from './english.ts'
import { digitalScript } from './digital-credentials.ts'
import { html, toText, type Html } from './html.ts'
import { inline, pageStyle, paletteStyle } from './style.ts'

/** The icon of all pages, also served at `/favicon.ico`. */
export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#1d4fd7"/><circle cx="8" cy="6" r="2.5" fill="#fff"/><path d="M3.5 13a4.5 4 0 0 1 9 0z" fill="#fff"/></svg>'
const iconUrl = `data:image/svg+xml,${encodeURIComponent(icon)}`

/**
 * Reloads a page when its link closes. The events are those of `live.ts`, at the URL of the page. Browsers
 * open a lost stream again, but not after the error of a server, such as that of a proxy while the agent
 * restarts.
 */
const liveScript = inline(
  'script',
  `const follow = () => {
  const events = new EventSource(location.href)
  events.addEventListener('closed', () => {
    events.close()
    if (document.body.ariaBusy) setTimeout(follow, 1000)
    else location.reload()
  })
  events.addEventListener('error', () => { if (events.readyState === EventSource.CLOSED) setTimeout(follow, 5000) })
}
follow()`,
)

export type Page = {
  /** What the window is called besides the program's name. */
  title: string | undefined
  content: Html
  status?: number
  /** Whether a figure is beside the text on wide screens. */
  isWide?: boolean
  /** Whether the endpoint has the events of `live.ts`: then the page reloads when its link closes. */
  isLive?: boolean
  /** Whether the page has the button of `digital-credentials.ts`. It is live too. */
  asksBrowser?: boolean
  /** After how many milliseconds the page reloads because its content is outdated, also without scripts. */
  staleAfterMs?: number | undefined
  retryAfter?: number | undefined
  /**
   * For a page with a form, which is sent to this agent: the origin or scheme that the answer redirects to
   * (CSP 3).
   */
  formTarget?: string
  /**
   * For a page with scripts and a style sheet of its own: their elements, and what the policy allows besides
   * (CSP 3).
   */
  app?: { head: Html; sources: { script: string; style: string; connect: string } }
}

/**
 * Forbids loading, scripts, frames, and forms to others. The style sheet and the script are allowed by their
 * digests.
 */
function policyOf({ app, isLive, asksBrowser, formTarget }: Page): string {
  const own = app
    ? `style-src ${paletteStyle.source} ${app.sources.style}; script-src ${app.sources.script}; connect-src ${app.sources.connect}`
    : `style-src ${pageStyle.source}`
  const digital = asksBrowser ? ` ${digitalScript.source}` : ''
  const live = isLive ? `; script-src ${liveScript.source}${digital}; connect-src 'self'` : ''
  const form = formTarget === undefined ? "'none'" : `'self' ${formTarget}`
  return `default-src 'none'; ${own}${live}; img-src data:; form-action ${form}; frame-ancestors 'none'; base-uri 'none'`
}

const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  // The URL of the page is a secret: anyone who has it can answer.
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
}

export function render({ language }: Texts, page: Page): Answer<'text/html'> {
  const { title, content, status = 200, isWide = false, isLive = false, asksBrowser = false } = page
  const { staleAfterMs, retryAfter, app } = page
  const document = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <title>${title === undefined ? '' : `${title} – `}identity-agent</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex, nofollow" />
        <link rel="icon" href="${iconUrl}" />
        ${app ? paletteStyle.element : pageStyle.element} ${app?.head}
        ${isLive ? liveScript.element : undefined} ${asksBrowser ? digitalScript.element : undefined}
      </head>
      <body>
        ${app ? content : html`<main class="${isWide ? 'wide' : ''}">${content}</main>`}
      </body>
    </html>`
  return {
    status,
    type: 'text/html',
    body: toText(document),
    headers: {
      ...headers,
      'Content-Language': language,
      'Content-Security-Policy': policyOf(page),
      // With no-referrer, the form would have the Origin `null` (Fetch §3.2).
      ...(page.formTarget !== undefined && { 'Referrer-Policy': 'same-origin' }),
      ...(staleAfterMs !== undefined && { Refresh: toSeconds(staleAfterMs) }),
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    },
  }
}

/** Seconds for `Refresh` (WHATWG HTML §7.4.4). Browsers do not support long times. */
function toSeconds(ms: number): string {
  return String(Math.min(Math.ceil(ms / 1_000) + 1, 86_400))
}
