/** DIDs, DID URLs and DID documents. */
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'
import {
  Did,
  type DidDocument,
  didOf,
  purposes,
  type Service,
  type VerificationMethod,
} from '../../did/document.ts'
import { readDidDocument } from '../../did/foreign-document.ts'
import { canonicalDid, factsOf } from '../../definitions/did-names.ts'
import { findEmbeddedState } from '../../did/prism/did.ts'
import { type Check, type Decoded, decodedOf, type Facts, reading, type Sources } from './decoded.ts'
import { whyUnresolved } from './signature.ts'

/** A DID or a DID URL. @throws {DecodeError} */
export async function decodeDid(text: string, sources: Sources): Promise<Decoded> {
  const did = didOf(text)
  reading('a DID', 'text', () => Did.parse(did))
  const rest = text.slice(did.length)
  const {
    didDocument: document,
    didResolutionMetadata: metadata,
    didDocumentMetadata: about,
  } = await sources.resolver.resolve(did)
  const { error = 'notFound', message = error } = metadata
  const isMalformed = error === 'invalidDid'
  const reason = isMalformed ? message : whyUnresolved(did, sources, message)
  const resolution: Check = document
    ? { name: 'document', result: 'passed', detail: sourceOf(did) }
    : { name: 'document', result: isMalformed ? 'failed' : 'not verified', detail: reason }
  const facts = {
    did,
    'path, query or fragment': rest === '' ? undefined : rest,
    method: did.split(':', 2).join(':'),
    'short form': shortFormOf(did, about.canonicalId),
    ...(document && documentFacts(document)),
    named: document && rest.startsWith('#') ? describeNamed(document, text) : undefined,
    ...(document && hiddenFacts(did)),
  }
  const [kind, title] = rest === '' ? ['did', 'DID'] : ['did-url', 'DID URL']
  return decodedOf(kind, title, facts, { checks: [resolution], content: document ? { document } : {} })
}

/** A DID document in JSON. @throws {DecodeError} */
export function decodeDidDocument(value: JsonObject): Decoded {
  const document = reading('a DID document', 'content', () => readDidDocument(value))
  const facts = { did: document.id, ...documentFacts(document) }
  return decodedOf('did-document', 'DID document', facts, { content: { document: value } })
}

function sourceOf(did: string): string {
  const { kind } = factsOf(did)!
  if (kind === 'self') return 'from the DID itself'
  if (kind === 'fetched') return 'what its host serves now'
  return canonicalDid(did) === did
    ? 'as the ledger of the daemon has it now'
    : 'from the long form, whose hash is the suffix; a ledger may have later changes'
}

function shortFormOf(did: string, short = canonicalDid(did)): string | undefined {
  return short === did ? undefined : short
}

function documentFacts(document: DidDocument): Facts {
  const methods = new Map<string, VerificationMethod>()
  for (const entry of [
    document.verificationMethod ?? [],
    ...purposes.map((purpose) => document[purpose] ?? []),
  ].flat())
    if (typeof entry !== 'string') methods.set(entry.id, entry)
  return {
    keys: [...methods.values()].map(
      (method) =>
        `${fragmentOf(method.id)} · ${curveOf(method)} · ${purposesOf(document, method.id).join(', ') || 'no purpose'}`,
    ),
    services: (document.service ?? []).map(
      (service) => `${fragmentOf(service.id)} · ${[service.type].flat().join(', ')} · ${endpointOf(service)}`,
    ),
  }
}

function purposesOf(document: DidDocument, id: string): string[] {
  const isId = (entry: string | VerificationMethod) =>
    fragmentOf(typeof entry === 'string' ? entry : entry.id) === fragmentOf(id)
  return purposes.filter((purpose) => document[purpose]?.some(isId))
}

const fragmentOf = (id: string) => id.slice(id.indexOf('#') + 1)

const curveOf = ({ publicKeyJwk, type }: VerificationMethod) => publicKeyJwk?.crv ?? type

function endpointOf({ serviceEndpoint }: Service): string {
  const [first] = [serviceEndpoint].flat()
  if (typeof first === 'string') return first
  return isJsonObject(first) && typeof first['uri'] === 'string' ? first['uri'] : JSON.stringify(first)
}

function describeNamed(document: DidDocument, url: string): string {
  const fragment = fragmentOf(url)
  const isNamed = (id: string) => fragmentOf(id) === fragment
  const known = documentFacts(document)
  if (document.service?.some(({ id }) => isNamed(id))) return `the service ${fragment}`
  const keys = known['keys'] as string[]
  return keys.some((line) => line.startsWith(`${fragment} · `))
    ? `the key ${fragment}`
    : 'nothing: the document has no such key or service'
}

/** The keys of a long form that are not in its document. */
function hiddenFacts(did: string): Facts {
  const state = factsOf(did)!.kind === 'ledger' ? findEmbeddedState(did) : undefined
  if (!state) return {}
  const hidden = state.publicKeys.filter(({ usage }) => !purposes.some((purpose) => purpose === usage))
  return { 'other keys': hidden.map(({ id, usage, publicKey }) => `${id} · ${publicKey.crv} · ${usage}`) }
}
