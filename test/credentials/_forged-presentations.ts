/** Presentations that must not pass, each with the one reason it is refused for (threats C3, C4, C6). */
import { issueJwtVc } from '../../src/credentials/jwt-vc.ts'
import { createJwtVp } from '../../src/credentials/jwt-vp.ts'
import {
  credential,
  type Forgery,
  header,
  holderKey,
  issuerKey,
  jwk,
  malloryKey,
  notFound,
  presentation,
  shown,
  unchanged,
  vc,
  vp,
  withSignature,
} from './_forge.ts'
import { checks, content, forge, headerOf, holder, issuer, mallory, nonce, now, partsOf, payloadOf, schemaId } from './_people.ts'

// prettier-ignore
export const presentations: Forgery[] = [
  // Whose key
  ['signed by a stranger',                            'signature',     vp(unchanged, malloryKey)],
  ['signed by the issuer',                            'signature',     vp(unchanged, issuerKey)],
  ['signed by the holder to assert',                  'signature',     vp(unchanged, holder.keys['issue-1'].jwk)],
  ['a kid of another purpose',                        'kid-not-bound', vp(unchanged, holder.keys['issue-1'].jwk, { alg: 'ES256K', kid: 'issue-1' })],
  ['a kid of a stranger, and its key',                'kid-not-bound', vp(unchanged, malloryKey, { alg: 'ES256K', kid: `${mallory.longForm}#auth-1` })],
  ['a kid of a stranger',                             'kid-not-bound', vp(unchanged, holderKey, { alg: 'ES256K', kid: `${mallory.longForm}#auth-1` })],
  ['a full kid that is no key, signed to assert',     'signature',     vp(unchanged, holder.keys['issue-1'].jwk, { alg: 'ES256K', kid: `${holder.longForm}#master0` })],
  ['a full kid that is no key, signed by a stranger', 'signature',     vp(unchanged, malloryKey, { alg: 'ES256K', kid: `${holder.longForm}#master0` })],
  ['a full kid that is no key of a stranger',         'kid-not-bound', vp(unchanged, holderKey, { alg: 'ES256K', kid: `${mallory.longForm}#master0` })],
  ['a full kid of another purpose, signed by the right key', 'kid-not-bound', vp(unchanged, holderKey, { alg: 'ES256K', kid: `${holder.longForm}#issue-1` })],
  ['a key in the header',                             'signature',     vp(unchanged, malloryKey, { alg: 'ES256K', jwk })],
  ['alg none',                                        'algorithm',     forge({ alg: 'none' }, payloadOf(presentation), () => new Uint8Array())],
  ['no signature',                                    'signature',     `${partsOf(presentation).slice(0, 2).join('.')}.`],
  ['a holder whom nobody knows',                      'holder-unresolvable', vp((p) => (p.iss = 'did:example:nobody'))],
  ['a DID that is not found',                         'holder-unresolvable', presentation, { resolve: () => Promise.reject(notFound) }],
  ['no iss',                                          'malformed',     vp((p) => delete p.iss)],

  // Which request (C6)
  ['another domain',                                  'audience',      vp((p) => (p.aud = 'https://evil.example'))],
  ['other domains',                                   'audience',      vp((p) => (p.aud = ['https://evil.example', `${checks.audience}/`]))],
  ['a domain that contains ours',                     'audience',      vp((p) => (p.aud = `${checks.audience}.evil.example`))],
  ['no domain',                                       'audience',      vp((p) => delete p.aud)],
  ['an empty list of domains',                        'audience',      vp((p) => (p.aud = []))],
  ['a domain in a list in a list',                    'malformed',     vp((p) => (p.aud = [[checks.audience]]))],
  ['no domain, where none was asked for',             'audience',      vp((p) => delete p.aud), { audience: undefined as never }],
  ['another challenge',                               'nonce',         vp((p) => (p.nonce = '6f0c4f5e-3c5d-4f4f-9d52-1e3b7f6ad111'))],
  ['the challenge in capitals',                       'nonce',         vp((p) => (p.nonce = nonce.toUpperCase()))],
  ['no challenge',                                    'nonce',         vp((p) => delete p.nonce)],
  ['no challenge, where none was asked for',          'nonce',         vp((p) => delete p.nonce), { nonce: undefined as never }],
  ['a challenge that is a list',                      'malformed',     vp((p) => (p.nonce = [nonce]))],
  ['a replay to another challenge',                   'nonce',         presentation, { nonce: 'the next challenge' }],
  ['a replay at another verifier',                    'audience',      presentation, { audience: 'https://other.example' }],

  // When
  ['expired',                                         'expired',       vp((p) => (p.exp = now - 31))],
  ['not yet valid',                                   'not-yet-valid', vp((p) => (p.nbf = now + 31))],
  ['made in the future',                              'not-yet-valid', vp((p) => (p.iat = now + 31))],

  // Whose credentials (C3)
  ['the credential of another subject',               'holder-binding', createJwtVp({ ...shown, credentials: [issueJwtVc({ ...content, subjectDid: mallory.longForm })] })],
  ['one credential of another subject among good ones', 'holder-binding', createJwtVp({ ...shown, credentials: [credential, issueJwtVc({ ...content, subjectDid: mallory.longForm }), credential] })],
  ['a stolen credential',                             'holder-binding', createJwtVp({ ...shown, holderDid: mallory.longForm, holderKey: malloryKey })],
  ['a credential of nobody',                          'holder-binding', createJwtVp({ ...shown, credentials: [vc((p) => (delete p.sub, delete p.vc.credentialSubject.id))] })],
  ['the credential of another in its id alone',       'holder-binding', createJwtVp({ ...shown, credentials: [vc((p) => (delete p.sub, (p.vc.credentialSubject.id = mallory.did)))] })],
  ['the credential of another in its sub alone',      'holder-binding', createJwtVp({ ...shown, credentials: [vc((p) => (delete p.vc.credentialSubject.id, (p.sub = mallory.did)))] })],
  ['a subject that extends the DID of the holder',    'holder-binding', createJwtVp({ ...shown, credentials: [issueJwtVc({ ...content, subjectDid: `${holder.did}0` })] })],
  ['another holder named inside',                     'holder-binding', vp((p) => (p.vp.holder = mallory.did))],
  ['another holder named inside as an object',        'holder-binding', vp((p) => (p.vp.holder = { id: mallory.did }))],
  ['a credential signed again by its holder',         'signature',     createJwtVp({ ...shown, credentials: [vc(unchanged, holder.keys['issue-1'].jwk)] })],
  ['one bad credential among good ones',              'signature',     createJwtVp({ ...shown, credentials: [credential, credential, withSignature(() => new Uint8Array(64))] })],
  ['a credential of a stranger as iss',               'issuer-mismatch', createJwtVp({ ...shown, credentials: [vc((p) => (p.iss = mallory.did), mallory.keys['issue-1'].jwk)] })],
  ['a credential with a kid of a stranger',           'kid-not-bound', createJwtVp({ ...shown, credentials: [vc(unchanged, issuerKey, { ...header, kid: `${mallory.did}#issue-1` })] })],
  ['a credential of an issuer whom nobody knows',     'issuer-unresolvable', createJwtVp({ ...shown, credentials: [issueJwtVc({ ...content, issuerDid: 'did:example:nobody' })] })],
  ['an expired credential',                           'expired',       createJwtVp({ ...shown, credentials: [issueJwtVc({ ...content, now: now - 7_200 })] })],
  ['a credential of the future',                      'not-yet-valid', createJwtVp({ ...shown, credentials: [issueJwtVc({ ...content, now: now + 7_200 })] })],
  ['a credential whose status nobody checks',         'status',        createJwtVp({ ...shown, credentials: [vc((p) => (p.vc.credentialStatus = { type: 'StatusList2021Entry' }))] })],
  ['a presentation in place of a credential',         'malformed',     createJwtVp({ ...shown, credentials: [presentation] })],
  ['a credential in place of a presentation',         'malformed',     credential],

  // How many, and in what shape
  ['no credential',                                   'credential-count', createJwtVp({ ...shown, credentials: [] })],
  ['no list of credentials',                          'credential-count', vp((p) => delete p.vp.verifiableCredential)],
  ['more credentials than are read',                  'credential-count', createJwtVp({ ...shown, credentials: Array.from({ length: 101 }, () => credential) })],
  ['credentials in a list in a list',                 'malformed',     vp((p) => (p.vp.verifiableCredential = [[credential]]))],
  ['credentials as text',                             'malformed',     vp((p) => (p.vp.verifiableCredential = credential))],
  ['credentials that are null',                       'malformed',     vp((p) => (p.vp.verifiableCredential = null))],
  ['a credential as JSON without a proof',            'malformed',     vp((p) => (p.vp.verifiableCredential = [payloadOf(credential).vc]))],
  ['credentials hidden in __proto__',                 'credential-count', forge(headerOf(holderKey), JSON.stringify({ ...payloadOf(presentation), vp: { type: ['VerifiablePresentation'] } }).replace('"vp":{', `"vp":{"__proto__":{"verifiableCredential":["${credential}"]},`), holderKey)],
  ['a vp hidden in __proto__',                        'malformed',     forge(headerOf(holderKey), `{"__proto__":${JSON.stringify(payloadOf(presentation))}}`, holderKey)],
  ['no vp',                                           'malformed',     vp((p) => delete p.vp)],
  ['a type that is not VerifiablePresentation',       'malformed',     vp((p) => (p.vp.type = ['VerifiableCredential']))],

  // What was asked for
  ['another schema',                                  'schema-not-accepted', presentation, { constraints: [{ schemaId: 'https://other.example' }] }],
  ['a schema that begins like the one asked for',     'schema-not-accepted', presentation, { constraints: [{ schemaId: schemaId.slice(0, -1) }] }],
  ['no schema',                                       'schema-not-accepted', createJwtVp({ ...shown, credentials: [issueJwtVc({ ...content, schemas: [] })] }), { constraints: [{ schemaId }] }],
  ['another schema beside the one asked for',         'schema-not-accepted', createJwtVp({ ...shown, credentials: [issueJwtVc({ ...content, schemas: ['https://other.example'] })] }), { constraints: [{ schemaId, trustIssuers: [issuer.did] }, { schemaId: 'https://third.example' }] }],
  ['an issuer who is trusted with another schema',    'issuer-not-trusted', presentation, { constraints: [{ schemaId, trustIssuers: [mallory.did] }, { schemaId: 'https://other.example', trustIssuers: [issuer.did] }] }],
  ['one of two that are asked for',                   'credential-missing', presentation, { constraints: [{ schemaId }, { schemaId: 'https://other.example' }] }],
  ['one of two issuers that are asked for',           'credential-missing', presentation, { constraints: [{ schemaId, trustIssuers: [issuer.did] }, { schemaId, trustIssuers: [mallory.did] }] }],
  ['one credential of another schema',                'schema-not-accepted', createJwtVp({ ...shown, credentials: [credential, issueJwtVc({ ...content, schemas: ['https://other.example'] })] }), { constraints: [{ schemaId }] }],
  ['an issuer who is not trusted',                    'issuer-not-trusted', presentation, { constraints: [{ schemaId, trustIssuers: [mallory.did] }] }],
  ['an issuer whose DID begins like a trusted one',   'issuer-not-trusted', presentation, { constraints: [{ schemaId, trustIssuers: [issuer.did.slice(0, -1)] }] }],
  ['an issuer who trusts himself',                    'issuer-not-trusted', createJwtVp({ ...shown, credentials: [issueJwtVc({ ...content, issuerDid: holder.did, issuerKey: holder.keys['issue-1'].jwk })] }), { constraints: [{ schemaId, trustIssuers: [issuer.did] }] }],
]
