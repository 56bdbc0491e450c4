/**
 * Encrypts messages: authcrypt, anoncrypt and forwards (DIDComm v2.1, "DIDComm Encrypted Messages", "Routing
 * Protocol 2.0"). Header members have the order of the Cloud Agent's.
 *
 * A message that the receiver would refuse, such as one whose `from` is not the DID of the sending key, is a
 * bug and throws a `TypeError`.
 */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { toBase64url, utf8 } from '../../foundation/bytes.ts'
import { agree, type PublicJwk } from '../../foundation/crypto/keys.ts'
import { didOf } from '../../did/document.ts'
import { contentCiphers, type ContentEncryption } from './content.ts'
import { apvOf, encryptedType, type PrivateKey } from './jwe.ts'
import { concatKdf, generateEphemeral, otherInfo, wrapKey } from './kdf.ts'
import { attachmentJson, type PlaintextMessage, writeMessage } from './message.ts'
import type { Hop } from './route.ts'

/** A public key to encrypt to. All recipients of a message are keys of one DID, on one curve. */
export type Recipient = { kid: string; publicJwk: PublicJwk }

/**
 * Encrypts a message with sender authentication: ECDH-1PU+A256KW and A256CBC-HS512. Returns the JSON text of
 * `application/didcomm-encrypted+json`.
 */
export function packAuthcrypt(
  message: PlaintextMessage,
  { sender, recipients }: { sender: PrivateKey; recipients: Recipient[] },
): string {
  if (message.from !== didOf(sender.kid))
    throw new TypeError(`from is ${message.from}, but the sending key is ${sender.kid}`)
  return encrypt(toPlaintext(message, recipients), { sender, recipients, enc: 'A256CBC-HS512' })
}

/** As `packAuthcrypt`, but anonymously: ECDH-ES+A256KW, XC20P by default. */
export function packAnoncrypt(
  message: PlaintextMessage,
  { recipients, enc }: { recipients: Recipient[]; enc?: ContentEncryption },
): string {
  return encrypt(toPlaintext(message, recipients), { recipients, enc: enc ?? 'XC20P' })
}

/** Encrypts bytes to a JWE in general JSON serialization: ECDH-1PU with a sender, ECDH-ES without. */
export function encrypt(
  plaintext: Uint8Array,
  { sender, recipients, enc }: { sender?: PrivateKey; recipients: Recipient[]; enc: ContentEncryption },
): string {
  const kids = recipients.map(({ kid }) => kid)
  if (new Set(kids.map(didOf)).size !== 1) throw new TypeError('a message is encrypted to keys of one DID')
  const ephemeral = generateEphemeral(recipients[0]!.publicJwk.crv)
  const apv = apvOf(kids)
  const [epk, apu] = [ephemeral.publicJwk, utf8(sender?.kid ?? '')]
  const algorithm = sender ? 'ECDH-1PU+A256KW' : 'ECDH-ES+A256KW'
  const header = sender
    ? {
        epk,
        apv: toBase64url(apv),
        skid: sender.kid,
        apu: toBase64url(apu),
        typ: encryptedType,
        enc,
        alg: algorithm,
      }
    : { epk, apv: toBase64url(apv), enc, alg: algorithm }
  const protectedHeader = toBase64url(JSON.stringify(header))

  const cipher = contentCiphers[enc]
  const random = randomBytes(cipher.keyLength + cipher.ivLength)
  const [key, iv] = [random.subarray(0, cipher.keyLength), random.subarray(cipher.keyLength)]
  const { ciphertext, tag } = cipher.seal(key, iv, plaintext, utf8(protectedHeader))

  // ECDH-1PU binds the wrapping keys to the tag (draft-madden-jose-ecdh-1pu-04 §2.3), so the content is
  // encrypted first.
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

export const forwardType = 'https://didcomm.org/routing/2.0/forward'

/** `next` is the DID, or the key id, of the recipient of the attached envelope. */
export const ForwardBody = z.looseObject({ next: z.string().min(1).max(4_000) })

/**
 * Wraps an envelope (JSON text) in a forward for every hop, starting with the hop next to the recipient.
 * `newId` makes message ids.
 *
 * @returns the envelope for the last hop, JSON text to be sent as `application/didcomm-encrypted+json`.
 */
export function wrapForward(envelope: string, hops: readonly Hop[], newId: () => string): string {
  return hops.reduce((inner, { next, did, recipient }) => {
    const attachment = { id: newId(), data: { json: JSON.parse(inner) as unknown } }
    const forward = { id: newId(), type: forwardType, to: [did], body: { next }, attachments: [attachment] }
    return packAnoncrypt(forward, { recipients: [recipient] })
  }, envelope)
}

/**
 * Reads a forward: the next hop, and the attached envelopes as parsed JSON.
 *
 * @throws {z.ZodError} when there is no `next`.
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when an attachment cannot be read.
 */
export function readForward({ body, attachments = [] }: PlaintextMessage): {
  next: string
  envelopes: unknown[]
} {
  return { next: ForwardBody.parse(body).next, envelopes: attachments.map(attachmentJson) }
}
