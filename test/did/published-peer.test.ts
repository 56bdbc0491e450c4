/**
 * The published did:peer DIDs. This agent creates the same DIDs where it can: numalgo 0, the short form
 * numalgo 3, Multikeys, and numalgo 2 with one agreement key, one authentication key and services without
 * mediators.
 */
import { describe, expect, test } from 'vitest'
import { fromBase64, fromUtf8 } from '../../src/foundation/bytes.ts'
import { Problem } from '../../src/foundation/problem.ts'
import { type PrivateJwk, type PublicJwk, toPublic } from '../../src/foundation/crypto/keys.ts'
import { type DidDocument, type Purpose, purposes } from '../../src/did/document.ts'
import { fromMultikey, toMultikey } from '../../src/did/multikey.ts'
import { toPeer3 } from '../../src/did/peer-2.ts'
import { createPeerDid, resolvePeerDid } from '../../src/did/peer.ts'
import { named, type PublishedVector, readPublished } from '../support/vectors.ts'

type Json = Record<string, unknown>
type Key = { id?: string; relationship?: Purpose; publicKeyMultibase: string; publicKeyJwk: PublicJwk }
type Vector = PublishedVector & {
  did: string
  did3?: string
  numalgo?: number
  keys?: Key[] & { purposeCode: string; publicKeyMultibase?: string; privateKeyJwk?: PrivateJwk }[]
  services?: Json[]
  document?: DidDocument
  identusDocument?: DidDocument
  shortForm?: string
  longForm?: string
  inputDocument?: Json
  encoded?: string
  service?: Json
  multibase?: string
  publicKeyJwk?: PublicJwk
  privateKeyJwk?: PrivateJwk
}

/** Ids in this agent's form: absolute, with `#` where a peer omitted it. */
const absolute = (did: string, id: string) => (id.startsWith('#') ? did + id : `${did}#${id}`)

/** The object form of an older service, whose endpoint is a string. */
function modern(service: Json): Json {
  const { serviceEndpoint: uri, routingKeys, accept, ...rest } = service
  if (service['type'] !== 'DIDCommMessaging' || typeof uri !== 'string') return service
  return { ...rest, serviceEndpoint: JSON.parse(JSON.stringify({ uri, routingKeys, accept })) as Json }
}

/** A published document in this agent's form: absolute ids, keys as JsonWebKey2020. Contexts are not compared. */
function inAgentForm(document: DidDocument): DidDocument {
  const { '@context': _, ...rest } = document
  const methods = document.verificationMethod?.map(({ publicKeyMultibase, ...method }) => ({
    ...method,
    id: absolute(document.id, method.id),
    type: 'JsonWebKey2020',
    publicKeyJwk: fromMultikey(publicKeyMultibase as string),
  }))
  const relations = purposes.flatMap((purpose) =>
    document[purpose] ? [[purpose, document[purpose].map((id) => absolute(document.id, id as string))]] : [],
  )
  const service = document.service?.map((each) => ({ ...each, id: absolute(document.id, each.id) }))
  return {
    ...rest,
    ...(methods && { verificationMethod: methods }),
    ...(Object.fromEntries(relations) as object),
    ...(service && { service }),
  }
}

function checkResolved(vector: Vector): void {
  const { did, numalgo, keys, services, document: published, identusDocument } = vector
  const document = resolvePeerDid(did)
  expect(document.id).toBe(did)
  if (published)
    expect({ ...document, '@context': undefined }).toEqual({
      ...inAgentForm(published),
      '@context': undefined,
    })
  if (numalgo === 2 && keys) {
    const found = document.verificationMethod!.map(({ id, publicKeyJwk }) => ({
      id: id.slice(did.length),
      relationship: purposes.find((purpose) => document[purpose]?.includes(id)),
      publicKeyMultibase: toMultikey(publicKeyJwk as PublicJwk),
      publicKeyJwk,
    }))
    expect(found).toEqual(keys)
  }
  if (numalgo === 0) expect(document.verificationMethod![0]!.publicKeyJwk).toEqual(keys![0]!.publicKeyJwk)
  if (services)
    expect(document.service ?? []).toEqual(
      services.map((service) => ({ ...modern(service), id: absolute(did, service['id'] as string) })),
    )
  if (identusDocument)
    expect(document.service).toEqual(
      identusDocument.service!.map((service) => ({ ...service, id: absolute(did, service.id) })),
    )
}

/** Builds a DID from parts, because this agent creates only one form of DID. */
function checkGenerated({ did, keys }: Vector): void {
  const document = resolvePeerDid(did)
  const codes: Record<string, Purpose> = { E: 'keyAgreement', V: 'authentication' }
  keys!.forEach(
    (
      {
        purposeCode,
        publicKeyMultibase,
        privateKeyJwk,
      }: { purposeCode: string; publicKeyMultibase?: string; privateKeyJwk?: PrivateJwk },
      i,
    ) => {
      const jwk = privateKeyJwk ? toPublic(privateKeyJwk) : fromMultikey(publicKeyMultibase!)
      expect(document.verificationMethod![i]!.publicKeyJwk).toEqual(jwk)
      expect(document[codes[purposeCode]!]).toContain(`${did}#key-${i + 1}`)
      expect(did).toContain(`.${purposeCode}${toMultikey(jwk)}`)
    },
  )
}

const runners: Record<string, (vector: Vector) => void> = {
  resolve: checkResolved,
  'generate-2': checkGenerated,
  'generate-4': ({ longForm, shortForm, inputDocument }) => {
    const document = resolvePeerDid(longForm!)
    expect(document['alsoKnownAs']).toEqual([shortForm])
    expect(document.service![0]!.serviceEndpoint).toEqual(
      (inputDocument!['service'] as Json[])[0]!['serviceEndpoint'],
    )
  },
  'service-element': ({ encoded, service }) => {
    const did = `did:peer:2.Ez6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc.S${encoded}`
    expect(resolvePeerDid(did).service).toEqual([{ ...service, id: `${did}#service` }])
  },
  'key-pair': ({ privateKeyJwk, publicKeyJwk, multibase }) => {
    expect(toPublic(privateKeyJwk!)).toEqual(publicKeyJwk)
    expect(fromMultikey(multibase!)).toEqual(publicKeyJwk)
  },
  multikey: ({ multibase, publicKeyJwk }) => expect(fromMultikey(multibase!)).toEqual(publicKeyJwk),
}

/** The service that this agent writes into a DID. */
const ourService = /^\{"t":"dm","s":\{"uri":"[^"]+","r":\[\],"a":\["didcomm\/v2"\]\}\}$/

/** True for a numalgo 2 DID of the form that this agent creates. */
function isOurForm(did: string): boolean {
  const [agreement, authentication, ...services] = did.split('.').slice(1)
  const texts = services.map((element) =>
    element.startsWith('S') ? fromUtf8(fromBase64(element.slice(1))) : '',
  )
  return (
    !!agreement?.startsWith('E') &&
    !!authentication?.startsWith('V') &&
    texts.length > 0 &&
    texts.every((text) => ourService.test(text))
  )
}

const makers: Record<string, (vector: Vector) => void> = {
  shorten: ({ did, did3 }) => expect(toPeer3(did)).toBe(did3),
  'key-pair': ({ privateKeyJwk, multibase }) => expect(toMultikey(toPublic(privateKeyJwk!))).toBe(multibase),
  multikey: ({ publicKeyJwk, multibase }) => expect(toMultikey(publicKeyJwk!)).toBe(multibase),
  resolve: ({ did, numalgo, keys, services }) => {
    const keyFor = (purpose: Purpose) =>
      keys!.find(({ relationship }) => relationship === purpose)!.publicKeyJwk
    if (numalgo === 0) return expect(did).toBe(`did:peer:0${toMultikey(keys![0]!.publicKeyJwk)}`)
    const serviceUri = services!.map(({ serviceEndpoint }) => (serviceEndpoint as { uri: string }).uri)
    const made = {
      keyAgreement: keyFor('keyAgreement'),
      authentication: keyFor('authentication'),
      serviceUri,
    }
    expect(createPeerDid(made)).toBe(did)
  },
}

const isMade = ({ kind, numalgo, did }: Vector) =>
  kind in makers && (kind !== 'resolve' || numalgo === 0 || (numalgo === 2 && isOurForm(did)))

/**
 * Valid DIDs that do not resolve: numalgo 1 contains no document, and this agent does not store long forms of
 * numalgo 4.
 */
const unresolvable: Record<string, string> = {
  syntax: 'error:DIDResolution:methodNotSupported',
  '4-resolve-short-known': 'error:DIDResolution:notFound',
}

function typeOf(did: string): string {
  try {
    resolvePeerDid(did)
  } catch (error) {
    if (error instanceof Problem) return error.type
    throw error
  }
  return 'resolved'
}

describe.each(['did-peer', 'identus-did-peer'])('%s', (name) => {
  const { vectors } = readPublished(name) as { vectors: Vector[] }
  const of = (...expected: Vector['expect'][]) =>
    named(vectors.filter((vector) => expected.includes(vector.expect)))

  test.each(of('ok').filter(([, { kind }]) => kind !== 'shorten'))('%s is accepted', (id, vector) => {
    const type = unresolvable[id] ?? unresolvable[vector.kind]
    if (type) expect(typeOf(vector.did)).toBe(type)
    else runners[vector.kind]!(vector)
  })

  test.each(named(vectors.filter(isMade)))('%s is made', (_name, vector) => {
    makers[vector.kind]!(vector)
  })

  test.each(of('reject'))('%s is refused', (id, vector) => {
    // The short form of numalgo 4 is well-formed, but long forms are not stored.
    expect(typeOf(vector.did)).toBe(
      id === '4-short-unknown' ? 'error:DIDResolution:notFound' : 'error:DIDResolution:invalidDid',
    )
  })

  // Deployed encoders write lists. Padding is accepted, but the padded vector has no endpoint.
  const lists = of('either')
  test.skipIf(lists.length === 0).each(lists)('%s is accepted when it is a list', (id, vector) => {
    const isList = id === '2-service-json-list'
    expect(typeOf(vector.did)).toBe(isList ? 'resolved' : 'error:DIDResolution:invalidDid')
  })
})
