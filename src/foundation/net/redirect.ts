/** The URLs that the HTTP client may call, and the targets of redirects. */
import type { Dispatcher } from 'undici'
import { UnreachableError } from './unreachable-error.ts'

/** Parses a URL that may be called; `base` is that of a relative URL. @throws {UnreachableError} */
export function readUrl(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UnreachableError(
      'bad-url',
      base === undefined
        ? 'the address is not an http or https URL without user name and password'
        : `${base.host} answered with a redirect to something other than an http or https URL`,
    )
  }
  return url
}

type Redirect = Dispatcher.ResponseData & { headers: { location: string } }

export function isRedirect(response: Dispatcher.ResponseData): response is Redirect {
  return (
    [301, 302, 303, 307, 308].includes(response.statusCode) &&
    typeof response.headers['location'] === 'string'
  )
}

/** The target of a redirect. @throws {UnreachableError} for any other status than an allowed redirect */
export function nextUrl(url: URL, response: Dispatcher.ResponseData, redirectsLeft: number): URL {
  if (!isRedirect(response)) {
    const { statusCode: status } = response
    throw new UnreachableError('bad-status', `${url.host} answered with status ${status}`, { status })
  }
  if (redirectsLeft <= 0)
    throw new UnreachableError('redirect', `${url.host} answered with a redirect, which is not followed`)
  const next = readUrl(response.headers.location, url)
  if (url.protocol === 'https:' && next.protocol === 'http:') {
    throw new UnreachableError(
      'redirect',
      `${url.host} answered with a redirect from https to http, which is not followed`,
    )
  }
  return next
}

/** The message does not contain the redirect target, which the other side chooses. */
export function hideRedirect(error: unknown, { host }: URL): unknown {
  if (!(error instanceof UnreachableError)) return error
  const { code, status } = error
  const reason =
    code === 'address-not-allowed'
      ? 'its target is at an address of a private network or of this machine, which this agent does not call'
      : 'its target did not answer with a document'
  return new UnreachableError(code, `${host} answered with a redirect, and ${reason}`, { status })
}
