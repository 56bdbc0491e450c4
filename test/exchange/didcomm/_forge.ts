/**
 * Forges envelopes: every byte is consistent with the changed header, so that only the rule under test can
 * refuse the envelope.
 */
import { randomBytes, sign as signBytes } from 'node:crypto'
import { toBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import { agree, sign } from '../../../src/foundation/crypto/keys.ts'
import { contentCiphers, type ContentEncryption } from '../../../src/exchange/didcomm/content.ts'
import { apvOf, type PrivateKey } from '../../../src/exchange/didcomm/jwe.ts'
import { concatKdf, generateEphemeral, otherInfo, wrapKey } from '../../../src/exchange/didcomm/kdf.ts'
import type { Recipient } from '../../../src/exchange/didcomm/pack.ts'
import { newMessage, own, recipient } from './_people.ts'

type Header = Record<string, unknown> & {
  apu?: string | undefined
  apv?: string | undefined
  alg?: string
  enc?: string
}

export type Forgery = {
  /** Text, or a value written as JSON. */
  plaintext: unknown
  recipients: Recipient[]
  sender?: PrivateKey
  enc?: ContentEncryption
  /** The content key. Default: random, of the right length. */
  contentKey?: Uint8Array
  /** Changes the protected header before anything is derived from it. Undefined removes a member. */
  header?: Header
  /** Rewrites the JSON text of the header. */
  headerText?: (json: string) => string
  /** Changes the finished envelope. */
  envelope?: (jwe: Record<string, unknown>) => unknown
}

export function forge({
  plaintext,
  recipients,
  sender,
  enc = 'A256CBC-HS512',
  header: changes,
  headerText,
  envelope,
  contentKey,
}: Forgery): string {
  const ephemeral = generateEphemeral(recipients[0]!.publicJwk.crv)
  const header: Header = {
    epk: ephemeral.publicJwk,
    apv: toBase64url(apvOf(recipients.map(({ kid }) => kid))),
    ...(sender && { skid: sender.kid, apu: toBase64url(utf8(sender.kid)) }),
    enc,
    alg: sender ? 'ECDH-1PU+A256KW' : 'ECDH-ES+A256KW',
    ...changes,
  }
  const json = JSON.stringify(header)
  const protectedHeader = toBase64url(headerText ? headerText(json) : json)
  const cipher = contentCiphers[enc]
  const [key, iv] = [contentKey ?? randomBytes(cipher.keyLength), randomBytes(cipher.ivLength)]
  const content = utf8(typeof plaintext === 'string' ? plaintext : JSON.stringify(plaintext))
  const { ciphertext, tag } = cipher.seal(key, iv, content, utf8(protectedHeader))
  const decoded = (text: string | undefined) => Buffer.from(text ?? '', 'base64url')
  const context = {
    algorithm: header.alg ?? '',
    apu: decoded(header.apu),
    apv: decoded(header.apv),
    ...(sender && { tag }),
  }
  const jwe = {
    ciphertext: toBase64url(ciphertext),
    protected: protectedHeader,
    recipients: recipients.map(({ kid, publicJwk }) => {
      const secrets = [ephemeral.agree(publicJwk)]
      if (sender) secrets.push(agree(sender.privateJwk, publicJwk))
      return {
        encrypted_key: toBase64url(wrapKey(concatKdf(secrets, otherInfo(context)), key)),
        header: { kid },
      }
    }),
    tag: toBase64url(tag),
    iv: toBase64url(iv),
  }
  return JSON.stringify(envelope ? envelope(jwe) : jwe)
}

const algorithms: Record<string, string> = { Ed25519: 'EdDSA', 'P-256': 'ES256', secp256k1: 'ES256K' }

/** Signs a value as a general JWS, once for each signer. */
export function signed(payload: unknown, signers: PrivateKey[], header: Record<string, unknown> = {}) {
  const text = toBase64url(typeof payload === 'string' ? payload : JSON.stringify(payload))
  return {
    payload: text,
    signatures: signers.map(({ kid, privateJwk }) => {
      const json = JSON.stringify({
        typ: 'application/didcomm-signed+json',
        alg: algorithms[privateJwk.crv],
        ...header,
      })
      const data = utf8(`${toBase64url(json)}.${text}`)
      const signature =
        privateJwk.crv === 'P-256'
          ? signBytes('sha256', data, { key: { ...privateJwk }, format: 'jwk', dsaEncoding: 'ieee-p1363' })
          : sign(privateJwk, data)
      return { protected: toBase64url(json), signature: toBase64url(signature), header: { kid } }
    }),
  }
}

/** A forged authcrypt envelope from anna to ben. */
export const forged = (changes: Partial<Forgery> = {}) =>
  forge({ plaintext: newMessage(), sender: own('anna'), recipients: [recipient('ben')], ...changes })

/** A forged anoncrypt envelope to ben. */
export const anonymous = (plaintext: unknown = newMessage(), changes: Partial<Forgery> = {}) =>
  forge({ plaintext, recipients: [recipient('ben')], enc: 'XC20P', ...changes })

export type Jwe = Record<string, unknown> & { protected: string; recipients: Record<string, unknown>[] }

/** A forged authcrypt envelope with a changed JWE. */
export const edited = (edit: (jwe: Jwe) => unknown) => forged({ envelope: (jwe) => edit(jwe as Jwe) })
