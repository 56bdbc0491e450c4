/** Rows for every check of JWTs: a success, and every failure. */
import { issueJwtVc } from '../../../src/credentials/codecs/jwt-vc.ts'
import { signJws } from '../../../src/credentials/codecs/jws.ts'
import {
  credential,
  edKey,
  issuerKey,
  malloryKey,
  vc,
  withSignature,
} from '../../credentials/codecs/_forge.ts'
import { toV2 } from '../../credentials/codecs/_forged-credentials.ts'
import {
  content,
  forge,
  headerOf,
  holder,
  issuer,
  mallory,
  partsOf,
  payloadOf,
} from '../../credentials/codecs/_people.ts'
import { at, did, toRows } from './_parameters.ts'

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

export const jwtRows = toRows({
  SignatureVerification: {
    passes: {
      'the issuer’s key': credential,
      'another key of the issuer, Ed25519': vc(() => {}, edKey),
      'the issuer of data model 2.0': vc(toV2({ iss: undefined })),
      'the issuer’s key, over a credential that names another': vc(
        (payload) => (payload['vc'].issuer = mallory.did),
      ),
    },
    fails: {
      'an issuer that is not a DID': vc((payload) => (payload['iss'] = 'Alice')),
      'another key': unsignedBy(malloryKey),
      'a key of the issuer for another purpose': unsignedBy(issuer.keys['auth-1'].jwk),
      'a DID that does not resolve': vc(
        (payload) => (payload['iss'] = payload['vc'].issuer.id = `did:prism:${'00'.repeat(32)}`),
      ),
      'an unknown method': vc((payload) => (payload['iss'] = payload['vc'].issuer.id = 'did:example:1')),
      'a changed payload': credential.replace(
        partsOf(credential)[1],
        partsOf(vc((payload) => (payload['vc'].credentialSubject.drivingClass = 4)))[1],
      ),
      'an empty signature': withSignature(() => ''),
      'a non-canonical signature': lastBitChanged,
      'alg none': forge({ alg: 'none' }, payloadOf(credential), () => new Uint8Array()),
      'a kid of another DID': vc(() => {}, malloryKey, headerOf(malloryKey, `${mallory.did}#auth-1`)),
      'no token': 'no token',
    },
  },
  IntegrityOfClaims: {
    passes: {
      'signature and claims in order': credential,
    },
    fails: {
      'another key': unsignedBy(malloryKey),
      'two issuers': vc((payload) => (payload['vc'].issuer = mallory.did)),
      'two subjects': vc((payload) => (payload['vc'].credentialSubject.id = mallory.did)),
      'a duplicate member': forge(
        headerOf(issuerKey),
        JSON.stringify(payloadOf(credential)).replace('{', '{"iss":"did:x:y",'),
        issuerKey,
      ),
      padding: `${credential}=`,
    },
  },
  AlgorithmVerification: {
    passes: {
      ES256K: credential,
      EdDSA: vc(() => {}, edKey),
      'ES256, which the Cloud Agent does not verify': signed({ alg: 'ES256' }),
    },
    fails: {
      HS256: signed({ alg: 'HS256' }),
      ES384: signed({ alg: 'ES384' }),
      RS256: signed({ alg: 'RS256' }),
      none: signed({ alg: 'none' }),
      'in lower case': signed({ alg: 'eddsa' }),
      'no alg': signed({ typ: 'JWT' }),
      'no token': 'a.b.c',
    },
  },
  IssuerIdentification: {
    passes: {
      'the issuer': [credential, did(issuer.did)],
      'the issuer in its long form': [credential, did(issuer.longForm)],
      'the issuer of a token with another algorithm': [signed({ alg: 'HS256' }), did(issuer.did)],
    },
    fails: {
      'another issuer': [credential, did(mallory.did)],
      'a prefix of the issuer': [credential, did(issuer.did.slice(0, -1))],
      'one of two issuers': [vc((payload) => (payload['vc'].issuer = mallory.did)), did(issuer.did)],
      'an issuer that is not a DID': [vc((payload) => (payload['iss'] = 'did:wrong')), did(issuer.did)],
      'an issuer at an https URL': [vc((payload) => (payload['iss'] = 'https://a.example')), did(issuer.did)],
      'no issuer': [vc((payload) => delete payload['iss']), did(issuer.did)],
      'the issuer of a token that is not a credential': [
        signJws({}, { iss: issuer.did }, issuerKey),
        did(issuer.did),
      ],
    },
  },
  AudienceCheck: {
    passes: {
      'the audience of a token whose issuer is at an https URL': [
        vc((payload) => Object.assign(payload, { iss: 'https://a.example', aud: holder.did })),
        did(holder.did),
      ],
      'the only audience': [withAudience(holder.did), did(holder.did)],
      'the only audience in its long form': [withAudience(holder.longForm), did(holder.did)],
      'one of several': [withAudience(['https://a.example', holder.did]), did(holder.did)],
    },
    fails: {
      'none of several': [withAudience(['https://a.example', holder.did]), did(mallory.did)],
      'no audience': [credential, did(holder.did)],
      'an audience that is not a text': [withAudience({ 0: holder.did }), did(holder.did)],
    },
  },
  ExpirationCheck: {
    passes: {
      'a second before the expiry': [credential, at(3_599)],
      'a credential without an expiry': [issueJwtVc({ ...content, validityPeriod: undefined }), at(1e9)],
      'a credential that is not valid yet': [credential, at(-1e6)],
    },
    fails: {
      'at the expiry': [credential, at(3_600)],
      'after the expiry': [credential, at(3_601)],
      'the earlier of two expiries': [dated({ expirationDate: '2001-01-01T00:00:00Z' }, { exp: 4e9 }), at(0)],
      'an expiry that is not a number': [dated({}, { exp: 'never' }), at(0)],
      'no token': ['no token', at(0)],
    },
  },
  NotBeforeCheck: {
    passes: {
      'at the start of validity': [credential, at(0)],
      'after the expiry': [credential, at(1e6)],
      'a credential without a start': [dated({}), at(-1e9)],
    },
    fails: {
      'a second before the start': [credential, at(-1)],
      'the later of two starts': [dated({ issuanceDate: '2100-01-01T00:00:00Z' }, { nbf: 1 }), at(0)],
      'no token': ['no token', at(0)],
    },
  },
  SchemaCheck: {
    passes: {
      'an existing schema': credential,
    },
    fails: {
      'no schema': issueJwtVc({ ...content, schemas: [] }),
      'a missing schema': issueJwtVc({
        ...content,
        schemas: [...content.schemas, 'https://agent.example/2'],
      }),
      'too many schemas': issueJwtVc({
        ...content,
        schemas: Array.from({ length: 11 }, (_, i) => `https://a.example/${i}`),
      }),
      'no token': 'no token',
    },
  },
  SubjectVerification: {
    passes: {
      'matching claims': credential,
    },
    fails: {
      'a claim of another type': issueJwtVc({ ...content, claims: { familyName: 1 } }),
      'a missing claim': issueJwtVc({ ...content, claims: { drivingClass: 3 } }),
      'an additional claim': issueJwtVc({ ...content, claims: { ...content.claims, more: 1 } }),
      'no schema': issueJwtVc({ ...content, schemas: [] }),
      'no token': 'no token',
    },
  },
  SemanticCheckOfClaims: {
    passes: {
      'a credential': credential,
      'a credential with an unsupported signature': signed({ alg: 'HS256' }),
    },
    fails: {
      'a token without vc': vc((payload) => delete payload['vc']),
      'a credential without a subject': vc((payload) => delete payload['vc'].credentialSubject),
      'a credential without a type': vc((payload) => (payload['vc'].type = ['Diploma'])),
      'an issuer that is not a DID': vc((payload) => (payload['iss'] = 'Alice')),
      'no token': 'no token',
    },
  },
  ComplianceWithStandards: {
    passes: {
      'a credential of the Cloud Agent': withStatus,
      'the date in vc instead of nbf': dated({ issuanceDate: '2023-11-14T22:13:20Z' }),
      'the same dates in both places': dated(
        { issuanceDate: '2023-11-14T22:13:20Z', expirationDate: '2024-01-01T01:00:00+01:00' },
        { nbf: 1_700_000_000, exp: 1_704_067_200 },
      ),
      'the data model 2.0 without dates': dated({ '@context': ['https://www.w3.org/ns/credentials/v2'] }),
      'further contexts, and an id': dated(
        { '@context': [v1, 'https://a.example/v1', { a: 'b:c' }], id: 'urn:uuid:1' },
        { nbf: 1, jti: 'urn:uuid:1' },
      ),
    },
    fails: {
      'the base context last': dated({ '@context': ['https://a.example/v1', v1] }, { nbf: 1 }),
      'a context that is not a list': dated({ '@context': v1 }, { nbf: 1 }),
      'no type': dated({ type: [] }, { nbf: 1 }),
      'no issuance date': dated({}),
      'two dates of issuance': dated({ issuanceDate: '2023-11-14T22:13:21Z' }, { nbf: 1_700_000_000 }),
      'two ends': dated({ expirationDate: '2030-01-01T00:00:00Z' }, { nbf: 1, exp: 2e9 }),
      'a date as a number': dated({ issuanceDate: 1_700_000_000 }),
      'an end before the beginning': dated({}, { nbf: 2, exp: 1 }),
      'two ids': dated({ id: 'urn:uuid:1' }, { nbf: 1, jti: 'urn:uuid:2' }),
      'an id that is not a URI': dated({ id: '1' }, { nbf: 1 }),
      'a schema without a type': dated({ credentialSchema: [{ id: 'https://a.example/1' }] }, { nbf: 1 }),
      'a schema that is not a URI': dated({ credentialSchema: { id: '1', type: 'X' } }, { nbf: 1 }),
      'evidence of no type': dated({ evidence: [{}] }, { nbf: 1 }),
      'two issuers': vc((payload) => (payload['vc'].issuer = mallory.did)),
      'no token': 'no token',
    },
  },
  RevocationCheck: {
    passes: {
      'no status': credential,
    },
    fails: {
      'no token': 'no token',
    },
  },
})
