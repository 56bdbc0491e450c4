/**
 * A credential format for tests: a JWS of the issuer in base64url, with a type and with claims in `toy`. A
 * presentation is a JWS of the subject in base64url that contains the credential.
 */
import * as z from 'zod'
import { fromBase64, fromUtf8, toBase64url } from '../../../../src/foundation/bytes.ts'
import { JsonValue } from '../../../../src/foundation/json.ts'
import { checkSignature } from '../../../../src/credentials/codecs/did-signature.ts'
import { decodeJws, parseClaims, signJws } from '../../../../src/credentials/codecs/jws.ts'
import { signedBy } from '../../../../src/credentials/codecs/verify.ts'
import { toValidity } from '../../../../src/credentials/codecs/validity.ts'
import { canonicalDid } from '../../../../src/did/document.ts'
import { findDifference } from '../../../../src/credentials/formats/difference.ts'
import type { Decoded, Format } from '../../../../src/credentials/formats/format.ts'
import type { OpenIdFormat } from '../../../../src/definitions/format-names.ts'
import { once } from '../../../../src/credentials/formats/parts.ts'

const id = 'toy' as OpenIdFormat

const Credential = z.looseObject({
  iss: z.string(),
  sub: z.string(),
  nbf: z.number(),
  type: z.string(),
  toy: z.record(z.string(), JsonValue),
  credentialStatus: z.looseObject({ type: z.string() }),
})
const Presentation = z.looseObject({
  iss: z.string(),
  aud: z.string(),
  nonce: z.string(),
  iat: z.number(),
  credential: z.string(),
})

const wrap = toBase64url
const unwrap = (text: string) => decodeJws(fromUtf8(fromBase64(text)))

function decode(text: string): Decoded {
  const jws = unwrap(text)
  const { iss, sub, nbf, type, toy: claims, credentialStatus } = parseClaims(Credential, jws.payload)
  const about = { issuerDid: iss, subjectDid: sub, statuses: [credentialStatus], ...toValidity([nbf], []) }
  return {
    ...about,
    claims,
    schemas: [type],
    types: [type],
    root: { toy: claims },
    signed: signedBy(jws, iss),
    isBound: true,
  }
}

export const toy: Format = {
  id,
  decode,

  partsOf(text) {
    const decoded = once(() => decode(text))
    return {
      payload: () => decoded().signed.payload,
      claims: () => ({ ...decoded(), subjects: [decoded().claims] }),
      issuerDid: () => decoded().issuerDid,
      audience: () => undefined,
      checkAlgorithms: decoded,
      checkSignatures: (keys) => decoded().signed.check(keys),
      checkCompliance: () => void decoded(),
      toCandidate: () => ({ algorithms: {}, claims: decoded().root, measured: decoded().root }),
    }
  },

  statusFormFor: () => 'application/json',

  sign({ claims, type, schemaIds }, { issuerDid, issuerKey, subjectDid, credentialStatus, now }) {
    const payload = {
      iss: issuerDid,
      sub: subjectDid,
      nbf: now,
      type: (type && 'metadata' in type ? type.metadata.vct : schemaIds[0]) ?? 'urn:toy:any',
      toy: claims,
      credentialStatus,
    }
    return wrap(signJws({ typ: 'toy' }, payload, issuerKey))
  },

  findDifference: ({ claims }, offered) =>
    findDifference({ claims: offered.claims, schemas: [] }, { claims, schemas: [] }),

  checkType({ types }, offered) {
    if (types[0] !== offered[0]) throw new TypeError('it is another toy')
  },

  isBoundTo: ({ subjectDid }, { did }) => canonicalDid(subjectDid!) === did,

  findHolderKey: async (keys, { subject }) => (await keys.ofDid(subject!)).privateJwk,

  async present(keys, [held], { audience, nonce, now = Date.now() / 1_000 }) {
    const { credential, subject } = held!
    const { resolvable: iss } = await keys.formsOf(subject!)
    const { privateJwk } = await keys.ofDid(subject!)
    return wrap(
      signJws({ typ: 'toy' }, { iss, aud: audience, nonce, iat: Math.floor(now), credential }, privateJwk),
    )
  },

  readPresentation(text) {
    const jws = unwrap(text)
    const answer = parseClaims(Presentation, jws.payload)
    const { iss: holder, credential: token } = answer
    const decoded = decode(token)
    const { issuerDid: issuer, types, root: claims } = decoded
    const credential = {
      format: id,
      issuer,
      types: [...types],
      claims: claims as never,
      holder,
    }
    const queried = { format: id, types, claims, isBound: true }
    return {
      shown: [{ credential, queried, needsHolder: true, decoded }],
      answer,
      checkHolder: ({ resolve }) =>
        checkSignature(jws, { did: decoded.subjectDid!, role: 'holder' }, resolve),
    }
  },
}
