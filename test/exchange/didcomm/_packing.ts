/** Repeats the steps of packing with the random values of an envelope, and expects its bytes. */
import { expect } from 'vitest'
import { fromUtf8, toBase64url, toHex, utf8 } from '../../../src/foundation/bytes.ts'
import { agree, type PrivateJwk, type PublicJwk, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { contentCiphers } from '../../../src/exchange/didcomm/content.ts'
import {
  isJwe,
  openEnvelope,
  parseEnvelope,
  apvOf,
  type Envelope,
} from '../../../src/exchange/didcomm/jwe.ts'
import { withoutNulls } from '../../../src/foundation/json.ts'
import { concatKdf, otherInfo, unwrapKey, wrapKey } from '../../../src/exchange/didcomm/kdf.ts'
import { encrypt } from '../../../src/exchange/didcomm/pack.ts'

/** Keys by id: those of the sender, and the available ones of the recipients. */
export type Keys = ReadonlyMap<string, PrivateJwk>

/**
 * Intermediate values that a vector contains: the content key, and the wrapping key for each recipient, in
 * hexadecimal.
 */
export type Derived = { cek: string; kek: Record<string, string> }

/** An envelope, and its plaintext. */
export type Peeled = { envelope: Envelope; content: string }

/** Nested envelopes, from the outside in, decrypted with the available keys. */
export function peel(text: string, keys: Keys): Peeled[] {
  if (!isJwe(JSON.parse(text))) return []
  const envelope = parseEnvelope(text)
  const kid = envelope.kids.find((candidate) => keys.has(candidate))!
  const sender = envelope.senderKid === undefined ? undefined : toPublic(keys.get(envelope.senderKid)!)
  const content = fromUtf8(openEnvelope(envelope, { kid, privateJwk: keys.get(kid)! }, sender))
  return [{ envelope, content }, ...peel(content, keys)]
}

/**
 * Packs the content of an envelope with its ephemeral key, content key and iv, and expects the same bytes.
 * The ephemeral private key is unknown, so its agreement is computed on the recipient's side; that of the
 * static keys is computed on the sender's side.
 */
export function expectPacked({ envelope, content }: Peeled, keys: Keys, derived?: Derived): void {
  const { jwe, header, kids, senderKid } = envelope
  const sender = senderKid === undefined ? undefined : keys.get(senderKid)!
  const apv = apvOf(kids)
  const apu = utf8(senderKid ?? '')
  expect([toBase64url(apv), toBase64url(apu)]).toEqual([header.apv, header.apu ?? ''])
  const info = otherInfo({ algorithm: header.alg, apu, apv, ...(sender && { tag: decoded(jwe.tag) }) })

  let cek = derived && decoded(derived.cek, 'hex')
  for (const { header: recipient, encrypted_key: wrapped } of jwe.recipients) {
    const theirs = keys.get(recipient.kid)
    if (!theirs) continue
    const secrets = [agree(theirs, header.epk as PublicJwk)]
    if (sender) secrets.push(agree(sender, toPublic(theirs)))
    const kek = concatKdf(secrets, info)
    if (derived) expect(toHex(kek)).toBe(derived.kek[recipient.kid])
    cek ??= Buffer.from(unwrapKey(kek, decoded(wrapped)))
    expect(toBase64url(wrapKey(kek, cek))).toBe(wrapped)
  }
  const made = contentCiphers[header.enc].seal(cek!, decoded(jwe.iv), utf8(content), utf8(jwe.protected))
  expect([toBase64url(made.ciphertext), toBase64url(made.tag)]).toEqual([jwe.ciphertext, jwe.tag])
}

/**
 * The same envelopes around the same content, packed again: only random values differ, and the `typ` of
 * anoncrypt.
 */
export function packAgain(
  peeled: readonly Peeled[],
  publicJwkOf: (kid: string) => PublicJwk,
  keys: Keys,
): string {
  return peeled.reduceRight((inner, { envelope: { header, kids, senderKid } }) => {
    const recipients = kids.map((kid) => ({ kid, publicJwk: publicJwkOf(kid) }))
    const sender = senderKid === undefined ? undefined : { kid: senderKid, privateJwk: keys.get(senderKid)! }
    const packed = encrypt(utf8(inner), { recipients, enc: header.enc, ...(sender && { sender }) })
    const { epk: fresh, ...made } = parseEnvelope(packed).header
    const { epk, ...expected } = header
    expect(fresh.crv).toBe(epk.crv)
    expect(fresh).not.toEqual(epk)
    expect({ ...made, typ: expected.typ }).toEqual(withoutNulls(expected))
    return packed
  }, peeled.at(-1)!.content)
}

function decoded(text: string, encoding: 'base64url' | 'hex' = 'base64url'): Buffer {
  return Buffer.from(text, encoding)
}
