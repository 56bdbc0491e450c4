/** Rows for every check of SD-JWTs: a success, and every failure. */
import { presentSdJwt } from '../../src/credentials/sd-jwt/presentation.ts'
import { anyCredential, issueSdJwt } from '../../src/credentials/sd-jwt/sd-jwt.ts'
import { generateKey } from '../../src/crypto/keys.ts'
import { audience, holder, issuer, mallory, now, schemaId } from '../credentials/_people.ts'
import {
  bind,
  content,
  disclosures,
  encode,
  extra,
  good,
  hash,
  issued,
  present,
  reissued,
  withHeader,
} from '../credentials/sd-jwt/_forged.ts'
import type { Row } from './_jwt-rows.ts'
import { at, did, typeUrl } from './_parameters.ts'

const [jwt] = issued.split('~') as [string]
const presented = [jwt, ...disclosures, ''].join('~')
const undisclosed = `${jwt}~`
const foreign = [jwt, ...disclosures, encode(['salt', 'admin', true]), ''].join('~')
const changed = [jwt, encode(['salt', 'name', 'Mallory']), ...disclosures.slice(1), ''].join('~')
const twice = [jwt, ...disclosures, disclosures[0], ''].join('~')
const unbound = issueSdJwt({ ...content, holderKey: undefined })
const noDid = `did:prism:${'00'.repeat(32)}`
const typed = (typ: string, alg = 'EdDSA') => withHeader({ alg, typ })

/** A presentation whose key binding has this header and an invalid signature. */
const boundWith = (header: object) =>
  `${presented}${encode(header)}.${encode({ iat: now, aud: audience, nonce: 'n', sd_hash: hash(presented) })}.${'A'.repeat(86)}`

/** A driving licence with some claims disclosed. */
export const licence = issueSdJwt({
  ...content,
  holderKey: undefined,
  claims: { familyName: 'Wonderland', drivingClass: 3, address: { city: 'Zürich' } },
  vct: schemaId,
})
const showing = (claims: Record<string, unknown>) =>
  presentSdJwt({ sdJwt: licence, claims, audience, nonce: '', now })
const withClaims = (claims: Record<string, unknown>) => issueSdJwt({ ...content, claims, vct: schemaId })
export const withStatus = issueSdJwt({
  ...content,
  credentialStatus: { type: 'StatusList2021Entry', statusListIndex: 2 },
})

const signatures = (name: 'SignatureVerification' | 'IntegrityOfClaims'): Row[] => [
  [name, 'the issuer’s key, all disclosed', true, issued],
  [name, 'the issuer’s key, nothing disclosed', true, undisclosed],
  [name, 'the issuer’s key and the holder’s', true, good],
  [name, 'no cnf', true, unbound],
  [name, 'the media type of today', true, typed('dc+sd-jwt')],
  [name, 'a key of another curve', true, reissued(() => {}, disclosures, issuer.keys['issue-1'].jwk)],
  [name, 'a key that is not the issuer’s', false, reissued(() => {}, disclosures, generateKey('Ed25519'))],
  [
    name,
    'a key that does not assert',
    false,
    reissued(() => {}, disclosures, issuer.keys['auth-1'].jwk, { typ: 'vc+sd-jwt', kid: 'auth-1' }),
  ],
  [name, 'a DID that does not resolve', false, reissued((token) => (token.iss = noDid))],
  [name, 'an issuer that is not a DID', false, reissued((token) => (token.iss = 'https://issuer.example'))],
  [name, 'a disclosure without a digest', false, foreign],
  [name, 'a disclosure that was changed', false, changed],
  [name, 'a disclosure twice', false, twice],
  [name, 'a hidden end', false, extra('salt', 'exp', now)],
  [name, 'a key binding by another key', false, bind(presented, {}, { key: generateKey('Ed25519') })],
  [name, 'a key binding of other disclosures', false, bind(presented, { sd_hash: hash(undisclosed) })],
  [name, 'a key binding of another type', false, bind(presented, {}, { typ: 'JWT' })],
  [name, 'a key binding without a nonce', false, bind(presented, { nonce: undefined })],
  [name, 'a key binding without a time', false, bind(presented, { iat: undefined })],
  [name, 'a key binding without cnf', false, bind(unbound)],
  [name, 'a key binding that is not a JWT', false, `${presented}x`],
  [name, 'alg none', false, typed('vc+sd-jwt', 'none')],
  [name, 'a type of something else', false, typed('kb+jwt')],
]

export const sdJwtRows: Row[] = [
  ...signatures('SignatureVerification'),
  ...signatures('IntegrityOfClaims'),

  ['AlgorithmVerification', 'EdDSA', true, issued],
  ['AlgorithmVerification', 'ES256K', true, reissued(() => {}, disclosures, issuer.keys['issue-1'].jwk)],
  ['AlgorithmVerification', 'EdDSA, with a disclosure without a digest', true, foreign],
  ['AlgorithmVerification', 'HS256', false, typed('vc+sd-jwt', 'HS256')],
  ['AlgorithmVerification', 'ES384', false, typed('vc+sd-jwt', 'ES384')],
  ['AlgorithmVerification', 'none', false, typed('vc+sd-jwt', 'none')],
  ['AlgorithmVerification', 'a key binding with EdDSA', true, boundWith({ typ: 'kb+jwt', alg: 'EdDSA' })],
  ['AlgorithmVerification', 'a key binding with HS256', false, boundWith({ typ: 'kb+jwt', alg: 'HS256' })],
  ['AlgorithmVerification', 'a key binding with none', false, boundWith({ typ: 'kb+jwt', alg: 'none' })],

  ['IssuerIdentification', 'the issuer', true, issued, did(issuer.did)],
  ['IssuerIdentification', 'the issuer in its long form', true, issued, did(issuer.longForm)],
  ['IssuerIdentification', 'the issuer, with a disclosure without a digest', true, foreign, did(issuer.did)],
  [
    'IssuerIdentification',
    'the issuer of a token with another algorithm',
    true,
    typed('vc+sd-jwt', 'HS256'),
    did(issuer.did),
  ],
  [
    'IssuerIdentification',
    'an issuer that is disclosed',
    false,
    extra('salt', 'iss', mallory.did),
    did(mallory.did),
  ],
  [
    'IssuerIdentification',
    'an issuer at an https URL',
    false,
    reissued((token) => (token.iss = 'https://a.example')),
    did(issuer.did),
  ],
  ['AudienceCheck', 'a malformed key binding', false, `${issued}x.y.z`, did(issuer.did)],
  ['IssuerIdentification', 'another issuer', false, issued, did(mallory.did)],

  ['AudienceCheck', 'whom the key binding is for', true, good, did(audience)],
  [
    'AudienceCheck',
    'a DID that the key binding is for',
    true,
    present(issued, undefined, { audience: holder.did }),
    did(holder.longForm),
  ],
  ['AudienceCheck', 'another audience', false, good, did(mallory.did)],
  ['AudienceCheck', 'no key binding', false, issued, did(audience)],
  [
    'AudienceCheck',
    'whom the issuer names, not the holder',
    false,
    reissued((token) => (token.aud = mallory.did)),
    did(mallory.did),
  ],

  ['ExpirationCheck', 'a second before the expiry', true, issued, at(3_599)],
  ['ExpirationCheck', 'at the expiry', false, issued, at(3_600)],
  ['ExpirationCheck', 'a credential without an expiry', true, reissued((token) => delete token.exp), at(1e9)],
  [
    'ExpirationCheck',
    'an expiry that is not a number',
    false,
    reissued((token) => (token.exp = 'never')),
    at(0),
  ],
  ['ExpirationCheck', 'a hidden end', false, extra('salt', 'exp', now + 9_999), at(0)],
  ['ExpirationCheck', 'a disclosure without a digest', false, foreign, at(0)],

  ['NotBeforeCheck', 'at the start of validity', true, issued, at(0)],
  ['NotBeforeCheck', 'a second before the start', false, issued, at(-1)],
  ['NotBeforeCheck', 'the later of two starts', false, reissued((token) => (token.nbf = now + 9)), at(8)],
  ['NotBeforeCheck', 'a hidden beginning', false, extra('salt', 'nbf', 0), at(0)],

  ['SchemaCheck', 'a type that is a schema', true, licence],
  ['SchemaCheck', 'a missing schema', false, issueSdJwt({ ...content, vct: 'https://agent.example/2' })],
  ['SchemaCheck', 'a type that is described', false, issueSdJwt({ ...content, vct: typeUrl })],
  ['SchemaCheck', 'a type that is a name', false, issued],
  ['SchemaCheck', 'the type of any credential', false, issueSdJwt({ ...content, vct: anyCredential })],
  ['SchemaCheck', 'no type', false, reissued((token) => delete token.vct)],
  ['SchemaCheck', 'a disclosure without a digest', false, `${licence}${encode(['salt', 'admin', true])}~`],

  ['SubjectVerification', 'all claims, which fit', true, licence],
  [
    'SubjectVerification',
    'some claims, among them those that there must be',
    true,
    showing({ familyName: '' }),
  ],
  ['SubjectVerification', 'a required claim is not disclosed', false, showing({ drivingClass: '' })],
  ['SubjectVerification', 'nothing disclosed', false, showing({})],
  ['SubjectVerification', 'a claim of another type', false, withClaims({ familyName: 1 })],
  [
    'SubjectVerification',
    'a claim inside of another type',
    false,
    withClaims({ familyName: 'W', address: { city: 1 } }),
  ],
  ['SubjectVerification', 'an additional claim', false, withClaims({ familyName: 'W', more: 1 })],
  ['SubjectVerification', 'a type that is described', false, issueSdJwt({ ...content, vct: typeUrl })],
  ['SubjectVerification', 'no schema', false, issued],

  ['SemanticCheckOfClaims', 'all disclosed', true, issued],
  ['SemanticCheckOfClaims', 'nothing disclosed', true, undisclosed],
  ['SemanticCheckOfClaims', 'an unsupported signature', true, typed('vc+sd-jwt', 'HS256')],
  ['SemanticCheckOfClaims', 'an invalid key binding', true, bind(presented, {}, { typ: 'JWT' })],
  ['SemanticCheckOfClaims', 'a disclosure without a digest', false, foreign],
  ['SemanticCheckOfClaims', 'a disclosure that was changed', false, changed],
  ['SemanticCheckOfClaims', 'a disclosure twice', false, twice],
  ['SemanticCheckOfClaims', 'a claim that is there already', false, extra('salt', 'name', 'Mallory')],
  ['SemanticCheckOfClaims', 'no issuer', false, reissued((token) => delete token.iss)],
  [
    'SemanticCheckOfClaims',
    'an expiry that is not a number',
    false,
    reissued((token) => (token.exp = 'never')),
  ],
  ['SemanticCheckOfClaims', 'nothing but separators', false, '~~'],

  ['ComplianceWithStandards', 'a credential of the Cloud Agent, with its type', true, issued],
  ['ComplianceWithStandards', 'a presentation', true, good],
  ['ComplianceWithStandards', 'the media type of today', true, typed('dc+sd-jwt')],
  ['ComplianceWithStandards', 'an algorithm that is not verified here', true, typed('dc+sd-jwt', 'ES384')],
  ['ComplianceWithStandards', 'a type by a URI', true, licence],
  [
    'ComplianceWithStandards',
    'a token status list',
    true,
    reissued((token) => (token.status = { status_list: { idx: 0, uri: 'https://a.example/1' } })),
  ],
  ['ComplianceWithStandards', 'a media type of something else', false, typed('JWT')],
  ['ComplianceWithStandards', 'no media type', false, withHeader({ alg: 'EdDSA' })],
  ['ComplianceWithStandards', 'alg none', false, typed('dc+sd-jwt', 'none')],
  ['ComplianceWithStandards', 'a MAC', false, typed('dc+sd-jwt', 'HS256')],
  ['ComplianceWithStandards', 'no alg', false, withHeader({ typ: 'dc+sd-jwt' })],
  ['ComplianceWithStandards', 'no type', false, reissued((token) => delete token.vct)],
  ['ComplianceWithStandards', 'a type that is empty', false, reissued((token) => (token.vct = ''))],
  [
    'ComplianceWithStandards',
    'a type that is no URI though it has a colon',
    false,
    reissued((token) => (token.vct = ':person')),
  ],
  [
    'ComplianceWithStandards',
    'a digest of the type that is not a text',
    false,
    reissued((token) => (token['vct#integrity'] = 1)),
  ],
  [
    'ComplianceWithStandards',
    'a digest of the type that is hidden',
    false,
    extra('salt', 'vct#integrity', 'sha256-x'),
  ],
  [
    'ComplianceWithStandards',
    'a digest of the type inside',
    true,
    extra('salt', 'more', { 'vct#integrity': 1 }),
  ],
  [
    'ComplianceWithStandards',
    'a subject that is no URI though it has a colon',
    false,
    reissued((token) => (token.sub = 'a b:c')),
  ],
  ['ComplianceWithStandards', 'a private key', false, reissued((token) => (token.cnf.jwk.d = 'AAAA'))],
  ['ComplianceWithStandards', 'a status that is text', false, reissued((token) => (token.status = 'valid'))],
  [
    'ComplianceWithStandards',
    'an invalid position in a list',
    false,
    reissued((token) => (token.status = { status_list: { idx: -1, uri: 'https://a.example/1' } })),
  ],
  [
    'ComplianceWithStandards',
    'a list without an address',
    false,
    reissued((token) => (token.status = { status_list: { idx: 0 } })),
  ],
  [
    'ComplianceWithStandards',
    'an end before the beginning',
    false,
    reissued((token) => (token.exp = token.iat - 1)),
  ],
  ['ComplianceWithStandards', 'a key binding of another type', false, bind(presented, {}, { typ: 'JWT' })],
  ['ComplianceWithStandards', 'a key binding for several', false, bind(presented, { aud: [audience] })],
  ['ComplianceWithStandards', 'a disclosure without a digest', false, foreign],

  ['RevocationCheck', 'no status', true, issued],
  ['RevocationCheck', 'a place in a list', true, withStatus],
  [
    'RevocationCheck',
    'an unsupported status',
    false,
    reissued((token) => (token.status = { status_list: {} })),
  ],
  ['RevocationCheck', 'a disclosure without a digest', false, foreign],
]
