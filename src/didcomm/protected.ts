/** The protected header of JWE and JWS (RFC 7515 §4, RFC 7516 §4), read so that no two readers can see different things in it. */
import { z } from 'zod'
import { reasonOf } from '../base/reason.ts'
import { fromStrictBase64url, readStrictJson } from './json.ts'
import { refuse } from './refuse.ts'

/** The longest protected header that is read, in characters: room for an epk and two ids of long did:peer DIDs. */
const maxHeaderLength = 65_536

/** The id of a key in a DID document: an absolute DID URL with a fragment. */
export const KeyId = z
  .string()
  .regex(/^did:[a-z0-9]+:[^#\s]+#[^#\s]+$/, 'is not the id of a key, a DID and a fragment')

const refused = z.never('is not supported').optional()

/**
 * Members no header may have: `zip` makes a kilobyte a gigabyte, `p2c` an hour's work, and `crit` demands what is not
 * understood here. Other unknown members are ignored, a `jwk` or `jku` before all: keys come from DID documents only.
 */
export const forbidden = { zip: refused, crit: refused, b64: refused, p2c: refused, p2s: refused }

/**
 * Decodes a protected header: canonical base64url of UTF-8 of a JSON object without repeated member names.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` naming what is wrong.
 */
export function readProtected<Header extends z.ZodType>(text: string, Header: Header): z.output<Header> {
  if (text.length > maxHeaderLength) refuse('the protected header is too long')
  let value: unknown
  try {
    value = readStrictJson(fromStrictBase64url(text))
  } catch (error) {
    refuse(`the protected header ${reasonOf(error)}`, error)
  }
  const parsed = Header.safeParse(value)
  return parsed.success
    ? parsed.data
    : refuse(`the protected header is not ours to read, ${reasonOf(parsed.error)}`)
}
