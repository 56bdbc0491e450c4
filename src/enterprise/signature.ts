/**
 * Whether a DID has signed a nonce (service §4.7 rule 2): a detached signature over the UTF-8 bytes of the nonce by an authentication key of the
 * DID's document.
 */
import type { challengeMethods } from '../base/config.ts'
import { toBase64url, toPaddedBase64url, utf8, fromBase64, fromUtf8 } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { verify } from '../crypto/keys.ts'
import { keysFor, type Resolve } from '../did/document.ts'
import { z } from 'zod'
import { randomId } from '../base/id.ts'

type Method = (typeof challengeMethods)[number]

/** More keys than this are not tried: a document with so many would make one answer as much work as many. */
const triedKeys = 20

/**
 * Checks an answer to a challenge. `signature` is base64url, with or without padding, and nothing else.
 *
 * @throws {Problem} `/errors/authenticate/invalid-challenge-response`, which says what is wrong with it.
 */
export async function mustHaveSigned(
  { nonce, did, signature }: { nonce: string; did: string; signature: string },
  { resolve, methods }: { resolve: Resolve; methods: readonly Method[] },
): Promise<void> {
  mustBeAllowed(did, methods)
  const bytes = readSignature(signature)
  if (!bytes) throw invalid('signature: expected base64url, with or without padding')
  const isPeer = did.startsWith('did:peer:')
  const document = await resolve(did).catch((error: unknown) => {
    if (error instanceof Problem) throw invalid(`did: it does not resolve. ${error.message}`, error)
    throw error
  })
  const keys = keysFor(document, 'authentication').filter(
    ({ publicKeyJwk }) => !isPeer || publicKeyJwk.crv === 'Ed25519',
  )
  if (keys.length === 0)
    throw invalid(`did: its document has no ${isPeer ? 'Ed25519 ' : ''}key for authentication`)
  if (keys.slice(0, triedKeys).some(({ publicKeyJwk }) => verify(publicKeyJwk, utf8(nonce), bytes))) return
  throw invalid('signature: it was not made over the nonce by an authentication key of the DID')
}

/** Of did:peer, numalgo 0 and 2 alone carry keys that anybody can read. */
function mustBeAllowed(did: string, methods: readonly Method[]): void {
  const method = /^did:([a-z0-9]+):/.exec(did)?.[1] as Method | undefined
  if (method === undefined || !methods.includes(method))
    throw invalid(`did: expected a DID of the method ${methods.join(', ')}`)
  if (method === 'peer' && !/^did:peer:[02]/.test(did))
    throw invalid('did: expected a did:peer of numalgo 0 or 2')
}

/** The bytes of base64url in one of its two forms, to the letter: two texts are never the same signature by a detail that decoders overlook. */
function readSignature(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return text === toBase64url(bytes) || text === toPaddedBase64url(bytes) ? bytes : undefined
}

export function invalid(reason: string, cause?: unknown): Problem {
  return new Problem('/errors/authenticate/invalid-challenge-response', reason, {
    title: 'Invalid challenge response submitted',
    ...(cause !== undefined && { cause }),
  })
}

const prefix = 'authenticate-'

const Content = z.object({ id: z.uuid(), aud: z.url(), from: z.string().optional() })
export type NonceContent = z.infer<typeof Content>

/** Makes a nonce, never the same twice. */
export function newNonce(bound: { aud: string; from?: string | undefined }): string {
  return (
    prefix +
    Buffer.from(JSON.stringify({ id: randomId(), aud: bound.aud, from: bound.from })).toString('base64')
  )
}

/** What a nonce of this agent's making says; nothing for one of another kind. */
export function readNonce(nonce: string): NonceContent | undefined {
  try {
    return Content.parse(JSON.parse(fromUtf8(fromBase64(nonce.slice(prefix.length)))))
  } catch {
    return undefined
  }
}
