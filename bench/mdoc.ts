/**
 * A driving licence as ISO mdoc with its eleven mandatory elements, signed with ES256: this agent, the bare
 * cryptography (the same signatures, digests and salts, without CBOR), and the OpenWallet Foundation's
 * library.
 */
import {
  createPrivateKey,
  createPublicKey,
  hash,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'
import {
  CoseKey,
  DeviceKey,
  Issuer as OwfIssuer,
  SessionTranscript,
  SignatureAlgorithm,
  Verifier as OwfVerifier,
} from '@owf/mdoc'
import { fromBase64, toBase64url } from '../src/foundation/bytes.ts'
import { type CborMap, type CborValue, decodeCbor, type Embedded } from '../src/foundation/cbor/index.ts'
import { readSign1, signatureInput } from '../src/foundation/cose/index.ts'
import { generateKey, type PrivateJwk, toPublic } from '../src/foundation/crypto/keys.ts'
import { checkMdocChain } from '../src/foundation/x509/mdoc-chain.ts'
import { type Check, runChecks } from '../src/credentials/formats/checks.ts'
import { makeDeviceResponse } from '../src/credentials/formats/mdoc/device-response.ts'
import { readIssuerSigned } from '../src/credentials/formats/mdoc/issuer-signed.ts'
import { transcriptOf } from '../src/credentials/formats/mdoc/session-transcript.ts'
import { deviceAuthentication, encodeTranscript } from '../src/credentials/formats/mdoc/transcript.ts'
import { checksOf, type Presentation } from '../src/credentials/formats/presentation.ts'
import { demandsOf, readPresentation } from '../src/wallet/verification/answer.ts'
import {
  defaultIssuer,
  docType,
  issue,
  namespace,
  session,
} from '../test/credentials/formats/mdoc/_documents.ts'
import { context } from '../test/credentials/formats/mdoc/_owf.ts'
import { pemOf, x5cOf } from '../test/foundation/x509/_chains.ts'
import { at } from '../test/support/mdoc.ts'
import { foreign, ofAgent, peer, plain, type Suites } from './_harness.ts'
import { now } from './_jwt.ts'

const goal = 2

const elements = {
  family_name: 'Wonderland',
  given_name: 'Alice',
  birth_date: '1990-01-01',
  issue_date: '2026-01-01',
  expiry_date: '2090-01-01',
  issuing_country: 'UT',
  issuing_authority: 'Department of Vehicles',
  document_number: '123456789',
  portrait: toBase64url(randomBytes(1_024)),
  driving_privileges: [{ vehicle_category_code: 'B', issue_date: '2020-01-01', expiry_date: '2030-01-01' }],
  un_distinguishing_sign: 'UT',
}
const presented = [
  'family_name',
  'given_name',
  'birth_date',
  'issuing_country',
  'document_number',
  'driving_privileges',
]

/** Issued with all elements, and verified with six of them. The chain of the issuer's certificate is cached. */
export async function openMdoc(): Promise<Suites> {
  const { root, leaf, key: issuerKey } = defaultIssuer
  const holder = generateKey('P-256')
  const issueHere = () => issue(defaultIssuer, holder, { [namespace]: elements }, now)
  const transcript = encodeTranscript(transcriptOf(session))
  const issued = decodeCbor(fromBase64(issueHere())) as CborMap
  const response = makeDeviceResponse(readIssuerSigned(issued), issued.get('issuerAuth'), {
    transcript,
    key: holder,
    discloses: ([, name]) => presented.includes(name!),
  })
  const document = at(decodeCbor(response), 'documents', 0)
  const inputs = inputsOf(document, transcript)
  const [issuerBare, deviceBare] = [bareOf(issuerKey), bareOf(holder)]
  const all = itemsOf(issued)
  const bareIssue = () => {
    for (const item of all) {
      randomBytes(32)
      hash('sha256', item, 'buffer')
    }
    sign('sha256', inputs.issuer.signed, { key: issuerBare.private, dsaEncoding: 'ieee-p1363' })
  }
  const shown = itemsOf(at(document, 'issuerSigned'))
  const bareVerify = () => {
    for (const item of shown) hash('sha256', item, 'buffer')
    for (const [{ signed, signature }, { public: key }] of [
      [inputs.issuer, issuerBare],
      [inputs.device, deviceBare],
    ] as const)
      if (!verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature))
        throw new Error('not verified')
  }
  const text = toBase64url(response)
  const verifyHere = verifierOf(text)
  const theirs = await owf(holder, response)
  return plain({
    'Credentials: issue an mdoc of 11 elements, ES256': [
      ofAgent(issueHere),
      peer('bare cryptography, node:crypto', bareIssue, goal),
      foreign('@owf/mdoc with node:crypto', () => theirs.issue()),
    ],
    'Credentials: verify an mdoc with 6 elements, ES256': [
      ofAgent(verifyHere),
      peer('bare cryptography, node:crypto', bareVerify, goal),
      foreign('@owf/mdoc with node:crypto', () => theirs.verify()),
    ],
  })

  /** Verifies as the verifier of OpenID4VP does. */
  function verifierOf(vp: string) {
    const query = {
      id: 'licence',
      format: 'mso_mdoc' as const,
      meta: { doctype_value: docType },
      claims: presented.map((name) => ({ path: [namespace, name] })),
    }
    const chain = checkMdocChain({
      x5c: x5cOf(leaf),
      anchors: [{ pem: pemOf(root) }],
      docType,
      now: new Date(),
    })
    const certified = Promise.resolve({ ...chain, place: { country: chain.country! } })
    const verifyChain = () => certified
    const demands = demandsOf(query, {
      query: { credentials: [query] },
      constraints: [],
      checkTrust: async () => (await certified).subject,
    })
    const options = {
      now,
      resolve: () => Promise.reject(new Error('no DID is resolved here')),
      verifyChain,
      checkStatus: () => Promise.resolve(),
    }
    const expected = { audience: '', nonce: '', session, options }
    return async () => {
      let presentation: Presentation | undefined
      const form: Check = ['form', () => void (presentation = readPresentation(vp, query, true))]
      const results = await runChecks([form])
      results.push(...(await runChecks(checksOf(presentation!, expected, demands))))
      const failed = results.find(({ result }) => result !== 'passed')
      if (failed) throw new Error(`${failed.name}: ${failed.reason}`)
    }
  }
}

type Signed = { signed: Uint8Array; signature: Uint8Array }

/** The signed bytes and the signatures of issuer and device. */
function inputsOf(document: CborValue, transcript: Uint8Array): { issuer: Signed; device: Signed } {
  const read = (value: CborValue, payload?: Uint8Array): Signed => {
    const sign1 = readSign1(value)
    return { signed: signatureInput(sign1, payload ?? sign1.payload!), signature: sign1.signature }
  }
  const deviceSigned = at(document, 'deviceSigned')
  const payload = deviceAuthentication(transcript, docType, at(deviceSigned, 'nameSpaces') as Embedded)
  return {
    issuer: read(at(document, 'issuerSigned', 'issuerAuth')),
    device: read(at(deviceSigned, 'deviceAuth', 'deviceSignature'), payload),
  }
}

function itemsOf(issuerSigned: CborValue): Uint8Array[] {
  return (at(issuerSigned, 'nameSpaces', namespace) as Embedded[]).map(({ bytes }) => bytes)
}

function bareOf(key: PrivateJwk): { private: KeyObject; public: KeyObject } {
  return {
    private: createPrivateKey({ key: key as never, format: 'jwk' }),
    public: createPublicKey({ key: toPublic(key) as never, format: 'jwk' }),
  }
}

/** The library of others, which takes certificates in DER, and here no time for their chain. */
async function owf(holder: PrivateJwk, deviceResponse: Uint8Array) {
  const { root, leaf, key } = defaultIssuer
  const cached = { ...context, x509: { ...context.x509, verifyCertificateChain: () => undefined } }
  const { clientId, nonce, responseUri } = session as Extract<typeof session, { handover: 'redirect' }>
  const sessionTranscript = await SessionTranscript.forOid4Vp({ clientId, nonce, responseUri }, context)
  const der = (made: typeof leaf) => new Uint8Array(made.certificate.rawData)
  return {
    async issue() {
      const issuer = new OwfIssuer(docType, cached)
      issuer.addIssuerNamespace(namespace, elements)
      const signed = await issuer.sign({
        signingKey: CoseKey.fromJwk(key),
        algorithm: SignatureAlgorithm.ES256,
        digestAlgorithm: 'SHA-256',
        validityInfo: {
          signed: new Date(now * 1_000),
          validFrom: new Date(now * 1_000),
          validUntil: new Date((now + 86_400) * 1_000),
        },
        deviceKeyInfo: { deviceKey: DeviceKey.fromJwk(toPublic(holder)) },
        certificates: [der(leaf)],
      })
      return signed.encodedForOid4Vci
    },
    verify: () =>
      OwfVerifier.verifyDeviceResponse(
        { deviceResponse, sessionTranscript, trustedCertificates: [der(root)] },
        cached,
      ),
  }
}
