/** JWT credentials, signed and verified: this agent, the bare steps, and other libraries. */
import { verifyJwtVc } from '../test/credentials/codecs/_verify.ts'
import { createJWT, EdDSASigner, ES256KSigner, verifyJWT } from 'did-jwt'
import { compactVerify, CompactSign, importJWK } from 'jose'
import { fromBase64, utf8 } from '../src/foundation/bytes.ts'
import { issueJwtVc } from '../src/credentials/codecs/jwt-vc.ts'
import { toPublic } from '../src/foundation/crypto/keys.ts'
import { foreign, ofAgent, peer, plain, type Suites, type Work } from './_harness.ts'
import { claims, issuer, newSigner, now, payloadOf, signBare, verifyBare, type Signer } from './_jwt.ts'

/** Both signature algorithms of issuers. */
export async function openJwt(): Promise<Suites> {
  const [secp256k1, ed25519] = [newSigner('ES256K'), newSigner('EdDSA')]
  return plain({ ...suitesOf(secp256k1, []), ...suitesOf(ed25519, await joseWorks(ed25519)) })
}

const subject = 'did:example:holder'

function issue({ key }: Signer): string {
  return issueJwtVc({
    issuerDid: issuer,
    issuerKey: key,
    subjectDid: subject,
    claims,
    schemas: [],
    validityPeriod: 3_600,
    now,
  })
}

function suitesOf(signer: Signer, [joseSign, joseVerify]: Work[]): Record<string, Work[]> {
  const { alg, bare, document, key } = signer
  const jwt = issue(signer)
  const payload = payloadOf(jwt)
  const resolve = () => Promise.resolve(document)
  const didJwt = {
    issuer,
    signer: alg === 'EdDSA' ? EdDSASigner(fromBase64(key.d)) : ES256KSigner(fromBase64(key.d)),
    resolver: {
      resolve: () =>
        Promise.resolve({
          didDocument: document as never,
          didResolutionMetadata: {},
          didDocumentMetadata: {},
        }),
    },
  }
  const library = `bare steps, ${bare.library}`
  return {
    [`Credentials: sign a JWT, ${alg}`]: [
      ofAgent(() => issue(signer)),
      peer(library, () => signBare(signer, payload), 1.2),
      foreign('did-jwt', () => createJWT(payload, { ...didJwt, alg }, { alg })),
      ...(joseSign ? [joseSign] : []),
    ],
    [`Credentials: verify a JWT, ${alg}`]: [
      ofAgent(() => verifyJwtVc(jwt, { resolve, now })),
      peer(library, () => verifyBare(signer, jwt), 1.2),
      foreign('did-jwt', () => verifyJWT(jwt, { resolver: didJwt.resolver })),
      ...(joseVerify ? [joseVerify] : []),
    ],
  }
}

/** jose does not support secp256k1. */
async function joseWorks(signer: Signer): Promise<Work[]> {
  const jwt = issue(signer)
  const bytes = utf8(JSON.stringify(payloadOf(jwt)))
  const [privateKey, publicKey] = [
    await importJWK(signer.key, 'EdDSA'),
    await importJWK(toPublic(signer.key), 'EdDSA'),
  ]
  return [
    foreign('jose', () =>
      new CompactSign(bytes).setProtectedHeader({ typ: 'JWT', alg: 'EdDSA' }).sign(privateKey),
    ),
    foreign('jose', () => compactVerify(jwt, publicKey)),
  ]
}
