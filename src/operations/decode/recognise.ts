/** Recognises a text by its form, and decodes it with the reader of that form. */
import { isJsonObject, type JsonObject, parseJson } from '../../foundation/json.ts'
import { fromBase64, fromUtf8 } from '../../foundation/bytes.ts'
import { checkInvitation, invitationType, parseInvitation } from '../../exchange/didcomm/invitation.ts'
import { findShortUrl } from '../../foundation/net/short-url.ts'
import { findBinary } from './binary.ts'
import { decodeBinary } from './cbor.ts'
import { decodeQuery, decodeRequest, decodeRequestUrl } from './authorization-request.ts'
import { decodeCertificates } from './certificate.ts'
import { type Decoded, decodedOf, DecodeError, reading, type Sources } from './decoded.ts'
import { decodeIsoRequest } from './device-request.ts'
import { decodeDid, decodeDidDocument } from './did.ts'
import { decodeInvitation, decodeMessage } from './didcomm.ts'
import { decodeJwe, decodeJwt } from './jwt.ts'
import { credentialOffer, issuerMetadata, serverMetadata, typeMetadata } from './openid.ts'
import { decodeSdJwt } from './sd-jwt.ts'
import { listCredentialFacts } from './status-list.ts'

/** The longest text in characters. */
const maxLength = 2_000_000

/** @throws {DecodeError} for a text that is not recognised or cannot be read */
export async function decode(given: string, outer: Omit<Sources, 'decode'>, depth: number): Promise<Decoded> {
  if (given.length > 2 * maxLength) throw new DecodeError(`The text is longer than ${maxLength} characters`)
  const isSpaced = /^\s*(?:\{|-----)/.test(given)
  // Tokens and URLs are often folded into lines, or quoted.
  const text = isSpaced ? given.trim() : given.replaceAll(/\s+/g, '').replace(/^"(.*)"$/, '$1')
  if (text === '') throw new DecodeError('There is nothing to decode: the text is empty')
  if (text.length > maxLength) throw new DecodeError(`The text is longer than ${maxLength} characters`)
  if (depth === 0) throw new DecodeError('The text contains others that are nested too deeply')
  const sources: Sources = { ...outer, decode: (inner) => decode(inner, outer, depth - 1) }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return decodeCertificates(text)
  if (text.startsWith('{')) return decodeJson(text, sources)
  if (text.startsWith('did:')) return decodeDid(text, sources)
  if (/^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text)) return decodeUrl(new URL(text), text, sources)
  // The base64 of `{`, with which the header of every token begins.
  if (/^e[wy]/.test(text)) {
    const dots = text.split('~', 1)[0]!.split('.').length - 1
    if (dots === 2) return text.includes('~') ? decodeSdJwt(text, sources) : decodeJwt(text, sources)
    if (dots === 4) return decodeJwe(text)
  }
  const json = findEncodedJson(text)
  if (json !== undefined) return sources.decode(json)
  const binary = findBinary(text)
  if (binary && binary.fault === undefined) return decodeBinary(binary, sources)
  const fault = binary ? `: read as ${binary.encoding}, it has ${binary.fault}` : ''
  throw new DecodeError(
    `The text is not recognised: it is not a URL, DID, JWT, SD-JWT, JWE, JSON, certificate in PEM, base64 of JSON, nor CBOR in hex or base64${fault}`,
  )
}

/** The JSON in base64, such as the parameter `_oob` of an invitation without its URL. */
function findEncodedJson(text: string): string | undefined {
  try {
    const json = fromUtf8(fromBase64(text.replace(/^_oob=/, '')))
    return json.trimStart().startsWith('{') ? json : undefined
  } catch {
    return undefined
  }
}

async function decodeUrl(url: URL, text: string, sources: Sources): Promise<Decoded> {
  const { searchParams: parameters } = url
  if (parameters.has('_oob')) return decodeInvitation(() => parseInvitation(text).invitation, sources)
  if (findShortUrl(text))
    return decodeReference('short-link', 'short link of an agent (_oobid)', text, sources)
  if (parameters.has('credential_offer'))
    return credentialOffer(
      reading('an OpenID4VCI credential offer', 'content', () =>
        parseJson(parameters.get('credential_offer')!),
      ),
    )
  if (parameters.has('credential_offer_uri'))
    return decodeReference(
      'credential-offer-reference',
      'OpenID4VCI credential offer by reference',
      parameters.get('credential_offer_uri')!,
      sources,
    )
  if (
    ['request', 'request_uri', 'dcql_query', 'presentation_definition'].some((name) => parameters.has(name))
  )
    return decodeRequestUrl(url, sources)
  if (/^https?:$/.test(url.protocol)) return decodeReference('url', 'URL', text, sources)
  throw new DecodeError(
    `This is a URL of the scheme ${url.protocol.slice(0, -1)}, but it has none of the parameters _oob, _oobid, credential_offer, credential_offer_uri, request, request_uri and dcql_query`,
  )
}

/** A URL whose content is elsewhere. It is retrieved and decoded with a network only. */
async function decodeReference(
  kind: string,
  title: string,
  text: string,
  sources: Sources,
): Promise<Decoded> {
  const { online } = sources
  if (!URL.canParse(text)) throw new DecodeError(`This is a ${title}, but its URL cannot be read`)
  const url = new URL(text)
  const retrieve = () => (kind === 'short-link' ? online!.getMessage(url) : online!.getText(text))
  const content = online ? 'retrieved, see below' : 'needs --online: it is at that URL'
  const parts = online ? [await sources.decode(await retrieve())] : []
  return decodedOf(kind, title, { URL: text, host: url.host, content }, { parts })
}

type Reader = (value: JsonObject, sources: Sources) => Decoded | Promise<Decoded>

const hasType = ({ type }: JsonObject, name: RegExp) => [type].flat().some((each) => name.test(String(each)))

/** JSON documents by their members, the more specific ones first. */
const documents: readonly [is: (value: JsonObject) => boolean, read: Reader][] = [
  [
    ({ type }) => typeof type === 'string' && type.startsWith(invitationType.replace(/2\.0.*/, '2.')),
    (value, sources) => decodeInvitation(() => checkInvitation(value), sources),
  ],
  [
    (value) =>
      ('ciphertext' in value && 'protected' in value) ||
      ('payload' in value && ('signatures' in value || 'signature' in value)),
    (value, sources) => decodeMessage(value, sources),
  ],
  [(value) => 'deviceRequest' in value && 'encryptionInfo' in value, decodeIsoRequest],
  [(value) => 'credential_configuration_ids' in value, credentialOffer],
  [
    (value) => 'credential_configurations_supported' in value || 'credential_endpoint' in value,
    issuerMetadata,
  ],
  [
    (value) =>
      'dcql_query' in value ||
      typeof value['request'] === 'string' ||
      ('client_id' in value && 'nonce' in value),
    (value, sources) => decodeRequest(value, sources),
  ],
  [
    (value) => hasType(value, /^(StatusList2021|BitstringStatusList)Credential$/),
    (value) =>
      decodedOf(
        'status-list-credential',
        'status list credential (JSON)',
        reading('a status list credential', 'content', () => listCredentialFacts(JSON.stringify(value))),
        { content: { document: value } },
      ),
  ],
  [(value) => 'verificationMethod' in value || hasDidContext(value), decodeDidDocument],
  [({ issuer }) => typeof issuer === 'string' && URL.canParse(issuer), serverMetadata],
  [
    ({ type, body }) => typeof type === 'string' && isJsonObject(body),
    (value, sources) => decodeMessage(value, sources),
  ],
  [({ credentials }) => Array.isArray(credentials), decodeQuery],
  [({ vct }) => typeof vct === 'string', typeMetadata],
]

function hasDidContext({ '@context': context }: JsonObject): boolean {
  return [context].flat().includes('https://www.w3.org/ns/did/v1')
}

async function decodeJson(text: string, sources: Sources): Promise<Decoded> {
  const value = reading('JSON', 'text', () => parseJson(text)) as JsonObject
  const known = documents.find(([is]) => is(value))
  if (known) return known[1](value, sources)
  const members = Object.keys(value).slice(0, 10).join(', ')
  throw new DecodeError(
    `This is JSON, but of no known kind: it has the members ${members === '' ? '(none)' : members}`,
  )
}
