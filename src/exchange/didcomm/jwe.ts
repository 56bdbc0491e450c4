/**
 * Encrypted envelopes: JWE in general JSON serialization (RFC 7516 §7.2.1) with the algorithms of DIDComm
 * v2.1. `parseEnvelope` checks what can be checked without a key, `openEnvelope` decrypts.
 *
 * An envelope is parsed once: the HTTP server reads the recipient from it, and `unpack` decrypts the same
 * object. A flattened JWE is refused, as in the Cloud Agent.
 */
import { hash } from 'node:crypto'
import * as z from 'zod'
import { fromUtf8, toBase64url, utf8 } from '../../foundation/bytes.ts'
import { MediaType } from '../../foundation/media-type.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { agree, type PrivateJwk, type PublicJwk } from '../../foundation/crypto/keys.ts'
import { didOf } from '../../did/document.ts'
import { contentCiphers, contentEncryptions } from './content.ts'
import { decodeMember, forbidden, KeyId, readProtected } from './jose.ts'
import { parseJson } from '../../foundation/json.ts'
import { agreementCurves, concatKdf, otherInfo, unwrapKey } from './kdf.ts'
import { refuse } from './message.ts'

/** The media type of encrypted messages, also the `typ` of their header. */
export const encryptedType = 'application/didcomm-encrypted+json'

/** Limit on the recipient keys of an envelope. They all belong to one DID. */
const maxRecipients = 100

const Jwe = z.object({
  protected: z.string(),
  recipients: z
    .array(z.object({ header: z.object({ kid: KeyId }), encrypted_key: z.string() }))
    .min(1)
    .max(maxRecipients),
  iv: z.string(),
  ciphertext: z.string(),
  tag: z.string(),
})

const JweHeader = z.object({
  typ: MediaType(encryptedType).optional(),
  alg: z.enum(['ECDH-1PU+A256KW', 'ECDH-ES+A256KW']),
  enc: z.enum(contentEncryptions),
  epk: z.object({
    kty: z.enum(['OKP', 'EC']),
    crv: z.enum(agreementCurves),
    x: z.string(),
    y: z.string().optional(),
  }),
  apv: z.string(),
  /** Null means absent: didcomm-rust writes it in anoncrypt. */
  apu: z.string().nullish(),
  skid: KeyId.nullish(),
  ...forbidden,
})

/** A well-formed and consistent envelope. Nothing in it is authenticated before it is decrypted. */
export type Envelope = {
  /** The ids of the recipient keys, all of one DID. */
  kids: string[]
  /** The id of the sender's key (authcrypt only). */
  senderKid?: string
  jwe: z.infer<typeof Jwe>
  header: z.infer<typeof JweHeader>
  apu: Uint8Array
  apv: Uint8Array
}

/** A private key and its id in a DID document. */
export type PrivateKey = { kid: string; privateJwk: PrivateJwk }

/**
 * Parses the JSON text of an envelope. The caller has limited its size.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when it is not a supported encrypted
 * message.
 */
export function parseEnvelope(raw: string | Uint8Array): Envelope {
  let value: unknown
  try {
    value = parseJson(raw)
  } catch (error) {
    refuse(`the envelope ${reasonOf(error)}`, error)
  }
  return toEnvelope(value)
}

/** Checks a parsed JSON value as an envelope. @throws {Problem} `UnpackingFailed` */
export function toEnvelope(value: unknown): Envelope {
  const parsed = Jwe.safeParse(value)
  if (!parsed.success)
    refuse(`the envelope is not a JWE in general JSON serialisation, ${reasonOf(parsed.error)}`)
  const jwe = parsed.data
  const kids = jwe.recipients.map(({ header }) => header.kid)
  if (new Set(kids).size !== kids.length) refuse('the envelope names a recipient key twice')
  if (new Set(kids.map(didOf)).size !== 1) refuse('the envelope is for several DIDs, send each its own')

  const header = readProtected(jwe.protected, JweHeader)
  const apv = apvOf(kids)
  if (header.apv !== toBase64url(apv)) {
    decodeMember(header.apv, 'apv')
    refuse('apv is not the hash of the recipient keys')
  }
  const apu = decodeMember(header.apu ?? '', 'apu')
  if (header.alg === 'ECDH-ES+A256KW') {
    if (header.skid != null) refuse('skid names a sender, but ECDH-ES has none')
    return { kids, jwe, header, apu, apv }
  }
  if (header.enc !== 'A256CBC-HS512') refuse(`ECDH-1PU needs A256CBC-HS512, not ${header.enc}`)
  return { kids, senderKid: senderOf(apu, header.skid), jwe, header, apu, apv }
}

/** True for parsed JSON that claims to be a JWE. */
export function isJwe(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'ciphertext' in value && 'protected' in value
}

/**
 * The `apv` of recipient keys: SHA-256 of the sorted ids, joined with dots (DIDComm v2.1, "ECDH-1PU key
 * wrapping and common protected headers").
 */
export function apvOf(kids: readonly string[]): Uint8Array {
  return hash('sha256', kids.toSorted().join('.'), 'buffer')
}

/**
 * Decrypts an envelope with the private key of one of its recipients. `senderJwk` is required for authcrypt,
 * and absent for anoncrypt.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when a key is on another curve than the
 * message, an ephemeral point is not on its curve, or the envelope was changed.
 */
export function openEnvelope(envelope: Envelope, recipient: PrivateKey, senderJwk?: PublicJwk): Uint8Array {
  const { jwe, header, apu, apv } = envelope
  const { crv } = header.epk
  if (recipient.privateJwk.crv !== crv)
    refuse(`epk is on ${crv}, but the recipient key on ${recipient.privateJwk.crv}`)
  if (senderJwk && senderJwk.crv !== crv) refuse(`epk is on ${crv}, but the sender's key on ${senderJwk.crv}`)
  const wrapped = decodeMember(
    jwe.recipients[envelope.kids.indexOf(recipient.kid)]!.encrypted_key,
    'encrypted_key',
  )
  const [iv, ciphertext, tag] = [
    decodeMember(jwe.iv, 'iv'),
    decodeMember(jwe.ciphertext, 'ciphertext'),
    decodeMember(jwe.tag, 'tag'),
  ]
  const cipher = contentCiphers[header.enc]
  if (iv.length !== cipher.ivLength)
    refuse(`iv has ${iv.length} bytes, ${header.enc} takes ${cipher.ivLength}`)
  if (tag.length !== cipher.tagLength)
    refuse(`tag has ${tag.length} bytes, ${header.enc} takes ${cipher.tagLength}`)
  try {
    const secrets = [agree(recipient.privateJwk, header.epk as PublicJwk, { isPassing: true })]
    if (senderJwk) secrets.push(agree(recipient.privateJwk, senderJwk))
    const info = otherInfo({ algorithm: header.alg, apu, apv, ...(senderJwk && { tag }) })
    const wrappingKey = concatKdf(secrets, info)
    const key = unwrapKey(wrappingKey, wrapped)
    for (const secret of [...secrets, wrappingKey]) secret.fill(0)
    if (key.length !== cipher.keyLength) throw new TypeError('the content key has another length')
    const plaintext = cipher.open(key, iv, ciphertext, tag, utf8(jwe.protected))
    key.fill(0)
    return plaintext
  } catch (error) {
    // One message for every cause, so that the sender does not learn which step failed.
    refuse('the envelope cannot be decrypted with the keys it names', error)
  }
}

/**
 * The id of the sender's key: `apu` is required, `skid` may repeat it (DIDComm v2.1, "ECDH-1PU key wrapping
 * and common protected headers").
 */
function senderOf(apu: Uint8Array, skid: string | null | undefined): string {
  let named: string
  try {
    named = fromUtf8(apu)
  } catch (error) {
    refuse('apu is not UTF-8', error)
  }
  // The header schema has checked `skid`.
  if (named !== skid && !KeyId.safeParse(named).success) refuse('apu is not the id of a key')
  if (skid != null && skid !== named) refuse('skid and apu name different keys')
  return named
}
