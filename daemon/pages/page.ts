/**
 * Web pages for people who open a wallet link in a browser.
 *
 * Pages load no resources and run no scripts, except the API reference. Opening a page changes nothing, since link previews and virus scanners open links too.
 */
import { Problem } from '../../src/base/problem.ts'
import type { Answer } from '../http/route.ts'
import { html, toText, type Html } from './html.ts'
import { problemPage } from './problem.ts'
import { pageStyle, paletteStyle } from './style.ts'

/** The icon of all pages, also served at `/favicon.ico`. */
export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#1d4fd7"/><circle cx="8" cy="6" r="2.5" fill="#fff"/><path d="M3.5 13a4.5 4 0 0 1 9 0z" fill="#fff"/></svg>'
const iconUrl = `data:image/svg+xml,${encodeURIComponent(icon)}`

/** The media types of an endpoint with a page. JSON is the default, since programs mostly send `Accept: any`. */
export const pageMedia = ['application/json', 'text/html'] as const
export type PageMedia = (typeof pageMedia)[number]

export type Page = {
  title: string
  content: Html
  status?: number
  /** Whether a figure is beside the text on wide screens. */
  isWide?: boolean
  /** After how many milliseconds the page reloads because its content is outdated. */
  staleAfterMs?: number | undefined
  retryAfter?: number | undefined
  /** For a page with scripts and a style sheet of its own: their elements, and what the policy allows besides (CSP 3). */
  app?: { head: Html; sources: { script: string; style: string; connect: string } }
}

/** Forbids loading, scripts, forms and frames. The style sheet is allowed by its digest. */
function policyOf({ app }: Page): string {
  const own = app
    ? `style-src ${paletteStyle.source} ${app.sources.style}; script-src ${app.sources.script}; connect-src ${app.sources.connect}`
    : `style-src ${pageStyle.source}`
  return `default-src 'none'; ${own}; img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`
}

const headers = {
  'Content-Type': 'text/html; charset=utf-8',
  // The URL of the page is a secret: anyone who has it can answer.
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
  Vary: 'Accept',
}

/** The JSON form and the page of one resource. */
export type Forms<Resource> = {
  read: () => Promise<Resource>
  toJson: (resource: Resource) => object
  toPage: (resource: Resource) => Page | Promise<Page>
}

/**
 * Replies with JSON or a page, as the `Accept` header prefers.
 *
 * @throws {Problem} what `read` throws, if the reply is JSON; a page shows the problem.
 */
export async function replyInForm<Resource>(
  accepts: (types: readonly string[]) => string | undefined,
  { read, toJson, toPage }: Forms<Resource>,
): Promise<Answer<PageMedia>> {
  if (accepts(pageMedia) !== 'text/html')
    return { type: 'application/json', body: toJson(await read()), headers: { Vary: 'Accept' } }
  try {
    return render(await toPage(await read()))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return render(problemPage(error))
  }
}

function render(page: Page): Answer<'text/html'> {
  const { title, content, status = 200, isWide = false, staleAfterMs, retryAfter, app } = page
  const refresh =
    staleAfterMs === undefined
      ? undefined
      : html`<meta http-equiv="refresh" content="${toSeconds(staleAfterMs)}" />`
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex, nofollow" />
        ${refresh}
        <link rel="icon" href="${iconUrl}" />
        ${app ? paletteStyle.element : pageStyle.element} ${app?.head}
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
      'Content-Security-Policy': policyOf(page),
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    },
  }
}

/** Seconds for `http-equiv="refresh"`. Browsers do not support long times. */
function toSeconds(ms: number): number {
  return Math.min(Math.ceil(ms / 1_000) + 1, 86_400)
}
