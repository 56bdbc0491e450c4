/** JWTs by their `typ` and their claims, and the header of a JWE in compact form. */
import { fromStrictBase64url } from '../../foundation/bytes.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../foundation/json.ts'
import { isMediaType } from '../../foundation/media-type.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { decodeHeader, decodePayload } from '../../credentials/codecs/jws.ts'
import { decodeClaims } from '../../credentials/codecs/jwt-vc.ts'
import {
  check,
  type Decoded,
  decodedOf,
  type Facts,
  idOf,
  reading,
  type Sources,
  textOf,
  timeOf,
} from './decoded.ts'
import { requestFacts } from './authorization-request.ts'
import { issuerMetadata } from './openid.ts'
import { headerFacts, signatureOf } from './signature.ts'
import { listCredentialFacts, listTokenFacts } from './status-list.ts'

/**
 * A kind of JWT: the signs by which it is recognised, and a function that reads the members which not every
 * JWT has.
 */
type Kind = {
  kind: string
  title: string
  /** The `typ` of its header. */
  typ?: readonly string[]
  /** Whether the payload is one of this kind, whatever the `typ` is. */
  has?: (payload: JsonObject) => boolean
  read?: (text: string, payload: JsonObject, sources: Sources) => Promise<Partial<Decoded>>
}

const vcOf = (payload: JsonObject) => (isJsonObject(payload['vc']) ? payload['vc'] : payload)
const typesOf = (payload: JsonObject) => [vcOf(payload)['type']].flat()

// prettier-ignore
const kinds: readonly Kind[] = [
  { kind: 'status-list-token', title: 'Token Status List', typ: ['statuslist+jwt'], read: async (_, payload) => ({ facts: listTokenFacts(payload) }) },
  { kind: 'authorization-request', title: 'OpenID4VP authorization request (request object)', typ: ['oauth-authz-req+jwt'], has: ({ dcql_query: query }) => query !== undefined, read: async (_, payload) => ({ facts: requestFacts(payload) }) },
  { kind: 'key-binding', title: 'key binding of an SD-JWT', typ: ['kb+jwt'] },
  { kind: 'issuer-metadata', title: 'signed metadata of a credential issuer', typ: ['openidvci-issuer-metadata+jwt'], read: async (_, payload) => pick(issuerMetadata(payload)) },
  { kind: 'key-proof', title: 'OpenID4VCI key proof', typ: ['openid4vci-proof+jwt'] },
  { kind: 'key-attestation', title: 'key attestation', typ: ['key-attestation+jwt', 'keyattestation+jwt'] },
  { kind: 'dpop-proof', title: 'DPoP proof', typ: ['dpop+jwt'] },
  { kind: 'client-attestation', title: 'client attestation', typ: ['oauth-client-attestation+jwt'] },
  { kind: 'client-attestation-proof', title: 'proof of a client attestation', typ: ['oauth-client-attestation-pop+jwt'] },
  { kind: 'access-token', title: 'access token', typ: ['at+jwt'] },
  { kind: 'status-list-credential', title: 'status list credential (JWT)', has: (payload) => typesOf(payload).some((type) => /^(BitstringStatusList|StatusList2021)Credential$/.test(String(type))), read: async (text) => ({ facts: listCredentialFacts(text) }) },
  { kind: 'jwt-vp', title: 'verifiable presentation (JWT)', has: ({ vp }) => isJsonObject(vp), read: readPresentation },
  { kind: 'jwt-vc', title: 'verifiable credential (JWT)', has: (payload) => typesOf(payload).includes('VerifiableCredential'), read: readCredential },
]

/** @throws {DecodeError} */
export async function decodeJwt(text: string, sources: Sources): Promise<Decoded> {
  const form = 'a JWT (three parts with dots between them)'
  const header = reading(form, 'header', () => decodeHeader(text))
  const payload = reading(form, 'payload', () => decodePayload(text))
  const known =
    kinds.find(({ typ }) => isMediaType(header['typ'], ...(typ ?? []))) ??
    kinds.find(({ has }) => has?.(payload))
  const { kind, title, read } = known ?? { kind: 'jwt', title: 'JWT' }
  const more = read ? await read(text, payload, sources).catch(toFailure) : {}
  const facts = { type: textOf(header['typ']), ...headerFacts(header), ...claimFacts(payload), ...more.facts }
  const signature = await signatureOf(text, payload['iss'] ?? payload['issuer'], sources)
  const checks = [signature, ...(more.checks ?? [])]
  return decodedOf(kind, title, facts, { checks, content: { header, payload }, parts: more.parts ?? [] })
}

/** The token can be shown, although it is malformed for its kind. */
function toFailure(error: unknown): Partial<Decoded> {
  return { checks: [{ name: 'form', result: 'failed', detail: reasonOf(error) }] }
}

/** The registered claims of a JWT (RFC 7519 §4.1) for people. */
export function claimFacts({ iss, sub, aud, nonce, iat, nbf, exp, jti }: JsonObject): Facts {
  return {
    issuer: idOf(iss),
    subject: idOf(sub),
    audience: textOf(aud),
    nonce: textOf(nonce),
    id: textOf(jti),
    issued: timeOf(iat),
    'valid from': timeOf(nbf),
    expires: timeOf(exp),
  }
}

async function readCredential(text: string, payload: JsonObject): Promise<Partial<Decoded>> {
  const { type, credentialSchema, credentialStatus, credentialSubject, validFrom, validUntil } = vcOf(payload)
  const dateOf = (value: unknown) =>
    typeof value === 'string' && Date.parse(value) ? new Date(value) : undefined
  const time = {
    ...(validFrom !== undefined && { 'valid from': dateOf(validFrom) }),
    ...(validUntil !== undefined && { expires: dateOf(validUntil) }),
  }
  const subjects = [credentialSubject].flat().filter(isJsonObject)
  const subject = [...new Set(subjects.flatMap(Object.keys))].filter((name) => name !== 'id')
  return {
    facts: {
      types: textOf(type),
      claims: subject,
      schemas: [credentialSchema ?? []].flat().map((each) => idOf(each)!),
      status: statusesOf(credentialStatus),
      ...time,
    },
    checks: [await check('form', 'a credential that this agent reads', () => decodeClaims(text))],
  }
}

/** The entries of `credentialStatus`: the list and the index of each. */
export function statusesOf(status: unknown): string[] {
  return [status ?? []].flat().map((entry: unknown) => {
    if (!isJsonObject(entry)) return JSON.stringify(entry)
    const { type, statusPurpose: purpose, statusListIndex: index, statusListCredential: list } = entry
    return [
      type,
      purpose,
      index !== undefined && `index ${idOf(index)}`,
      list !== undefined && `of ${idOf(list)}`,
    ]
      .filter(Boolean)
      .join(' ')
  })
}

async function readPresentation(_: string, payload: JsonObject, sources: Sources): Promise<Partial<Decoded>> {
  const { verifiableCredential: credentials, holder } = payload['vp'] as JsonObject
  const tokens = [credentials ?? []].flat().filter((each) => typeof each === 'string')
  const parts: Decoded[] = []
  for (const token of tokens) parts.push(await sources.decode(token))
  return { facts: { holder: idOf(holder), credentials: tokens.length }, parts }
}

const pick = ({ facts, checks }: Decoded) => ({ facts, checks })

/** A JWE in compact form: only the recipient can read more than its header. @throws {DecodeError} */
export function decodeJwe(text: string): Decoded {
  const form = 'a JWE (five parts with dots between them)'
  const header = reading(form, 'header', () => {
    const value = parseJson(fromStrictBase64url(text.split('.', 1)[0]!))
    if (!isJsonObject(value)) throw new TypeError('is not a JSON object')
    return value
  })
  const { algorithm, key } = headerFacts(header)
  const facts = {
    type: textOf(header['typ']),
    algorithm,
    encryption: textOf(header['enc']),
    key,
    'content type': textOf(header['cty']),
    compression: textOf(header['zip']),
  }
  return decodedOf('jwe', 'JWE, encrypted: only its header can be read', facts, { content: { header } })
}
