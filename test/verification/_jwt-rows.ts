/** Rows for every check of JWTs: a success, and every failure. */
import { issueJwtVc } from '../../src/credentials/jwt-vc.ts'
import { signJws } from '../../src/credentials/jws.ts'
import type { VcVerificationName } from '../../src/verification/model.ts'
import { credential, edKey, issuerKey, malloryKey, vc, withSignature } from '../credentials/_forge.ts'
import {
  content,
  forge,
  headerOf,
  holder,
  issuer,
  mallory,
  partsOf,
  payloadOf,
} from '../credentials/_people.ts'
import { at, did } from './_parameters.ts'

/** `jwt` is the credential. */
export type Row = [
  name: VcVerificationName,
  what: string,
  expected: boolean,
  jwt: string,
  parameter?: unknown,
]

const signed = (header: object) => forge(header, payloadOf(credential), (input) => input.slice(0, 64))
const withAudience = (aud: unknown) => vc((payload) => (payload['aud'] = aud))
const unsignedBy = (signer: typeof malloryKey) => forge(headerOf(signer), payloadOf(credential), signer)
const dated = (vcDates: object, claims: object = {}) =>
  vc((payload) => {
    delete payload['nbf']
    delete payload['exp']
    Object.assign(payload, claims)
    Object.assign(payload['vc'] as object, vcDates)
  })
const v1 = 'https://www.w3.org/2018/credentials/v1'
export const withStatus = issueJwtVc({
  ...content,
  credentialStatus: { id: 'https://a.example/1#2', type: 'StatusList2021Entry', statusListIndex: 2 },
})
const [, , signature] = partsOf(credential)
const lastBitChanged = credential.slice(0, -1) + (signature.endsWith('A') ? 'B' : 'A')

export const jwtRows: Row[] = [
  ['SignatureVerification', 'the issuer’s key', true, credential],
  ['SignatureVerification', 'another key of the issuer, Ed25519', true, vc(() => {}, edKey)],
  [
    'SignatureVerification',
    'the issuer’s key, over a credential that names another',
    true,
    vc((payload) => (payload['vc'].issuer = mallory.did)),
  ],
  [
    'SignatureVerification',
    'an issuer that is not a DID',
    false,
    vc((payload) => (payload['iss'] = 'Alice')),
  ],
  ['SignatureVerification', 'another key', false, unsignedBy(malloryKey)],
  [
    'SignatureVerification',
    'a key of the issuer for another purpose',
    false,
    unsignedBy(issuer.keys['auth-1'].jwk),
  ],
  [
    'SignatureVerification',
    'a DID that does not resolve',
    false,
    vc((payload) => (payload['iss'] = payload['vc'].issuer.id = `did:prism:${'00'.repeat(32)}`)),
  ],
  [
    'SignatureVerification',
    'an unknown method',
    false,
    vc((payload) => (payload['iss'] = payload['vc'].issuer.id = 'did:example:1')),
  ],
  [
    'SignatureVerification',
    'a changed payload',
    false,
    credential.replace(
      partsOf(credential)[1],
      partsOf(vc((payload) => (payload['vc'].credentialSubject.drivingClass = 4)))[1],
    ),
  ],
  ['SignatureVerification', 'an empty signature', false, withSignature(() => '')],
  ['SignatureVerification', 'a non-canonical signature', false, lastBitChanged],
  [
    'SignatureVerification',
    'alg none',
    false,
    forge({ alg: 'none' }, payloadOf(credential), () => new Uint8Array()),
  ],
  [
    'SignatureVerification',
    'a kid of another DID',
    false,
    vc(() => {}, malloryKey, headerOf(malloryKey, `${mallory.did}#auth-1`)),
  ],
  ['SignatureVerification', 'no token', false, 'no token'],

  ['IntegrityOfClaims', 'signature and claims in order', true, credential],
  ['IntegrityOfClaims', 'another key', false, unsignedBy(malloryKey)],
  ['IntegrityOfClaims', 'two issuers', false, vc((payload) => (payload['vc'].issuer = mallory.did))],
  [
    'IntegrityOfClaims',
    'two subjects',
    false,
    vc((payload) => (payload['vc'].credentialSubject.id = mallory.did)),
  ],
  [
    'IntegrityOfClaims',
    'a duplicate member',
    false,
    forge(
      headerOf(issuerKey),
      JSON.stringify(payloadOf(credential)).replace('{', '{"iss":"did:x:y",'),
      issuerKey,
    ),
  ],
  ['IntegrityOfClaims', 'padding', false, `${credential}=`],

  ['AlgorithmVerification', 'ES256K', true, credential],
  ['AlgorithmVerification', 'EdDSA', true, vc(() => {}, edKey)],
  ['AlgorithmVerification', 'ES256, which the Cloud Agent does not verify', true, signed({ alg: 'ES256' })],
  ['AlgorithmVerification', 'HS256', false, signed({ alg: 'HS256' })],
  ['AlgorithmVerification', 'ES384', false, signed({ alg: 'ES384' })],
  ['AlgorithmVerification', 'RS256', false, signed({ alg: 'RS256' })],
  ['AlgorithmVerification', 'none', false, signed({ alg: 'none' })],
  ['AlgorithmVerification', 'in lower case', false, signed({ alg: 'eddsa' })],
  ['AlgorithmVerification', 'no alg', false, signed({ typ: 'JWT' })],
  ['AlgorithmVerification', 'no token', false, 'a.b.c'],

  ['IssuerIdentification', 'the issuer', true, credential, did(issuer.did)],
  ['IssuerIdentification', 'the issuer in its long form', true, credential, did(issuer.longForm)],
  ['IssuerIdentification', 'another issuer', false, credential, did(mallory.did)],
  ['IssuerIdentification', 'a prefix of the issuer', false, credential, did(issuer.did.slice(0, -1))],
  [
    'IssuerIdentification',
    'the issuer of a token with another algorithm',
    true,
    signed({ alg: 'HS256' }),
    did(issuer.did),
  ],
  [
    'IssuerIdentification',
    'one of two issuers',
    false,
    vc((payload) => (payload['vc'].issuer = mallory.did)),
    did(issuer.did),
  ],

  [
    'IssuerIdentification',
    'an issuer that is not a DID',
    false,
    vc((payload) => (payload['iss'] = 'did:wrong')),
    did(issuer.did),
  ],
  [
    'IssuerIdentification',
    'an issuer at an https URL',
    false,
    vc((payload) => (payload['iss'] = 'https://a.example')),
    did(issuer.did),
  ],
  ['IssuerIdentification', 'no issuer', false, vc((payload) => delete payload['iss']), did(issuer.did)],
  [
    'IssuerIdentification',
    'the issuer of a token that is not a credential',
    false,
    signJws({}, { iss: issuer.did }, issuerKey),
    did(issuer.did),
  ],
  [
    'AudienceCheck',
    'the audience of a token whose issuer is at an https URL',
    true,
    vc((payload) => Object.assign(payload, { iss: 'https://a.example', aud: holder.did })),
    did(holder.did),
  ],
  ['AudienceCheck', 'the only audience', true, withAudience(holder.did), did(holder.did)],
  [
    'AudienceCheck',
    'the only audience in its long form',
    true,
    withAudience(holder.longForm),
    did(holder.did),
  ],
  ['AudienceCheck', 'one of several', true, withAudience(['https://a.example', holder.did]), did(holder.did)],
  [
    'AudienceCheck',
    'none of several',
    false,
    withAudience(['https://a.example', holder.did]),
    did(mallory.did),
  ],
  ['AudienceCheck', 'no audience', false, credential, did(holder.did)],
  [
    'AudienceCheck',
    'an audience that is not a text',
    false,
    withAudience({ 0: holder.did }),
    did(holder.did),
  ],

  ['ExpirationCheck', 'a second before the expiry', true, credential, at(3_599)],
  ['ExpirationCheck', 'at the expiry', false, credential, at(3_600)],
  ['ExpirationCheck', 'after the expiry', false, credential, at(3_601)],
  [
    'ExpirationCheck',
    'a credential without an expiry',
    true,
    issueJwtVc({ ...content, validityPeriod: undefined }),
    at(1e9),
  ],
  [
    'ExpirationCheck',
    'the earlier of two expiries',
    false,
    dated({ expirationDate: '2001-01-01T00:00:00Z' }, { exp: 4e9 }),
    at(0),
  ],
  ['ExpirationCheck', 'an expiry that is not a number', false, dated({}, { exp: 'never' }), at(0)],
  ['ExpirationCheck', 'a credential that is not valid yet', true, credential, at(-1e6)],
  ['ExpirationCheck', 'no token', false, 'no token', at(0)],

  ['NotBeforeCheck', 'at the start of validity', true, credential, at(0)],
  ['NotBeforeCheck', 'a second before the start', false, credential, at(-1)],
  ['NotBeforeCheck', 'after the expiry', true, credential, at(1e6)],
  ['NotBeforeCheck', 'a credential without a start', true, dated({}), at(-1e9)],
  [
    'NotBeforeCheck',
    'the later of two starts',
    false,
    dated({ issuanceDate: '2100-01-01T00:00:00Z' }, { nbf: 1 }),
    at(0),
  ],
  ['NotBeforeCheck', 'no token', false, 'no token', at(0)],

  ['SchemaCheck', 'an existing schema', true, credential],
  ['SchemaCheck', 'no schema', false, issueJwtVc({ ...content, schemas: [] })],
  [
    'SchemaCheck',
    'a missing schema',
    false,
    issueJwtVc({ ...content, schemas: [...content.schemas, 'https://agent.example/2'] }),
  ],
  [
    'SchemaCheck',
    'too many schemas',
    false,
    issueJwtVc({ ...content, schemas: Array.from({ length: 11 }, (_, i) => `https://a.example/${i}`) }),
  ],
  ['SchemaCheck', 'no token', false, 'no token'],

  ['SubjectVerification', 'matching claims', true, credential],
  [
    'SubjectVerification',
    'a claim of another type',
    false,
    issueJwtVc({ ...content, claims: { familyName: 1 } }),
  ],
  ['SubjectVerification', 'a missing claim', false, issueJwtVc({ ...content, claims: { drivingClass: 3 } })],
  [
    'SubjectVerification',
    'an additional claim',
    false,
    issueJwtVc({ ...content, claims: { ...content.claims, more: 1 } }),
  ],
  ['SubjectVerification', 'no schema', false, issueJwtVc({ ...content, schemas: [] })],
  ['SubjectVerification', 'no token', false, 'no token'],

  ['SemanticCheckOfClaims', 'a credential', true, credential],
  ['SemanticCheckOfClaims', 'a credential with an unsupported signature', true, signed({ alg: 'HS256' })],
  ['SemanticCheckOfClaims', 'a token without vc', false, vc((payload) => delete payload['vc'])],
  [
    'SemanticCheckOfClaims',
    'a credential without a subject',
    false,
    vc((payload) => delete payload['vc'].credentialSubject),
  ],
  [
    'SemanticCheckOfClaims',
    'a credential without a type',
    false,
    vc((payload) => (payload['vc'].type = ['Diploma'])),
  ],
  [
    'SemanticCheckOfClaims',
    'an issuer that is not a DID',
    false,
    vc((payload) => (payload['iss'] = 'Alice')),
  ],
  ['SemanticCheckOfClaims', 'no token', false, 'no token'],

  ['ComplianceWithStandards', 'a credential of the Cloud Agent', true, withStatus],
  [
    'ComplianceWithStandards',
    'the date in vc instead of nbf',
    true,
    dated({ issuanceDate: '2023-11-14T22:13:20Z' }),
  ],
  [
    'ComplianceWithStandards',
    'the same dates in both places',
    true,
    dated(
      { issuanceDate: '2023-11-14T22:13:20Z', expirationDate: '2024-01-01T01:00:00+01:00' },
      { nbf: 1_700_000_000, exp: 1_704_067_200 },
    ),
  ],
  [
    'ComplianceWithStandards',
    'the data model 2.0 without dates',
    true,
    dated({ '@context': ['https://www.w3.org/ns/credentials/v2'] }),
  ],
  [
    'ComplianceWithStandards',
    'further contexts, and an id',
    true,
    dated(
      { '@context': [v1, 'https://a.example/v1', { a: 'b:c' }], id: 'urn:uuid:1' },
      { nbf: 1, jti: 'urn:uuid:1' },
    ),
  ],
  [
    'ComplianceWithStandards',
    'the base context last',
    false,
    dated({ '@context': ['https://a.example/v1', v1] }, { nbf: 1 }),
  ],
  ['ComplianceWithStandards', 'a context that is not a list', false, dated({ '@context': v1 }, { nbf: 1 })],
  ['ComplianceWithStandards', 'no type', false, dated({ type: [] }, { nbf: 1 })],
  ['ComplianceWithStandards', 'no issuance date', false, dated({})],
  [
    'ComplianceWithStandards',
    'two dates of issuance',
    false,
    dated({ issuanceDate: '2023-11-14T22:13:21Z' }, { nbf: 1_700_000_000 }),
  ],
  [
    'ComplianceWithStandards',
    'two ends',
    false,
    dated({ expirationDate: '2030-01-01T00:00:00Z' }, { nbf: 1, exp: 2e9 }),
  ],
  ['ComplianceWithStandards', 'a date as a number', false, dated({ issuanceDate: 1_700_000_000 })],
  ['ComplianceWithStandards', 'an end before the beginning', false, dated({}, { nbf: 2, exp: 1 })],
  ['ComplianceWithStandards', 'two ids', false, dated({ id: 'urn:uuid:1' }, { nbf: 1, jti: 'urn:uuid:2' })],
  ['ComplianceWithStandards', 'an id that is no URI', false, dated({ id: '1' }, { nbf: 1 })],
  [
    'ComplianceWithStandards',
    'a schema without a type',
    false,
    dated({ credentialSchema: [{ id: 'https://a.example/1' }] }, { nbf: 1 }),
  ],
  [
    'ComplianceWithStandards',
    'a schema that is no URI',
    false,
    dated({ credentialSchema: { id: '1', type: 'X' } }, { nbf: 1 }),
  ],
  ['ComplianceWithStandards', 'evidence of no type', false, dated({ evidence: [{}] }, { nbf: 1 })],
  ['ComplianceWithStandards', 'two issuers', false, vc((payload) => (payload['vc'].issuer = mallory.did))],
  ['ComplianceWithStandards', 'no token', false, 'no token'],

  ['RevocationCheck', 'no status', true, credential],
  ['RevocationCheck', 'no token', false, 'no token'],
]
