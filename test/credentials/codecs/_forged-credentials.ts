/** Forged credentials, each with the code of its refusal. */
import { createHmac, sign as signBytes } from 'node:crypto'
import { toBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import { sign, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { issueJwtVc } from '../../../src/credentials/codecs/jwt-vc.ts'
import { createJwtVp } from '../../../src/credentials/codecs/jwt-vp.ts'
import type { DidDocument } from '../../../src/did/document.ts'
import {
  credential,
  edKey,
  type Forgery,
  header,
  holderKey,
  issuerKey,
  jwk,
  malloryKey,
  notFound,
  type Payload,
  shown,
  unchanged,
  vc,
  withSignature,
} from './_forge.ts'
import {
  content,
  documentOf,
  forge,
  headerOf,
  holder,
  issuer,
  mallory,
  now,
  partsOf,
  payloadOf,
  resolve,
  schemaId,
} from './_people.ts'

/** A good token with its text changed. */
function withText(change: (parts: [string, string, string]) => string): string {
  return change(partsOf(credential))
}

const order = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex')
const body = payloadOf(credential)
const text = JSON.stringify(body)
const forIssuer = (document: (did: string) => DidDocument | Promise<DidDocument>) => ({
  resolve: async (did: string) => (did === issuer.did ? document(did) : resolve(did)),
})

/** Makes the payload a credential of data model 2.0, with these changes. */
export function toV2(change: object = {}) {
  return (payload: Payload) => {
    const { vc: credential, exp: _exp, nbf: _nbf, ...claims } = payload
    for (const name of Object.keys(payload)) delete payload[name]
    const context = ['https://www.w3.org/ns/credentials/v2']
    Object.assign(payload, claims, credential, { '@context': context, issuer: { id: issuer.did } }, change)
  }
}

// prettier-ignore
export const credentials: Forgery[] = [
  // Whose key (C4)
  ['signed by a stranger',                            'signature',     vc(unchanged, mallory.keys['issue-1'].jwk)],
  ['signed by a stranger with the issuer\'s kid',     'signature',     vc(unchanged, mallory.keys['issue-1'].jwk, { ...header, kid: 'issue-1' })],
  ['signed again by its holder',                      'signature',     vc(unchanged, holder.keys['issue-1'].jwk)],
  ['signed again by its holder to authenticate',      'signature',     vc(unchanged, holderKey)],
  ['signed by the issuer to authenticate',            'signature',     vc(unchanged, issuer.keys['auth-1'].jwk)],
  ['signed by another key than its kid says',         'algorithm',     vc(unchanged, edKey, { ...headerOf(edKey), kid: 'issue-1' })],
  ['a kid of another DID',                            'kid-not-bound', vc(unchanged, issuerKey, { ...header, kid: `${mallory.did}#issue-1` })],
  ['a kid of another DID, and its key',               'kid-not-bound', vc(unchanged, mallory.keys['issue-1'].jwk, { ...header, kid: `${mallory.longForm}#issue-1` })],
  ['a kid of another DID of another method',          'kid-not-bound', vc(unchanged, issuerKey, { ...header, kid: 'did:web:evil.example#issue-1' })],
  ['a kid of another purpose',                        'kid-not-bound', vc(unchanged, issuer.keys['auth-1'].jwk, { ...header, kid: 'auth-1' })],
  ['a full kid of another purpose',                   'kid-not-bound', vc(unchanged, issuer.keys['auth-1'].jwk, { ...header, kid: `${issuer.did}#auth-1` })],
  ['a kid that is the end of one, by a stranger',     'signature',     vc(unchanged, malloryKey, { ...header, kid: 'sue-1' })],
  ['a kid that begins with the DID of the issuer',    'kid-not-bound', vc(unchanged, issuerKey, { ...header, kid: `${issuer.did}0#issue-1` })],
  ['a kid with a path',                               'kid-not-bound', vc(unchanged, issuerKey, { ...header, kid: `${issuer.did}/x#issue-1` })],
  ['a kid with a query',                              'kid-not-bound', vc(unchanged, issuerKey, { ...header, kid: `${issuer.did}?versionId=1#issue-1` })],
  ['a kid with two fragments',                        'kid-not-bound', vc(unchanged, issuerKey, { ...header, kid: `${issuer.did}#x#issue-1` })],
  ['an empty kid, by a stranger',                     'signature',     vc(unchanged, malloryKey, { ...header, kid: '' })],
  ['a kid that is not a key, by a stranger',             'signature',     vc(unchanged, malloryKey, { ...header, kid: 'issue-9' })],
  ['a kid that is not a key, signed to authenticate',    'signature',     vc(unchanged, issuer.keys['auth-1'].jwk, { ...header, kid: 'issue-9' })],
  ['the DID as kid, by a stranger',                   'signature',     vc(unchanged, malloryKey, { ...header, kid: issuer.did })],
  ['the DID of a stranger as kid',                    'kid-not-bound', vc(unchanged, malloryKey, { ...header, kid: mallory.did })],
  ['a path that ends in a key of another purpose',    'kid-not-bound', vc(unchanged, issuer.keys['auth-1'].jwk, { ...header, kid: 'keys#auth-1' })],
  ['a full kid that is not a key, signed by a stranger', 'signature',     vc(unchanged, malloryKey, { ...header, kid: `${issuer.did}#master0` })],
  ['a full kid that is not a key, signed to authenticate', 'signature',   vc(unchanged, issuer.keys['auth-1'].jwk, { ...header, kid: `${issuer.did}#master0` })],
  ['a full kid that is not a key of another DID',        'kid-not-bound', vc(unchanged, issuerKey, { ...header, kid: `${mallory.did}#master0` })],
  ['a kid that is a number',                          'malformed',     vc(unchanged, issuerKey, { ...header, kid: 1 })],
  ['a kid that is a list',                            'malformed',     vc(unchanged, issuerKey, { ...header, kid: ['issue-1'] })],
  ['a key in the header',                             'signature',     vc(unchanged, malloryKey, { ...headerOf(malloryKey), jwk })],
  ['a key in the header, with a kid',                 'signature',     vc(unchanged, malloryKey, { ...headerOf(malloryKey), jwk, kid: 'issue-1' })],
  ['an address of a key in the header',               'signature',     vc(unchanged, malloryKey, { ...headerOf(malloryKey), jku: 'https://evil.example/jwks.json' })],
  ['a certificate in the header',                     'signature',     vc(unchanged, malloryKey, { ...headerOf(malloryKey), x5c: ['MIIB'], x5u: 'https://evil.example' })],
  ['another DID as iss',                              'issuer-mismatch', vc((p) => (p.iss = mallory.did), mallory.keys['issue-1'].jwk)],
  ['another DID in vc.issuer',                        'issuer-mismatch', vc((p) => (p.vc.issuer.id = mallory.did))],
  ['another DID in vc.issuer as text',                'issuer-mismatch', vc((p) => (p.vc.issuer = mallory.longForm))],
  ['an issuer without id',                            'malformed',     vc((p) => (p.vc.issuer = { name: 'Acme' }))],
  ['no iss',                                          'malformed',     vc((p) => delete p.iss)],
  ['an iss that is not a DID',                           'malformed',     vc((p) => (p.iss = 'https://issuer.example'))],
  ['an iss that is a DID URL',                        'malformed',     vc((p) => (p.iss = `${issuer.did}#issue-1`))],
  ['an unknown issuer',                               'issuer-unresolvable', vc((p) => ((p.iss = 'did:example:nobody'), delete p.vc.issuer))],
  ['a DID that is not found',                         'issuer-unresolvable', credential, { resolve: () => Promise.reject(notFound) }],
  ['a resolver that throws at once',                  'issuer-unresolvable', credential, { resolve: () => { throw notFound } }],
  ['a resolver that answers with another document',   'issuer-unresolvable', issueJwtVc({ ...content, issuerKey: mallory.keys['issue-1'].jwk }), forIssuer(() => documentOf(mallory))],
  ['a document without keys',                         'no-key',        issueJwtVc(content), forIssuer((id) => ({ id }))],
  ['a document that lists a foreign key',             'no-key',        issueJwtVc({ ...content, issuerKey: mallory.keys['issue-1'].jwk }), forIssuer((id) => ({ ...documentOf(mallory), id }))],
  ['a document with a key that does not sign',        'algorithm',     issueJwtVc(content), forIssuer((id) => ({ ...documentOf(issuer), assertionMethod: [`${id}#agree-1`] }))],
  ['a document with a key on another curve',          'algorithm',     vc(unchanged, issuerKey, { ...header, kid: 'issue-2' })],

  // Which algorithm (C5)
  ['alg none',                                        'algorithm',     forge({ ...header, alg: 'none' }, body, () => new Uint8Array())],
  ['alg none with a signature',                       'algorithm',     vc(unchanged, issuerKey, { ...header, alg: 'none' })],
  ['alg NONE',                                        'algorithm',     forge({ ...header, alg: 'NONE' }, body, () => new Uint8Array())],
  ['no alg',                                          'algorithm',     vc(unchanged, issuerKey, { typ: 'JWT' })],
  ['alg in lower case',                               'algorithm',     vc(unchanged, issuerKey, { ...header, alg: 'es256k' })],
  ['alg with a space',                                'algorithm',     vc(unchanged, issuerKey, { ...header, alg: 'ES256K ' })],
  ['alg in a list',                                   'algorithm',     vc(unchanged, issuerKey, { ...header, alg: ['ES256K'] })],
  ['alg that is null',                                'algorithm',     vc(unchanged, issuerKey, { ...header, alg: null })],
  ['alg called like a member of every object',        'algorithm',     vc(unchanged, issuerKey, { ...header, alg: 'constructor' })],
  ['HS256 with the public key as the secret',         'algorithm',     forge({ ...header, alg: 'HS256' }, body, (input) => createHmac('sha256', JSON.stringify(toPublic(issuerKey))).update(input).digest())],
  ['ES256',                                           'algorithm',     vc(unchanged, issuerKey, { ...header, alg: 'ES256' })],
  ['ES256K-R',                                        'algorithm',     vc(unchanged, issuerKey, { ...header, alg: 'ES256K-R' })],
  ['RS256',                                           'algorithm',     vc(unchanged, issuerKey, { ...header, alg: 'RS256' })],
  ['EdDSA over a signature of secp256k1',             'algorithm',     vc(unchanged, issuerKey, { alg: 'EdDSA', kid: 'issue-1' })],
  ['ES256K over a signature of Ed25519',              'algorithm',     vc(unchanged, edKey, { alg: 'ES256K', kid: 'issue-2' })],
  ['ES256K over a signature of Ed25519, no kid',      'signature',     vc(unchanged, edKey, { alg: 'ES256K' })],
  ['crit',                                            'critical-header', vc(unchanged, issuerKey, { ...header, crit: ['exp'], exp: 1 })],
  ['an empty crit',                                   'critical-header', vc(unchanged, issuerKey, { ...header, crit: [] })],
  ['b64 false with crit',                             'critical-header', vc(unchanged, issuerKey, { ...header, b64: false, crit: ['b64'] })],
  ['b64 alone, even true',                            'critical-header', vc(unchanged, issuerKey, { ...header, b64: true })],

  // Signatures
  ['no signature',                                    'signature',     withSignature(() => '')],
  ['half a signature',                                'signature',     withSignature((signature) => signature.subarray(0, 32))],
  ['a signature one byte short',                      'signature',     withSignature((signature) => signature.subarray(0, 63))],
  ['a signature one byte long',                       'signature',     withSignature((signature) => Buffer.concat([signature, Buffer.of(0)]))],
  ['a signature of zeros',                            'signature',     withSignature(() => new Uint8Array(64))],
  ['a signature of zeros in EdDSA',                   'signature',     withSignature(() => new Uint8Array(64), vc(unchanged, edKey))],
  ['a signature of the order of the curve',           'signature',     withSignature(() => Buffer.concat([order, order]))],
  ['r and s exchanged',                               'signature',     withSignature((signature) => Buffer.concat([signature.subarray(32), signature.subarray(0, 32)]))],
  ['a signature in DER',                              'signature',     withSignature((_, input) => signBytes('sha256', input, { key: issuerKey, format: 'jwk' } as never))],
  ['a signature with a recovery id',                  'signature',     withSignature((signature) => Buffer.concat([signature, Buffer.of(27)]))],
  ['a signature over the payload alone',              'signature',     withSignature((_, input) => sign(issuerKey, utf8(Buffer.from(input).toString().split('.')[1]!)))],
  ['the signature of another credential',             'signature',     withText(([head, payload]) => `${head}.${payload}.${partsOf(issueJwtVc({ ...content, claims: {}, kid: 'issue-1' }))[2]}`)],
  ['a claim changed after signing',                   'signature',     withText(([head, , signature]) => `${head}.${toBase64url(text.replace('"drivingClass":3', '"drivingClass":4'))}.${signature}`)],
  ['a header changed after signing',                  'signature',     withText(([, payload, signature]) => `${toBase64url(JSON.stringify(header))}.${payload}.${signature}`)],

  // How it is written (C19)
  ['nothing',                                         'malformed',     ''],
  ['two parts',                                       'malformed',     withText(([head, payload]) => `${head}.${payload}`)],
  ['four parts',                                      'malformed',     `${credential}.`],
  ['five parts, as a JWE',                            'malformed',     `${credential}.AA.AA`],
  ['an SD-JWT',                                       'malformed',     `${credential}~`],
  ['JSON serialisation',                              'malformed',     withText(([head, payload, signature]) => JSON.stringify({ protected: head, payload, signature }))],
  ['an empty header',                                 'malformed',     withText(([, payload, signature]) => `.${payload}.${signature}`)],
  ['an empty payload, as if detached',                'malformed',     withText(([head, , signature]) => `${head}..${signature}`)],
  ['padding',                                         'malformed',     `${withSignature((signature) => signature)}==`],
  ['the standard alphabet',                           'malformed',     forge(header, { ...body, vc: { ...body.vc, note: 'ÿ??>>~~' } }, issuerKey).replaceAll('_', '/').replaceAll('-', '+')],
  ['a line break at the end',                         'malformed',     `${credential}\n`],
  ['a space in front',                                'malformed',     ` ${credential}`],
  ['a zero byte inside',                              'malformed',     withText(([head, payload, signature]) => `${head}.${payload}\0.${signature}`)],
  ['spare bits that are not zero',                    'malformed',     withText((parts) => `${parts.join('.').slice(0, -1)}${nextLetter(credential.at(-1)!)}`)],
  ['UTF-8 that is invalid in the payload',            'malformed',     forge(header, Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from(',"x":"'), Buffer.of(0xff), Buffer.from('"}')]), issuerKey)],
  ['UTF-8 that is invalid in the header',             'malformed',     forge(Buffer.concat([Buffer.from('{"alg":"ES256K","typ":"'), Buffer.of(0xc3, 0x28), Buffer.from('"}')]), body, issuerKey)],
  ['a byte order mark in the header',                 'malformed',     forge(`\u{feff}${JSON.stringify(header)}`, body, issuerKey)],
  ['a byte order mark in the payload',                'malformed',     forge(header, `\u{feff}${text}`, issuerKey)],
  ['alg twice in the header',                         'malformed',     forge('{"alg":"none","alg":"ES256K"}', body, issuerKey)],
  ['kid twice in the header, once escaped',           'malformed',     forge(String.raw`{"alg":"ES256K","kid":"issue-1","\u006bid":"issue-1"}`, body, issuerKey)],
  ['iss twice in the payload',                        'malformed',     forge(header, `{"iss":"${mallory.did}",${text.slice(1)}`, issuerKey)],
  ['a claim twice in the subject',                    'malformed',     forge(header, text.replace('"drivingClass":3', '"drivingClass":3,"drivingClass":4'), issuerKey)],
  ['a header that is a list',                         'malformed',     forge([header], body, issuerKey)],
  ['a header that is not JSON',                       'malformed',     forge('{alg:ES256K}', body, issuerKey)],
  ['a header that hides alg in __proto__',            'algorithm',     forge('{"__proto__":{"alg":"ES256K"}}', body, issuerKey)],
  ['a payload that is a list',                        'malformed',     forge(header, [body], issuerKey)],
  ['a payload that is null',                          'malformed',     forge(header, 'null', issuerKey)],
  ['a payload that hides iss and vc in __proto__',    'malformed',     forge(header, `{"__proto__":${text}}`, issuerKey)],
  ['a payload nested a thousand deep',                'malformed',     vc((p) => (p.vc.credentialSubject.deep = JSON.parse('['.repeat(1_000) + ']'.repeat(1_000))))],
  ['a megabyte',                                      'too-large',     vc((p) => (p.vc.credentialSubject.long = 'x'.repeat(1_048_576)))],

  // Claims
  ['no vc',                                           'malformed',     vc((p) => delete p.vc)],
  ['a presentation in place of a credential',         'malformed',     createJwtVp({ ...shown, holderDid: issuer.did, holderKey: issuerKey })],
  ['a type that is not VerifiableCredential',         'malformed',     vc((p) => (p.vc.type = ['VerifiablePresentation']))],
  ['a type in a list in a list',                      'malformed',     vc((p) => (p.vc.type = [['VerifiableCredential']]))],
  ['no type',                                         'malformed',     vc((p) => delete p.vc.type)],
  ['no context',                                      'malformed',     vc((p) => (p.vc['@context'] = []))],
  ['another context',                                 'malformed',     vc((p) => (p.vc['@context'] = ['https://evil.example']))],
  ['a list of two subjects',                          'malformed',     vc((p) => (p.vc.credentialSubject = [p.vc.credentialSubject, p.vc.credentialSubject]))],
  ['a list of no subjects',                           'malformed',     vc((p) => (p.vc.credentialSubject = []))],
  ['a list in a list of subjects',                    'malformed',     vc((p) => (p.vc.credentialSubject = [[p.vc.credentialSubject]]))],
  ['a 2.0 credential by another issuer than iss',     'issuer-mismatch', vc(toV2({ issuer: mallory.did }))],
  ['a 2.0 credential of another issuer',              'signature',     vc(toV2({ issuer: mallory.did, iss: undefined }))],
  ['a 2.0 credential without an issuer',              'malformed',     vc(toV2({ issuer: undefined, iss: undefined }))],
  ['a 2.0 credential without its context',            'malformed',     vc(toV2({ '@context': ['https://www.w3.org/2018/credentials/v1'] }))],
  ['a 2.0 credential that has ended',                 'expired',       vc(toV2({ validUntil: '2020-01-01T00:00:00Z' }))],
  ['a subject that is text',                          'malformed',     vc((p) => (p.vc.credentialSubject = holder.did))],
  ['a subject whose id is a list',                    'malformed',     vc((p) => (p.vc.credentialSubject.id = [holder.did]))],
  ['no subject',                                      'malformed',     vc((p) => delete p.vc.credentialSubject)],
  ['two subjects',                                    'subject-mismatch', vc((p) => (p.vc.credentialSubject.id = mallory.longForm))],
  ['schemas in a list in a list',                     'malformed',     vc((p) => (p.vc.credentialSchema = [p.vc.credentialSchema]))],
  ['a schema as text',                                'malformed',     vc((p) => (p.vc.credentialSchema = schemaId))],
  ['a status without type',                           'malformed',     vc((p) => (p.vc.credentialStatus = { id: 'https://a.example' }))],
  ['a status that is a text',                         'malformed',     vc((p) => (p.vc.credentialStatus = 'none'))],
  ['a status with a negative index',                  'malformed',     vc((p) => (p.vc.credentialStatus = { type: 'StatusList2021Entry', statusListIndex: -1 }))],
  ['too many statuses',                               'malformed',     vc((p) => (p.vc.credentialStatus = Array.from({ length: 11 }, () => ({ type: 'StatusList2021Entry' }))))],
  ['a status that says no',                           'status',        vc((p) => (p.vc.credentialStatus = { type: 'StatusList2021Entry' })), { checkStatus: () => Promise.reject(new Error('revoked')) }],
  ['a status that is not checked',                    'status',        vc((p) => (p.vc.credentialStatus = { type: 'StatusList2021Entry' }))],

  // When
  ['expired',                                         'expired',       vc((p) => Object.assign(p, { nbf: 1, exp: now - 31 }))],
  ['expired in expirationDate',                       'expired',       vc((p) => (p.vc.expirationDate = '2023-11-14T22:12:49Z'))],
  ['expired in expirationDate, seconds',              'expired',       vc((p) => (p.vc.expirationDate = now - 31))],
  ['expired in validUntil',                           'expired',       vc((p) => (p.vc.validUntil = '2023-11-14T23:12:49+01:00'))],
  ['not yet valid',                                   'not-yet-valid', vc((p) => (p.nbf = now + 31))],
  ['not yet valid, in milliseconds',                  'not-yet-valid', vc((p) => (p.nbf = now * 1_000))],
  ['not yet valid in issuanceDate',                   'not-yet-valid', vc((p) => (p.vc.issuanceDate = '2023-11-14T22:13:51Z'))],
  ['not yet valid in validFrom',                      'not-yet-valid', vc((p) => (p.vc.validFrom = now + 31))],
  ['an exp that is text',                             'malformed',     vc((p) => (p.exp = String(now + 60)))],
  ['an exp that is null',                             'malformed',     vc((p) => (p.exp = null))],
  ['an exp beyond numbers',                           'malformed',     forge(header, text.replace('"exp":1700003600', '"exp":1e999'), issuerKey)],
  ['an nbf below numbers',                            'malformed',     forge(header, text.replace('"nbf":1700000000', '"nbf":-1e999'), issuerKey)],
  ['a date on a day that is not',                     'malformed',     vc((p) => (p.vc.expirationDate = '2030-02-30T00:00:00Z'))],
  ['a date without an offset',                        'malformed',     vc((p) => (p.vc.expirationDate = '2030-01-01T00:00:00'))],
  ['a date in words',                                 'malformed',     vc((p) => (p.vc.validUntil = 'for ever'))],
]

/** The letter after one, in the alphabet of base64url: the same bytes, other spare bits. */
function nextLetter(letter: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet[alphabet.indexOf(letter) + 1]!
}
