/**
 * The encrypted envelope: JWE in general JSON serialisation (RFC 7516 §7.2.1) with the algorithms of DIDComm v2.1, read
 * and checked as far as that goes without a key, and opened with one.
 *
 * The envelope is parsed once: the HTTP side asks it for the recipient, and `unpack` opens the same object. A flattened
 * JWE is refused, as the real agent refuses it (wire.md 1.1).
 */
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { fromUtf8, toBase64url, utf8 } from '../base/bytes.ts'
import { reasonOf } from '../base/reason.ts'
import { agree, type PrivateJwk, type PublicJwk } from '../crypto/keys.ts'
import { didOf } from '../did/document.ts'
import { contentCiphers, contentEncryptions } from './content.ts'
import { fromStrictBase64url, readJson } from './json.ts'
import { agreementCurves, concatKdf, otherInfo, unwrapKey } from './kdf.ts'
import { forbidden, KeyId, readProtected } from './protected.ts'
import { refuse } from './refuse.ts'

/** The media type of an encrypted message, the `typ` of its header. */
export const encryptedType = 'application/didcomm-encrypted+json'

/** The most recipient keys an envelope may name: those of one DID, so a few. */
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
  typ: z.enum([encryptedType, 'didcomm-encrypted+json']).optional(),
  alg: z.enum(['ECDH-1PU+A256KW', 'ECDH-ES+A256KW']),
  enc: z.enum(contentEncryptions),
  epk: z.object({
    kty: z.enum(['OKP', 'EC']),
    crv: z.enum(agreementCurves),
    x: z.string(),
    y: z.string().optional(),
  }),
  apv: z.string(),
  /** Null counts as absent: didcomm-rust has written it in anoncrypt. */
  apu: z.string().nullish(),
  skid: KeyId.nullish(),
  ...forbidden,
})

/** An envelope that is well-formed and consistent in itself; nothing in it is authenticated before it is opened. */
export type Envelope = {
  /** The recipient keys it names, all of one DID. */
  kids: string[]
  /** The sender's key, for authcrypt. */
  senderKid?: string
  jwe: z.infer<typeof Jwe>
  header: z.infer<typeof JweHeader>
  apu: Uint8Array
  apv: Uint8Array
}

/** A key of ours and the id under which a document lists it. */
export type OwnKey = { kid: string; privateJwk: PrivateJwk }

/**
 * Reads an envelope from what came over the network, where whoever took it has seen to its size.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when it is not an encrypted message we could open.
 */
export function parseEnvelope(raw: string | Uint8Array): Envelope {
  let value: unknown
  try {
    value = readJson(raw)
  } catch (error) {
    refuse(`the envelope ${reasonOf(error)}`, error)
  }
  return toEnvelope(value)
}

/** The same from parsed JSON. @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` */
export function toEnvelope(value: unknown): Envelope {
  const parsed = Jwe.safeParse(value)
  if (!parsed.success)
    refuse(`the envelope is not a JWE in general JSON serialisation, ${reasonOf(parsed.error)}`)
  const jwe = parsed.data
  const kids = jwe.recipients.map(({ header }) => header.kid)
  if (new Set(kids).size !== kids.length) refuse('the envelope names a recipient key twice')
  if (new Set(kids.map(didOf)).size !== 1) refuse('the envelope is for several DIDs, send each its own')

  const header = readProtected(jwe.protected, JweHeader)
  const { apv, apvText } = partyOf(kids)
  if (header.apv !== apvText) {
    decode(header.apv, 'apv')
    refuse('apv is not the hash of the recipient keys')
  }
  const apu = decode(header.apu ?? '', 'apu')
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

/** The `apv` of a list of recipient keys: SHA-256 of the sorted ids, joined with dots (DIDComm v2.1, ECDH-1PU key wrapping). */
export function apvOf(kids: string[]): Uint8Array {
  return partyOf(kids).apv
}

type Party = { apv: Uint8Array; apvText: string }

/** Those of our keys, and of those of peers, come again with each of their messages. */
const parties = new LRUCache<string, Party>({ max: 500 })
const longestKept = 1_000

/** The `apv` of a list of recipient keys, to be read only, and the base64url of it. */
export function partyOf(kids: string[]): Party {
  const names = kids.toSorted().join('.')
  const known = parties.get(names)
  if (known) return known
  const apv = hash('sha256', names, 'buffer')
  const party = { apv, apvText: toBase64url(apv) }
  if (names.length <= longestKept) parties.set(names, party)
  return party
}

/**
 * Opens an envelope with one of its recipient keys; `senderJwk` is required for authcrypt and left out otherwise.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when a key is on another curve than the message, an
 * ephemeral point is not on it, or anything was changed on the way.
 */
export function openEnvelope(envelope: Envelope, own: OwnKey, senderJwk?: PublicJwk): Uint8Array {
  const { jwe, header, apu, apv } = envelope
  const { crv } = header.epk
  if (own.privateJwk.crv !== crv) refuse(`epk is on ${crv}, but the recipient key on ${own.privateJwk.crv}`)
  if (senderJwk && senderJwk.crv !== crv) refuse(`epk is on ${crv}, but the sender's key on ${senderJwk.crv}`)
  const wrapped = decode(jwe.recipients[envelope.kids.indexOf(own.kid)]!.encrypted_key, 'encrypted_key')
  const [iv, ciphertext, tag] = [
    decode(jwe.iv, 'iv'),
    decode(jwe.ciphertext, 'ciphertext'),
    decode(jwe.tag, 'tag'),
  ]
  const cipher = contentCiphers[header.enc]
  if (iv.length !== cipher.ivLength)
    refuse(`iv has ${iv.length} bytes, ${header.enc} takes ${cipher.ivLength}`)
  if (tag.length !== cipher.tagLength)
    refuse(`tag has ${tag.length} bytes, ${header.enc} takes ${cipher.tagLength}`)
  try {
    const secrets = [agree(own.privateJwk, header.epk as PublicJwk, { isPassing: true })]
    if (senderJwk) secrets.push(agree(own.privateJwk, senderJwk))
    const info = otherInfo({ algorithm: header.alg, apu, apv, ...(senderJwk && { tag }) })
    const wrappingKey = concatKdf(secrets, info)
    const key = unwrapKey(wrappingKey, wrapped)
    for (const secret of [...secrets, wrappingKey]) secret.fill(0)
    if (key.length !== cipher.keyLength) throw new TypeError('the content key has another length')
    const plaintext = cipher.open(key, iv, ciphertext, tag, utf8(jwe.protected))
    key.fill(0)
    return plaintext
  } catch (error) {
    // One sentence for every cause: which step failed is nobody's business outside.
    refuse('the envelope cannot be decrypted with the keys it names', error)
  }
}

/** The sender's key id: `apu` always holds it, `skid` may repeat it (DIDComm v2.1, ECDH-1PU key wrapping). */
function senderOf(apu: Uint8Array, skid: string | null | undefined): string {
  let named: string
  try {
    named = fromUtf8(apu)
  } catch (error) {
    refuse('apu is not UTF-8', error)
  }
  // A `skid` is known to be one.
  if (named !== skid && !KeyId.safeParse(named).success) refuse('apu is not the id of a key')
  if (skid != null && skid !== named) refuse('skid and apu name different keys')
  return named
}

function decode(text: string, name: string): Buffer {
  try {
    return fromStrictBase64url(text)
  } catch (error) {
    refuse(`${name} ${reasonOf(error)}`, error)
  }
}
