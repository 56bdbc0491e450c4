/**
 * The modules of the OpenID Foundation's conformance suite whose result depends on the format, by their
 * names, for ISO mdoc: of issuers (`credential_format` is `mdoc`) and of verifiers (`iso_mdl`). Another
 * library judges the credentials, and makes the presentations.
 */
import { cborDecode, Holder, IssuerSigned, SessionTranscript } from '@owf/mdoc'
import { CompactEncrypt, importJWK } from 'jose'
import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import template from '../../../src/definitions/templates/mdl.ts'
import { generateKey, type PrivateJwk, thumbprintOf, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { defaultIssuer } from '../../credentials/formats/mdoc/_documents.ts'
import { context } from '../../credentials/formats/mdoc/_owf.ts'
import { issueThere, presentThere } from '../../credentials/formats/mdoc/_owf-parties.ts'
import { pemOf } from '../../foundation/x509/_chains.ts'
import { untilEnd } from '../../support/shared.ts'
import { newDid, publishSchema } from '../../support/tenants.ts'
import { attestKeys, newProvider, trust as trustProvider } from '../oid4vci/_attestations.ts'
import { decryptResponse, encryptRequest, metadataOf, newResponseKey } from '../oid4vci/_encryption.ts'
import { faults } from '../oid4vci/_schemas.ts'
import { errorOf, newNonce, prove, redeemOffer, request } from '../oid4vci/_wallet.ts'
import {
  decodeJwt,
  failureOf,
  newVerifierDid,
  presentationOf,
  readRequest,
  respond,
} from '../oid4vp/_wallet.ts'
import { ask } from '../../support/ask.ts'
import { documented } from '../_conformance.ts'
import { docType, namespace, offer, startLicences, trust } from './_licence.ts'

const licences = await untilEnd(startLicences())
const { agent, issuer: tenant, issuerId } = licences
const setup = {
  agent,
  tenant,
  issuerId,
  identifier: `${agent.url}/oid4vci/issuers/${issuerId}`,
  issuingDID: '',
}

const configurationId = 'Complete'
const { did: author } = await newDid(tenant, 'assertionMethod')
const schemaId = await publishSchema(tenant, author, { name: 'complete', ...template.schema })
await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
  path: { issuerId },
  body: {
    configurationId,
    format: 'mso_mdoc',
    doctype: docType,
    namespaces: namespace,
    schemaId,
    issuerCertificateId: licences.certificateId,
  },
})
// The certificate of the signer names no state.
const { issuing_jurisdiction: _, ...claims } = template.example
const authority = new Uint8Array(new X509Certificate(licences.authority).raw)

/** The access token of a new offer. */
async function authorize(): Promise<string> {
  const { credentialOffer } = await offer(licences, { credentialConfigurationId: configurationId, claims })
  return (await redeemOffer(setup, credentialOffer)).body.access_token
}

/** Requests the credential. `changes` replace members of the request; undefined removes them. */
function take(token: string, changes: object) {
  const body = JSON.parse(JSON.stringify({ credential_configuration_id: configurationId, ...changes }))
  expect(faults('credential_request-1_0', body)).toEqual([])
  return request(setup, { token, body })
}

const proven = async (key: PrivateJwk) => ({ proofs: { jwt: [await prove(setup, { key })] } })

/** The payload of `issuerAuth`, with members that the library does not read. */
function msoOf({ issuerAuth }: IssuerSigned): Map<string, any> {
  return cborDecode<Map<string, any>>(issuerAuth.payload!)
}

/** Checks a credential as the conditions of the suite do. */
async function checkCredential(credential: string, key: PrivateJwk): Promise<IssuerSigned> {
  // ValidateCredentialIsUnpaddedBase64Url
  expect(credential).toMatch(/^[\w-]+$/)
  // ValidateMdocIssuerSignedSignature, ValidateMdocIssuerSignedItemDigests: it throws for each failed check.
  await Holder.verifyIssuerSigned({ issuerSigned: credential, trustedCertificates: [authority] }, context)
  const issued = IssuerSigned.fromEncodedForOid4Vci(credential)
  const { mobileSecurityObject: mso, protectedHeaders } = issued.issuerAuth
  const configuration = (await metadataOf(setup)).credential_configurations_supported[configurationId]
  // EnsureMdocDocTypeMatchesCredentialConfiguration
  expect(mso.docType).toBe(configuration.doctype)
  // VCIEnsureMdocDeviceKeyMatchesProofKey
  expect(mso.deviceKeyInfo.deviceKey.jwk).toMatchObject(toPublic(key))
  // EnsureMdocMdlMandatoryDataElementsPresent
  const present = issued.getIssuerNamespace(namespace)!.map(({ elementIdentifier }) => elementIdentifier)
  expect(present).toEqual(expect.arrayContaining(mandatory))
  // ValidateMdocMsoRevocationMechanism
  const { idx, uri } = Object.fromEntries(msoOf(issued).get('status').get('status_list'))
  expect(idx).toBeGreaterThanOrEqual(0)
  const list = await fetch(uri, { headers: { accept: 'application/statuslist+cwt' } })
  expect([list.status, list.headers.get('content-type')]).toEqual([200, 'application/statuslist+cwt'])
  // VCIValidateCredentialSigningAlgValuesSupported
  expect(configuration.credential_signing_alg_values_supported).toContain(protectedHeaders.headers.get(1))
  return issued
}

/** ISO/IEC 18013-5 §7.2.1, Table 5. */
const mandatory = [
  'family_name',
  'given_name',
  'birth_date',
  'issue_date',
  'expiry_date',
  'issuing_country',
  'issuing_authority',
  'document_number',
  'portrait',
  'driving_privileges',
  'un_distinguishing_sign',
]

async function happyFlow() {
  const [token, key] = [await authorize(), generateKey('P-256')]
  const reply = await take(token, await proven(key))
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  await checkCredential(reply.body.credentials[0].credential, key)
  return { token, key, reply }
}

const ofIssuers: Record<string, () => Promise<void>> = {
  async VCIIssuerMetadataTest() {
    const metadata = await metadataOf(setup)
    expect(faults('credential_issuer_metadata-1_0', metadata)).toEqual([])
    expect(metadata.credential_configurations_supported[configurationId]).toMatchObject({
      format: 'mso_mdoc',
      doctype: docType,
      cryptographic_binding_methods_supported: expect.arrayContaining(['cose_key']),
    })
  },

  async VCIIssuerHappyFlow() {
    await happyFlow()
  },

  async VCIIssuerHappyFlowAdditionalRequests() {
    const { token, key, reply } = await happyFlow()
    const again = await take(token, await proven(key))
    expect([again.status, again.body]).toEqual([200, reply.body])
  },

  async VCIIssuerBatchIssuance() {
    const [token, nonce] = [await authorize(), await newNonce(setup)]
    const keys = [1, 2, 3].map(() => generateKey('P-256'))
    const jwt = await Promise.all(keys.map((key) => prove(setup, { key, claims: { nonce } })))
    const { body } = await take(token, { proofs: { jwt } })
    // VCIExtractBatchMdocBindingKeys: each credential has the key of the proof in its place.
    const all = await Promise.all(
      keys.map((key, index) => checkCredential(body.credentials[index].credential, key)),
    )
    expect(body.credentials).toHaveLength(keys.length)
    // VCIEnsureBatchMdocCredentialDatasetsMatch
    const [first, ...others] = all.map((each) => each.getPrettyClaims(namespace))
    for (const other of others) expect(other).toEqual(first)
    // VCIEnsureBatchTimeClaimsNotLinkable
    const times = all.map(
      ({
        issuerAuth: {
          mobileSecurityObject: { validityInfo },
        },
      }) =>
        [validityInfo.signed, validityInfo.validFrom, validityInfo.validUntil].map(
          (date) => +date % 3_600_000,
        ),
    )
    expect(times).toEqual(keys.map(() => [0, 0, 0]))
    const random = all.flatMap((each) =>
      each.getIssuerNamespace(namespace)!.map((item) => String(item.random)),
    )
    expect(new Set(random).size).toBe(random.length)
    const indexes = all.map((each) => msoOf(each).get('status').get('status_list').get('idx'))
    expect(new Set(indexes).size).toBe(keys.length)
  },

  async VCIIssuerFailOnUnsupportedEncryptionAlgorithm() {
    const [token, key] = [await authorize(), generateKey('P-256')]
    const takeEncrypted = async (parameters: object) => {
      const members = { ...(await proven(key)), credential_response_encryption: parameters }
      const body = await encryptRequest(setup, { credential_configuration_id: configurationId, ...members })
      const headers = { authorization: `Bearer ${token}` }
      const type = 'application/jwt'
      return ask(agent, `POST /oid4vci/issuers/${issuerId}/credentials`, { body, headers, type })
    }
    const refused = await takeEncrypted(newResponseKey({ alg: 'UNSUPPORTED_ALG' }).parameters)
    expect(errorOf(refused)).toEqual([400, 'invalid_encryption_parameters'])
    const supported = newResponseKey()
    const { body } = await decryptResponse((await takeEncrypted(supported.parameters)).body, supported)
    await checkCredential(body.credentials[0].credential, key)
  },

  async VCIIssuerFailOnInvalidNonce() {
    const jwt = await prove(setup, { key: generateKey('P-256'), claims: { nonce: 'a-random-nonce' } })
    expect(errorOf(await take(await authorize(), { proofs: { jwt: [jwt] } }))).toEqual([400, 'invalid_nonce'])
  },

  async VCIIssuerFailOnInvalidJwtProofSignature() {
    const jwt = await prove(setup, { key: generateKey('P-256'), signer: generateKey('P-256') })
    expect(errorOf(await take(await authorize(), { proofs: { jwt: [jwt] } }))).toEqual([400, 'invalid_proof'])
  },

  async VCIIssuerFailOnMissingProof() {
    expect(errorOf(await take(await authorize(), {}))).toEqual([400, 'invalid_proof'])
  },

  async VCIIssuerFailOnInvalidKeyAttestationSignature() {
    const [provider, stranger] = [await newProvider(), await newProvider()]
    await trustProvider(setup, provider, 'optional')
    const [token, key] = [await authorize(), generateKey('P-256')]
    const attested = async (options: object = {}) => ({
      proofs: { attestation: [attestKeys(provider, [key], await newNonce(setup), options)] },
    })
    expect(errorOf(await take(token, await attested({ signer: stranger.key })))).toEqual([
      400,
      'invalid_proof',
    ])
    const { body } = await take(token, await attested())
    await checkCredential(body.credentials[0].credential, key)
  },
}

const verifier = { agent, tenant: licences.verifier }
await trust(licences.verifier, pemOf(defaultIssuer.root))
const did = await newVerifierDid(verifier)

const asked = ['family_name', 'age_over_18']
const dcqlQuery = {
  credentials: [
    {
      id: 'licence',
      format: 'mso_mdoc',
      meta: { doctype_value: docType },
      claims: asked.map((name) => ({ path: [namespace, name] })),
    },
  ],
}

/** A request by value, a signed one by reference, and one for an encrypted response. */
async function requests() {
  const variants = [{}, { did }, { did, responseMode: 'direct_post.jwt' as const }]
  return Promise.all(
    variants.map(async (given) => {
      const body = { issuers: 'trusted' as const, dcqlQuery, ...given }
      const made = await licences.verifier.call('POST /present-proof/presentations/openid4vp', { body })
      const url = new URL(made.openid4vp!.authorizationRequest)
      return { presentationId: made.presentationId, url, request: await readRequest(url.href) }
    }),
  )
}

/** Presents a document of another issuer, by a holder that signs the session of the request, or another. */
async function present(own: any, change: { nonce?: string } = {}) {
  const { client_id: clientId, response_uri: responseUri, state } = own
  const key = own.response_mode === 'direct_post.jwt' ? own.client_metadata.jwks.keys[0] : undefined
  const session = {
    clientId,
    responseUri,
    nonce: change.nonce ?? own.nonce,
    ...(key && { jwkThumbprint: thumbprintOf(key) }),
  }
  const transcript = await SessionTranscript.forOid4Vp(session, context)
  const vp_token = { licence: [await presentThere(await issueThere(), transcript, asked)] }
  if (!key) return respond(own, { vp_token: JSON.stringify(vp_token), state })
  const text = Buffer.from(JSON.stringify({ vp_token, state }))
  const header = { alg: 'ECDH-ES', enc: 'A128GCM', kid: key.kid }
  const jwe = new CompactEncrypt(text).setProtectedHeader(header)
  return respond(own, { response: await jwe.encrypt(await importJWK(key)) })
}

const ofVerifiers: Record<string, () => Promise<void>> = {
  async VP1FinalVerifierHappyFlow() {
    for (const { presentationId, request: own } of await requests()) {
      expect(own.nonce).toMatch(/^[\w.~-]{43}$/)
      const reply = await present(own)
      expect([reply.status, reply.body]).toEqual([200, {}])
      const { status, openid4vp } = await presentationOf(verifier, presentationId)
      expect(status, JSON.stringify(openid4vp!.checks)).toBe('PresentationVerified')
    }
  },

  async VP1FinalVerifierRequestUriMethodPost() {
    const [, { presentationId, url }] = (await requests()) as [unknown, { presentationId: string; url: URL }]
    expect(url.searchParams.get('request_uri_method')).toBe('post')
    const body = new URLSearchParams({ wallet_nonce: 'n-1' })
    const fetched = await fetch(url.searchParams.get('request_uri')!, { method: 'POST', body })
    expect(fetched.headers.get('content-type')).toBe('application/oauth-authz-req+jwt')
    const { payload } = decodeJwt(await fetched.text())
    expect(payload.wallet_nonce).toBe('n-1')
    expect((await present(payload)).status).toBe(200)
    expect((await presentationOf(verifier, presentationId)).status).toBe('PresentationVerified')
  },

  async VP1FinalVerifierRequestUriFetchedTwice() {
    const [, { url, request: own }] = (await requests()) as [unknown, { url: URL; request: any }]
    const again = await readRequest(url.href)
    for (const name of ['nonce', 'state', 'client_id', 'response_uri']) expect(again[name]).toBe(own[name])
    expect((await present(again)).status).toBe(200)
  },

  async VP1FinalVerifierInvalidSessionTranscript() {
    for (const { presentationId, request: own } of await requests()) {
      expect((await present(own, { nonce: 'another' })).status).toBe(400)
      expect(await failureOf(verifier, presentationId)).toMatchObject([{ name: 'holder-binding' }])
    }
  },
}

describe.each([
  ['Issuer of mdoc', ofIssuers, '21'],
  ['Verifier of mdoc', ofVerifiers, '4'],
] as const)('%s', (role, modules, all) => {
  test.each(Object.entries(modules))('%s', (_, run) => run())

  test('the documentation has the same modules', () => {
    const { row, names } = documented(role)
    expect(names).toEqual(Object.keys(modules))
    expect(row).toContain(`${names.length} of ${all} modules`)
  })
})
