/**
 * A web page as an answer: for people who open in a browser a link that is made for wallets.
 *
 * Pages are rendered here, load nothing and run nothing. Opening one changes nothing: previews of chat programs and virus scanners open
 * links too.
 */
import { Problem } from '../../src/base/problem.ts'
import type { Answer } from '../http/route.ts'
import { html, toText, type Html } from './html.ts'
import { iconUrl } from './icon.ts'
import { problemPage } from './problem.ts'
import { styleElement, styleSource } from './style.ts'

/** What an endpoint with a page answers with: JSON comes first, since programs mostly take anything. */
export const pageMedia = ['application/json', 'text/html'] as const
export type PageMedia = (typeof pageMedia)[number]

export type Page = {
  title: string
  content: Html
  status?: number
  /** Whether a figure stands beside the text where there is room. */
  isWide?: boolean
  /** After how many milliseconds the page is not true any more. */
  staleAfterMs?: number | undefined
  retryAfter?: number | undefined
}

/** Nothing is loaded, run, sent or framed; the one style sheet is known by its digest. */
const policy = `default-src 'none'; style-src ${styleSource}; img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`

const headers = {
  // A browser is told how to read the text even before it reads it.
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': policy,
  // The address of the page is the link itself, which is as good as a key.
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex, nofollow',
  Vary: 'Accept',
}

/** One thing in two forms. */
export type Forms<Seen> = {
  see: () => Promise<Seen>
  toJson: (seen: Seen) => object
  toPage: (seen: Seen) => Page
}

/**
 * Answers with the form that the `Accept` header likes better; JSON where it does not care.
 *
 * @throws {Problem} what `see` throws, unless a page can tell it.
 */
export async function answerInForm<Seen>(
  accepts: (types: readonly string[]) => string | undefined,
  { see, toJson, toPage }: Forms<Seen>,
): Promise<Answer<PageMedia>> {
  if (accepts(pageMedia) !== 'text/html')
    return { type: 'application/json', body: toJson(await see()), headers: { Vary: 'Accept' } }
  try {
    return render(toPage(await see()))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return render(problemPage(error))
  }
}

function render({
  title,
  content,
  status = 200,
  isWide = false,
  staleAfterMs,
  retryAfter,
}: Page): Answer<'text/html'> {
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex, nofollow" />
        ${staleAfterMs === undefined ? undefined : html`<meta http-equiv="refresh" content="${toSeconds(staleAfterMs)}" />`}
        <link rel="icon" href="${iconUrl}" />
        ${styleElement}
      </head>
      <body>
        <main class="${isWide ? 'wide' : ''}">${content}</main>
      </body>
    </html>`
  return {
    status,
    type: 'text/html',
    body: toText(document),
    headers: { ...headers, ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }) },
  }
}

/** Whole seconds, the one that has begun included; a browser counts no further than some days. */
function toSeconds(ms: number): number {
  return Math.min(Math.ceil(ms / 1_000) + 1, 86_400)
}
