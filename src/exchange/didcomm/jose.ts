/** Parts that JWE and JWS share: protected headers, key ids, and the keys of a sender's DID document. */
import * as z from 'zod'
import { isTemporary, Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import type { PublicJwk } from '../../foundation/crypto/keys.ts'
import { type DidDocument, didOf, keysFor, type Purpose, type Resolve } from '../../did/document.ts'
import { fromStrictBase64url } from '../../foundation/bytes.ts'
import { parseJson } from '../../foundation/json.ts'
import { refuse } from './message.ts'

/** The longest protected header in characters: an `epk` and two key ids of long did:peer DIDs fit. */
const maxHeaderLength = 65_536

/** The id of a key in a DID document: an absolute DID URL with a fragment. */
export const KeyId = z
  .string()
  .regex(/^did:[a-z0-9]+:[^#\s]+#[^#\s]+$/, 'is not the id of a key, a DID and a fragment')

const refused = z.never('is not supported').optional()

/**
 * Header members that are refused: `zip` and `p2c` let a small message cost much memory or time, and `crit`
 * (RFC 7515 §4.1.11) demands extensions. Other unknown members are ignored. `jwk` and `jku` are among them:
 * keys come from DID documents only.
 */
export const forbidden = { zip: refused, crit: refused, b64: refused, p2c: refused, p2s: refused }

/**
 * Decodes a protected header (RFC 7515 §4, RFC 7516 §4): canonical base64url of a JSON object in UTF-8,
 * without duplicate member names.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` with the reason.
 */
export function readProtected<Header extends z.ZodType>(text: string, Header: Header): z.output<Header> {
  if (text.length > maxHeaderLength) refuse('the protected header is too long')
  let value: unknown
  try {
    value = parseJson(fromStrictBase64url(text))
  } catch (error) {
    refuse(`the protected header ${reasonOf(error)}`, error)
  }
  const parsed = Header.safeParse(value)
  return parsed.success
    ? parsed.data
    : refuse(`the protected header is not supported, ${reasonOf(parsed.error)}`)
}

/** Decodes a base64url member of an envelope. @throws {Problem} `UnpackingFailed` */
export function decodeMember(text: string, name: string): Buffer {
  try {
    return fromStrictBase64url(text)
  } catch (error) {
    refuse(`${name} ${reasonOf(error)}`, error)
  }
}

/**
 * The public key with this id, if its DID document lists it for the purpose.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when the DID does not resolve or has no
 * such key. Temporary errors of the resolver, such as `error:ServiceUnavailable`, are rethrown.
 */
export async function getKey(resolve: Resolve, kid: string, purpose: Purpose): Promise<PublicJwk> {
  const did = didOf(kid)
  let document: DidDocument
  try {
    document = await resolve(did)
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error)) throw error
    refuse(`${did} does not resolve, ${reasonOf(error)}`, error)
  }
  if (document.id !== did) refuse(`${did} resolves to the document of another DID`)
  const key = keysFor(document, purpose).find(({ id }) => id === kid)
  return key?.publicKeyJwk ?? refuse(`${kid} is not a key for ${purpose} of its DID`)
}
