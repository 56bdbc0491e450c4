/** Rows for every check of SD-JWTs: a success, and every failure. */
import { presentSdJwt } from '../../credentials/codecs/_present.ts'
import { anyCredential, issueSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { audience, holder, issuer, mallory, now, schemaId } from '../../credentials/codecs/_people.ts'
import {
  boundTo,
  bind,
  content,
  disclosures,
  encode,
  extra,
  good,
  hash,
  issued,
  present,
  presented,
  reissued,
  signedBy,
  withHeader,
} from '../../credentials/codecs/sd-jwt/_forged.ts'
import { at, did, toRows, typeUrl } from './_parameters.ts'

const [jwt] = issued.split('~') as [string]
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

/**
 * The rows of `SignatureVerification` and `IntegrityOfClaims`, which notice all forgeries of `_forged.ts`
 * beside.
 */
const signatures = {
  passes: {
    'the issuer’s key, all disclosed': issued,
    'the issuer’s key, nothing disclosed': undisclosed,
    'the issuer’s key and the holder’s': good,
    'no cnf': unbound,
    'the media type of today': typed('dc+sd-jwt'),
    'a key of another curve': signedBy(issuer.keys['issue-1'].jwk),
  },
  fails: {
    'a DID that does not resolve': reissued((token) => (token.iss = noDid)),
    'an issuer that is not a DID': reissued((token) => (token.iss = 'https://issuer.example')),
    'a key binding by another key': bind(presented, {}, { key: generateKey('Ed25519') }),
    'a key binding that is not a JWT': `${presented}x`,
  },
}

export const sdJwtRows = toRows({
  SignatureVerification: signatures,
  IntegrityOfClaims: signatures,
  AlgorithmVerification: {
    passes: {
      EdDSA: issued,
      ES256K: signedBy(issuer.keys['issue-1'].jwk),
      'EdDSA, with a disclosure without a digest': foreign,
      'a key binding with EdDSA': boundWith({ typ: 'kb+jwt', alg: 'EdDSA' }),
    },
    fails: {
      HS256: typed('vc+sd-jwt', 'HS256'),
      ES384: typed('vc+sd-jwt', 'ES384'),
      none: typed('vc+sd-jwt', 'none'),
      'a key binding with HS256': boundWith({ typ: 'kb+jwt', alg: 'HS256' }),
      'a key binding with none': boundWith({ typ: 'kb+jwt', alg: 'none' }),
    },
  },
  IssuerIdentification: {
    passes: {
      'the issuer': [issued, did(issuer.did)],
      'the issuer in its long form': [issued, did(issuer.longForm)],
      'the issuer, with a disclosure without a digest': [foreign, did(issuer.did)],
      'the issuer of a token with another algorithm': [typed('vc+sd-jwt', 'HS256'), did(issuer.did)],
    },
    fails: {
      'an issuer that is disclosed': [extra('salt', 'iss', mallory.did), did(mallory.did)],
      'an issuer at an https URL': [reissued((token) => (token.iss = 'https://a.example')), did(issuer.did)],
      'another issuer': [issued, did(mallory.did)],
    },
  },
  AudienceCheck: {
    passes: {
      'whom the key binding is for': [good, did(audience)],
      'a DID that the key binding is for': [
        present(issued, undefined, { audience: holder.did }),
        did(holder.longForm),
      ],
    },
    fails: {
      'a malformed key binding': [`${issued}x.y.z`, did(issuer.did)],
      'another audience': [good, did(mallory.did)],
      'no key binding': [issued, did(audience)],
      'whom the issuer names, not the holder': [
        reissued((token) => (token.aud = mallory.did)),
        did(mallory.did),
      ],
    },
  },
  ExpirationCheck: {
    passes: {
      'a second before the expiry': [issued, at(3_599)],
      'a credential without an expiry': [reissued((token) => delete token.exp), at(1e9)],
    },
    fails: {
      'at the expiry': [issued, at(3_600)],
      'an expiry that is not a number': [reissued((token) => (token.exp = 'never')), at(0)],
      'a hidden end': [extra('salt', 'exp', now + 9_999), at(0)],
      'a disclosure without a digest': [foreign, at(0)],
    },
  },
  NotBeforeCheck: {
    passes: {
      'at the start of validity': [issued, at(0)],
    },
    fails: {
      'a second before the start': [issued, at(-1)],
      'the later of two starts': [reissued((token) => (token.nbf = now + 9)), at(8)],
      'a hidden beginning': [extra('salt', 'nbf', 0), at(0)],
    },
  },
  SchemaCheck: {
    passes: {
      'a type that is a schema': licence,
    },
    fails: {
      'a missing schema': issueSdJwt({ ...content, vct: 'https://agent.example/2' }),
      'a type that is described': issueSdJwt({ ...content, vct: typeUrl }),
      'a type that is a name': issued,
      'the type of any credential': issueSdJwt({ ...content, vct: anyCredential }),
      'no type': reissued((token) => delete token.vct),
      'a disclosure without a digest': `${licence}${encode(['salt', 'admin', true])}~`,
    },
  },
  SubjectVerification: {
    passes: {
      'all claims, which fit': licence,
      'some claims, with all required ones': showing({ familyName: '' }),
    },
    fails: {
      'a required claim is not disclosed': showing({ drivingClass: '' }),
      'nothing disclosed': showing({}),
      'a claim of another type': withClaims({ familyName: 1 }),
      'a claim inside of another type': withClaims({ familyName: 'W', address: { city: 1 } }),
      'an additional claim': withClaims({ familyName: 'W', more: 1 }),
      'a type that is described': issueSdJwt({ ...content, vct: typeUrl }),
      'no schema': issued,
    },
  },
  SemanticCheckOfClaims: {
    passes: {
      'all disclosed': issued,
      'nothing disclosed': undisclosed,
      'an unsupported signature': typed('vc+sd-jwt', 'HS256'),
      'an invalid key binding': bind(presented, {}, { typ: 'JWT' }),
    },
    fails: {
      'a disclosure without a digest': foreign,
      'a disclosure that was changed': changed,
      'a disclosure twice': twice,
      'a claim that is there already': extra('salt', 'name', 'Mallory'),
      'no issuer': reissued((token) => delete token.iss),
      'an expiry that is not a number': reissued((token) => (token.exp = 'never')),
      'nothing but separators': '~~',
    },
  },
  ComplianceWithStandards: {
    passes: {
      'a credential of the Cloud Agent, with its type': issued,
      'a presentation': good,
      'the media type of today': typed('dc+sd-jwt'),
      'an algorithm that is not verified here': typed('dc+sd-jwt', 'ES384'),
      'a type by a URI': licence,
      'a token status list': reissued(
        (token) => (token.status = { status_list: { idx: 0, uri: 'https://a.example/1' } }),
      ),
      'a holder by a DID URL': boundTo({ kid: 'did:web:a.example#1' }),
      'a digest of the type inside': extra('salt', 'more', { 'vct#integrity': 1 }),
    },
    fails: {
      'a media type of something else': typed('JWT'),
      'no media type': withHeader({ alg: 'EdDSA' }),
      'alg none': typed('dc+sd-jwt', 'none'),
      'a MAC': typed('dc+sd-jwt', 'HS256'),
      'no alg': withHeader({ typ: 'dc+sd-jwt' }),
      'no type': reissued((token) => delete token.vct),
      'a type that is empty': reissued((token) => (token.vct = '')),
      'a type that is not a URI though it has a colon': reissued((token) => (token.vct = ':person')),
      'a digest of the type that is not a text': reissued((token) => (token['vct#integrity'] = 1)),
      'a digest of the type that is hidden': extra('salt', 'vct#integrity', 'sha256-x'),
      'a subject that is not a URI though it has a colon': reissued((token) => (token.sub = 'a b:c')),
      'a private key': reissued((token) => (token.cnf.jwk.d = 'AAAA')),
      'a status that is text': reissued((token) => (token.status = 'valid')),
      'an invalid position in a list': reissued(
        (token) => (token.status = { status_list: { idx: -1, uri: 'https://a.example/1' } }),
      ),
      'a list without an address': reissued((token) => (token.status = { status_list: { idx: 0 } })),
      'an end before the beginning': reissued((token) => (token.exp = token.iat - 1)),
      'a key binding of another type': bind(presented, {}, { typ: 'JWT' }),
      'a key binding for several': bind(presented, { aud: [audience] }),
      'a disclosure without a digest': foreign,
    },
  },
  RevocationCheck: {
    passes: {
      'no status': issued,
      'a place in a list': withStatus,
    },
    fails: {
      'an unsupported status': reissued((token) => (token.status = { status_list: {} })),
      'a disclosure without a digest': foreign,
    },
  },
})
