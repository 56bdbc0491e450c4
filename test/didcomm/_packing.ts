/** Repeats the steps of packing with the random values of an envelope, and expects its bytes. */
import { expect } from 'vitest'
import { fromUtf8, toBase64url, toHex, utf8 } from '../../src/base/bytes.ts'
import { agree, type PrivateJwk, type PublicJwk, toPublic } from '../../src/crypto/keys.ts'
import { contentCiphers } from '../../src/didcomm/content.ts'
import { isJwe, openEnvelope, parseEnvelope, apvOf, type Envelope } from '../../src/didcomm/jwe.ts'
import { withoutNulls } from '../../src/base/json.ts'
import { concatKdf, otherInfo, unwrapKey, wrapKey } from '../../src/didcomm/kdf.ts'
import { encrypt } from '../../src/didcomm/pack.ts'

/** Keys by their ids: those of the sender, and of the recipients that are held. */
export type Keys = ReadonlyMap<string, PrivateJwk>

/**
 * Values on the way that a vector prints: the content key, and the wrapping key for each recipient, in
 * hexadecimal.
 */
export type Derived = { cek: string; kek: Record<string, string> }

/** An envelope, and the text in it. */
export type Peeled = { envelope: Envelope; content: string }

/** The envelopes in one another, from the outside in, opened with whatever key is held. */
export function peel(text: string, keys: Keys): Peeled[] {
  if (!isJwe(JSON.parse(text))) return []
  const envelope = parseEnvelope(text)
  const kid = envelope.kids.find((candidate) => keys.has(candidate))!
  const sender = envelope.senderKid === undefined ? undefined : toPublic(keys.get(envelope.senderKid)!)
  const content = fromUtf8(openEnvelope(envelope, { kid, privateJwk: keys.get(kid)! }, sender))
  return [{ envelope, content }, ...peel(content, keys)]
}

/**
 * Packs what is in an envelope with its ephemeral key, content key and iv, and expects its bytes. The
 * ephemeral secret is gone, so its agreement is done from the other side; that of the static keys is done as
 * the sender does it.
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
 * The same envelopes around the same content, packed afresh: only what is random differs, and the `typ` of an
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
