/** Nonces of authentication challenges, and detached signatures over them. */
import * as z from 'zod'
import { fromBase64, fromUtf8, toBase64url, toPaddedBase64url, utf8 } from '../../foundation/bytes.ts'
import { randomId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { verify } from '../../foundation/crypto/keys.ts'
import { keysFor, type Resolve } from '../../did/document.ts'
import { findMethod } from '../../did/methods.ts'
import { type DidMethodName, methodOf } from '../../definitions/did-names.ts'

const noncePrefix = 'authenticate-'

/** `aud` is the public base URL of the asking agent, `from` the name of the organisation. */
const NonceContent = z.object({ id: z.uuid(), aud: z.url(), from: z.string().optional() })
export type NonceContent = z.infer<typeof NonceContent>

/**
 * Makes a nonce: `authenticate-` and the base64 of a small JSON object.
 *
 * The signature covers the content of the nonce. So a wallet that reads it detects a challenge that another
 * site passes on. For a wallet that does not, the nonce is a random text.
 */
export function newNonce({ aud, from }: { aud: string; from?: string | undefined }): string {
  const content = { id: randomId(), aud, from }
  return noncePrefix + Buffer.from(JSON.stringify(content)).toString('base64')
}

/** The content of a nonce; undefined for a nonce of other software. */
export function parseNonce(nonce: string): NonceContent | undefined {
  try {
    return NonceContent.parse(JSON.parse(fromUtf8(fromBase64(nonce.slice(noncePrefix.length)))))
  } catch {
    return undefined
  }
}

/** Keys of a document that are tried. A document with thousands of keys must not make one answer expensive. */
const maxTriedKeys = 20

/**
 * Verifies a detached signature over the UTF-8 bytes of a nonce by an authentication key of the DID's
 * document. `signature` is base64url with or without padding.
 *
 * @throws {Problem} `/errors/authenticate/invalid-challenge-response` with the field and the reason.
 */
export async function assertSigned(
  { nonce, did, signature }: { nonce: string; did: string; signature: string },
  { resolve, methods }: { resolve: Resolve; methods: readonly DidMethodName[] },
): Promise<void> {
  assertAllowedMethod(did, methods)
  const bytes = decodeSignature(signature)
  if (!bytes) throw invalidResponse('signature: expected base64url, with or without padding')
  const curve = findMethod(did)?.signIn?.curve
  const document = await resolve(did).catch((error: unknown) => {
    if (error instanceof Problem) throw invalidResponse(`did: it does not resolve. ${error.message}`, error)
    throw error
  })
  const keys = keysFor(document, 'authentication').filter(
    ({ publicKeyJwk }) => curve === undefined || publicKeyJwk.crv === curve,
  )
  if (keys.length === 0)
    throw invalidResponse(
      `did: its document has no ${curve === undefined ? '' : `${curve} `}key for authentication`,
    )
  const isSigned = keys
    .slice(0, maxTriedKeys)
    .some(({ publicKeyJwk }) => verify(publicKeyJwk, utf8(nonce), bytes))
  if (!isSigned)
    throw invalidResponse('signature: it was not made over the nonce by an authentication key of the DID')
}

function assertAllowedMethod(did: string, methods: readonly DidMethodName[]): void {
  if (!methods.some((name) => name === methodOf(did)))
    throw invalidResponse(`did: expected a DID of the method ${methods.join(', ')}`)
  const { form, expected } = findMethod(did)?.signIn ?? {}
  if (form && !form.test(did)) throw invalidResponse(`did: expected ${expected}`)
}

/**
 * Undefined unless the text is exactly one of the two encodings of its bytes: decoders ignore stray
 * characters and bits.
 */
function decodeSignature(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return text === toBase64url(bytes) || text === toPaddedBase64url(bytes) ? bytes : undefined
}

export function invalidResponse(reason: string, cause?: unknown): Problem {
  return new Problem('/errors/authenticate/invalid-challenge-response', reason, {
    title: 'Invalid challenge response submitted',
    ...(cause !== undefined && { cause }),
  })
}
