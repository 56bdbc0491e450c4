/**
 * Hybrid Public Key Encryption (RFC 9180) of one message: base mode, DHKEM(P-256, HKDF-SHA256), HKDF-SHA256,
 * AES-128-GCM. Numbers of sections are those of the RFC.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { concat, utf8 } from '../bytes.ts'
import { agree, generateKey, type PrivateJwk, type PublicJwk } from './keys.ts'
import { fromUncompressed, toUncompressed } from './p256.ts'

const cipher = 'aes-128-gcm'
const [keyBytes, nonceBytes, tagBytes, secretBytes] = [16, 12, 16, 32]

/** The identifiers of the KEM, of the KDF and of the AEAD (§7), two bytes each. */
const [kem, kdf, aead] = [0x0010, 0x0001, 0x0001]
const kemSuite = concat(utf8('KEM'), uint16(kem))
const suite = concat(utf8('HPKE'), uint16(kem), uint16(kdf), uint16(aead))

const baseMode = Uint8Array.of(0)
const none = new Uint8Array()

/** `info` and `aad` must be the same at both sides. */
type Context = { info: Uint8Array; aad?: Uint8Array }

export type HpkeMessage = {
  /** The sender's ephemeral public key, an uncompressed point of 65 bytes. */
  enc: Uint8Array
  /** The ciphertext and then its tag of 16 bytes. */
  ciphertext: Uint8Array
}

/** Encrypts one message to a P-256 key. `ephemeral` is a fresh key, which tests choose. */
export function sealBase(
  recipient: PublicJwk,
  plaintext: Uint8Array,
  { info, aad = none }: Context,
  ephemeral: PrivateJwk = generateKey('P-256'),
): HpkeMessage {
  const enc = toUncompressed(ephemeral)
  const { key, nonce } = schedule({ own: ephemeral, other: recipient, enc, recipient, info })
  const sealing = createCipheriv(cipher, key, nonce).setAAD(aad)
  const ciphertext = concat(sealing.update(plaintext), sealing.final(), sealing.getAuthTag())
  key.fill(0)
  return { enc, ciphertext }
}

/**
 * Decrypts one message with a P-256 key.
 *
 * @throws {TypeError} if `enc` is not a point of P-256
 * @throws {Error} if the message was made for another key, `info` or `aad`, or was changed
 */
export function openBase(
  recipient: PrivateJwk,
  { enc, ciphertext }: HpkeMessage,
  { info, aad = none }: Context,
): Uint8Array {
  const { key, nonce } = schedule({ own: recipient, other: fromUncompressed(enc), enc, recipient, info })
  const end = ciphertext.length - tagBytes
  try {
    if (end < 0) throw new TypeError('the ciphertext is shorter than its tag')
    const opening = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(aad)
    opening.setAuthTag(ciphertext.subarray(end))
    return concat(opening.update(ciphertext.subarray(0, end)), opening.final())
  } catch (cause) {
    throw new Error('it was encrypted to another key or for another request, or was changed', { cause })
  } finally {
    key.fill(0)
  }
}

type Agreement = {
  own: PrivateJwk
  other: PublicJwk
  enc: Uint8Array
  recipient: PublicJwk
  info: Uint8Array
}

/** Key and nonce of the first message: Encap or Decap (§4.1), then KeySchedule without PSK (§5.1). */
function schedule({ own, other, enc, recipient, info }: Agreement): { key: Uint8Array; nonce: Uint8Array } {
  const dh = agree(own, other, { isPassing: true })
  const pseudoRandom = labeledExtract(kemSuite, none, 'eae_prk', dh)
  dh.fill(0)
  const kemContext = concat(enc, toUncompressed(recipient))
  const shared = labeledExpand(kemSuite, pseudoRandom, 'shared_secret', kemContext, secretBytes)
  const context = concat(
    baseMode,
    labeledExtract(suite, none, 'psk_id_hash', none),
    labeledExtract(suite, none, 'info_hash', info),
  )
  const secret = labeledExtract(suite, shared, 'secret', none)
  const [key, nonce] = [
    labeledExpand(suite, secret, 'key', context, keyBytes),
    labeledExpand(suite, secret, 'base_nonce', context, nonceBytes),
  ]
  for (const passed of [pseudoRandom, shared, secret]) passed.fill(0)
  return { key, nonce }
}

const version = utf8('HPKE-v1')

/** HKDF-Extract with a label (§4). An empty salt is as one of zeros (RFC 5869 §2.2). */
function labeledExtract(id: Uint8Array, salt: Uint8Array, label: string, secret: Uint8Array): Buffer {
  return createHmac('sha256', salt)
    .update(concat(version, id, utf8(label), secret))
    .digest()
}

/** HKDF-Expand with a label (§4), to at most 32 bytes: one block (RFC 5869 §2.3). */
function labeledExpand(
  id: Uint8Array,
  pseudoRandom: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Uint8Array {
  const labeled = concat(uint16(length), version, id, utf8(label), info, Uint8Array.of(1))
  return createHmac('sha256', pseudoRandom).update(labeled).digest().subarray(0, length)
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 0xff)
}
