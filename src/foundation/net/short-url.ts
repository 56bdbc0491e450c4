/**
 * Short URLs of any agent: `?_oobid=<id>` (DIDComm Out-of-Band 2.0, "Short URL Message Retrieval").
 *
 * Agents answer with the JSON of the message, or with a redirect to the long URL (Aries RFC 0434).
 */
import { Problem } from '../problem.ts'
import type { HttpClient } from './http-client.ts'
import { UnreachableError } from './unreachable-error.ts'

const limits = { timeoutMs: 10_000, maxBytes: 262_144, maxRedirects: 3 }

/** The short URL that a text is. Undefined for other texts, and for a URL that contains the invitation. */
export function findShortUrl(text: string): URL | undefined {
  const given = text.trim()
  if (!/^https?:/i.test(given) || !URL.canParse(given)) return undefined
  const url = new URL(given)
  return url.searchParams.has('_oobid') && !url.searchParams.has('_oob') ? url : undefined
}

/**
 * Retrieves the message of a short URL: JSON, or the URL that contains it. `read` reads a link of this agent.
 *
 * @throws {Problem} `RetrievalFailed`, which names the host and the reason, and never the content
 */
export async function retrieveShortUrl(
  url: URL,
  { http, read }: { http: Pick<HttpClient, 'getJson'>; read?: (id: string) => Promise<unknown> },
): Promise<unknown> {
  try {
    if (read) return await read(url.searchParams.get('_oobid')!)
    return await http.getJson(url.href, {
      ...limits,
      purpose: 'document',
      readTarget: (location) => (/[?&]_oob=/.test(location) ? location : undefined),
    })
  } catch (error) {
    const isKnown = error instanceof UnreachableError || error instanceof Problem
    if (!isKnown) throw error
    const isClosed = error.status === 404 || error.status === 410
    const reason = isClosed
      ? `${url.host} does not have it: it was used or withdrawn, or it has expired. Ask for a new one.`
      : `${error.message.replace(/\.$/, '')}.`
    throw new Problem(
      'error:ShortLinkError:RetrievalFailed',
      `The invitation could not be retrieved: ${reason}`,
      { cause: error },
    )
  }
}
