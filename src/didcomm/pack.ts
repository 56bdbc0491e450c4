/**
 * Makes encrypted messages: authcrypt and anoncrypt of DIDComm v2.1, with the header members and their order as the real
 * agent writes them (wire.md 12.3).
 *
 * The sender's own mistakes, such as a `from` that is not the DID of the key, are bugs and throw a `TypeError`: the
 * receiver would refuse the message.
 */
import { randomBytes } from 'node:crypto'
import { toBase64url, utf8 } from '../base/bytes.ts'
import { agree, type PublicJwk } from '../crypto/keys.ts'
import { didOf } from '../did/document.ts'
import { contentCiphers, type ContentEncryption } from './content.ts'
import { encryptedType, type OwnKey, partyOf } from './jwe.ts'
import { concatKdf, generateEphemeral, otherInfo, wrapKey } from './kdf.ts'
import { type PlaintextMessage, writeMessage } from './message.ts'

/** A key a message is encrypted to. All of a message are of one DID, and on one curve. */
export type Recipient = { kid: string; publicJwk: PublicJwk }

/**
 * Encrypts a message so that its recipients, and they alone, know who wrote it: ECDH-1PU+A256KW with A256CBC-HS512.
 *
 * @returns the envelope, JSON text to be sent as `application/didcomm-encrypted+json`.
 */
export function packAuthcrypt(
  message: PlaintextMessage,
  { sender, recipients }: { sender: OwnKey; recipients: Recipient[] },
): string {
  if (message.from !== didOf(sender.kid))
    throw new TypeError(`from is ${message.from}, but the sending key is ${sender.kid}`)
  return encrypt(toPlaintext(message, recipients), { sender, recipients, enc: 'A256CBC-HS512' })
}

/**
 * Encrypts a message without telling who wrote it: ECDH-ES+A256KW, as forwards are sent to mediators.
 *
 * @returns the envelope, JSON text to be sent as `application/didcomm-encrypted+json`.
 */
export function packAnoncrypt(
  message: PlaintextMessage,
  { recipients, enc }: { recipients: Recipient[]; enc?: ContentEncryption },
): string {
  return encrypt(toPlaintext(message, recipients), { recipients, enc: enc ?? 'XC20P' })
}

/** Encrypts any bytes into a JWE of general JSON serialisation: with a sender by ECDH-1PU, without one by ECDH-ES. */
export function encrypt(
  plaintext: Uint8Array,
  { sender, recipients, enc }: { sender?: OwnKey; recipients: Recipient[]; enc: ContentEncryption },
): string {
  const kids = recipients.map(({ kid }) => kid)
  if (new Set(kids.map(didOf)).size !== 1) throw new TypeError('a message is encrypted to keys of one DID')
  const ephemeral = generateEphemeral(recipients[0]!.publicJwk.crv)
  const { apv, apvText } = partyOf(kids)
  const [epk, apu] = [ephemeral.publicJwk, utf8(sender?.kid ?? '')]
  const algorithm = sender ? 'ECDH-1PU+A256KW' : 'ECDH-ES+A256KW'
  const header = sender
    ? { epk, apv: apvText, skid: sender.kid, apu: toBase64url(apu), typ: encryptedType, enc, alg: algorithm }
    : { epk, apv: apvText, enc, alg: algorithm }
  const protectedHeader = toBase64url(JSON.stringify(header))

  const cipher = contentCiphers[enc]
  const random = randomBytes(cipher.keyLength + cipher.ivLength)
  const [key, iv] = [random.subarray(0, cipher.keyLength), random.subarray(cipher.keyLength)]
  const { ciphertext, tag } = cipher.seal(key, iv, plaintext, utf8(protectedHeader))

  // ECDH-1PU binds the wrapping keys to the tag, so the content is encrypted first.
  const info = otherInfo({ algorithm, apu, apv, ...(sender && { tag }) })
  const wrapFor = (theirs: PublicJwk) => {
    const secrets = [ephemeral.agree(theirs)]
    if (sender) secrets.push(agree(sender.privateJwk, theirs))
    const wrappingKey = concatKdf(secrets, info)
    const wrapped = wrapKey(wrappingKey, key)
    for (const secret of [...secrets, wrappingKey]) secret.fill(0)
    return toBase64url(wrapped)
  }
  const wrapped = recipients.map(({ kid, publicJwk }) => ({
    encrypted_key: wrapFor(publicJwk),
    header: { kid },
  }))
  key.fill(0)
  return JSON.stringify({
    ciphertext: toBase64url(ciphertext),
    protected: protectedHeader,
    recipients: wrapped,
    tag: toBase64url(tag),
    iv: toBase64url(iv),
  })
}

function toPlaintext(message: PlaintextMessage, recipients: Recipient[]): Uint8Array {
  const stranger = message.to?.length
    ? recipients.find(({ kid }) => !message.to!.includes(didOf(kid)))
    : undefined
  if (stranger) throw new TypeError(`to does not name the DID of ${stranger.kid}`)
  return writeMessage(message)
}
