/**
 * Decodes any text of the protocols that this agent speaks: tokens, offers, requests, metadata, status lists,
 * invitations, messages, DIDs, certificates. The readers are those of the agent. It needs no wallet, and
 * makes no connection unless it may (`isOnline`).
 *
 * The command line loads this file with `import()`: its readers are large.
 */
import { fromHex, toBase64url } from '../../foundation/bytes.ts'
import { JsonError, parseJson } from '../../foundation/json.ts'
import { Problem } from '../../foundation/problem.ts'
import { canonicalDid } from '../../definitions/did-names.ts'
import { type DidMethod, type LedgerSources, methods } from '../../did/methods.ts'
import type { ResolutionResult } from '../../did/resolution.ts'
import { createResolver } from '../../did/resolver.ts'
import { createHttpClient, type HttpClient } from '../../foundation/net/http-client.ts'
import { retrieveShortUrl } from '../../foundation/net/short-url.ts'
import { UnreachableError } from '../../foundation/net/unreachable-error.ts'
import { readQueried as readToken } from '../../credentials/formats/queried.ts'
import { notationOf } from './binary.ts'
import { type Decoded, DecodeError, type Sources } from './decoded.ts'
import { decode } from './recognise.ts'
import { readTranscript, transcriptsOf } from './session.ts'

export { selectClaims } from '../../credentials/dcql/path.ts'
export { queryOf, subjectPath } from '../../credentials/dcql/query-of.ts'
export { RequestedDcqlQuery } from '../../credentials/dcql/query.ts'
export { describePath } from '../../credentials/dcql/match.ts'
export { type Check, type Decoded, DecodeError, type Facts, type FactValue } from './decoded.ts'

/**
 * What a query can ask of a credential. An mdoc may be in hex too.
 *
 * @throws {VerificationError} if the text cannot be read
 */
export function readQueried(text: string): ReturnType<typeof readToken> {
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(text)
  return readToken(isHex ? toBase64url(fromHex(text)) : text)
}

const limits = { timeoutMs: 10_000, maxBytes: 1_048_576 }

/** Levels of texts in texts: a URL, its message, an attachment and its credential are four. */
const maxDepth = 6

type Options = {
  isOnline: boolean
  /** Shows CBOR in diagnostic notation, whatever it is. */
  asCbor?: boolean
  /** The transcript of a session in hex, base64url or base64; or its request; and the origin of its page. */
  session?: { transcript?: string | undefined; request?: string | undefined; origin?: string | undefined }
  /** Resolves a DID whose document is on a ledger. Asked only if `isOnline`. */
  resolveOnLedger?: (did: string) => Promise<ResolutionResult>
}

/** @throws {DecodeError} with what was recognised, and why it cannot be read */
export async function decodeText(
  text: string,
  { isOnline, asCbor = false, session: { transcript, request, origin } = {}, resolveOnLedger }: Options,
): Promise<Decoded> {
  if (asCbor) return notationOf(text.replaceAll(/\s+/g, ''))
  const http = isOnline ? createHttpClient({ allow: 'any' }) : undefined
  try {
    const sources: Omit<Sources, 'decode'> = {
      resolver: createResolver({
        // The readers have no ledger themselves.
        getState: async () => undefined,
        hosts: http && { http, allowsLoopback: true },
        ...(isOnline && resolveOnLedger && { methods: withLedger(resolveOnLedger) }),
      }),
      online: http && {
        getText: (url) => getText(http, url),
        getMessage: (url) => getMessage(http, url),
      },
    }
    const candidates =
      transcript !== undefined
        ? [readTranscript(transcript)]
        : request !== undefined
          ? transcriptsOf(await decode(request, sources, maxDepth), origin)
          : undefined
    return await decode(text, { ...sources, candidates, origin }, maxDepth)
  } finally {
    await http?.close()
  }
}

/** The methods, of which those of a ledger resolve DIDs that do not contain a document by `resolve`. */
function withLedger(resolve: NonNullable<Options['resolveOnLedger']>): Readonly<Record<string, DidMethod>> {
  const onLedger = (method: DidMethod): DidMethod => {
    if (method.kind !== 'ledger') return method
    const isShort = (did: string) => canonicalDid(did) === did
    return {
      ...method,
      resolve: (did: string, sources: LedgerSources) =>
        isShort(did) ? resolve(did) : method.resolve(did, sources),
    }
  }
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, onLedger(method)]))
}

const accept = 'application/json, application/oauth-authz-req+jwt, application/statuslist+jwt, */*;q=0.5'

/** @throws {DecodeError} */
async function getText(http: HttpClient, url: string): Promise<string> {
  try {
    const { status, text } = await http.exchange(url, { method: 'GET', headers: { accept }, ...limits })
    if (status === 200) return text
    throw new DecodeError(`${new URL(url).host} answered with the status ${status} instead of the content`)
  } catch (error) {
    if (error instanceof UnreachableError) throw new DecodeError(error.message, { cause: error })
    throw error
  }
}

/** The JSON at a URL. @throws {DecodeError} */
export async function fetchJson(url: string): Promise<unknown> {
  const http = createHttpClient({ allow: 'any' })
  try {
    return parseJson(await getText(http, url))
  } catch (error) {
    if (error instanceof JsonError) throw new DecodeError(`The document at ${url} ${error.message}`)
    throw error
  } finally {
    await http.close()
  }
}

/** The message of a short link, as JSON, or the URL with the message. @throws {DecodeError} */
async function getMessage(http: HttpClient, url: URL): Promise<string> {
  try {
    const message = await retrieveShortUrl(url, { http })
    return typeof message === 'string' ? message : JSON.stringify(message)
  } catch (error) {
    if (error instanceof Problem) throw new DecodeError(error.message, { cause: error })
    throw error
  }
}
