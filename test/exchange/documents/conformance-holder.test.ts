/**
 * The modules of the OpenID Foundation's conformance suite for wallets (package `vp1finalwallet`) whose
 * result depends on the format, by their names, for the variant `iso_mdl`. The licence is issued here, and
 * another library verifies what is presented.
 */
import { DeviceResponse, SessionTranscript } from '@owf/mdoc'
import { compactDecrypt } from 'jose'
import { randomBytes, X509Certificate } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { fromBase64 } from '../../../src/foundation/bytes.ts'
import { type CborMap, decodeCbor, type Embedded } from '../../../src/foundation/cbor/index.ts'
import { generateKey, thumbprintOf, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { context } from '../../credentials/formats/mdoc/_owf.ts'
import { verifyThere } from '../../credentials/formats/mdoc/_owf-parties.ts'
import { photoId } from '../../foundation/x509/_mdoc.ts'
import { at } from '../../support/mdoc.ts'
import { untilEnd } from '../../support/shared.ts'
import { refusal, until } from '../../support/tenants.ts'
import { documented } from '../_conformance.ts'
import { acceptRequest, act, receive, receiveDigital } from '../oid4vp/holder/_holder.ts'
import { multisigned, newSigner, openVerifier, shop, toUrl, unsigned } from '../oid4vp/holder/_verifier.ts'
import { docType, licence, namespace, offer, startLicences, take } from './_licence.ts'

const licences = await untilEnd(startLicences())
const { holder } = licences
await take(holder, (await offer(licences)).credentialOffer)
const verifier = await untilEnd(openVerifier())
beforeEach(() => verifier.reset())

const newNonce = () => randomBytes(32).toString('base64url')
const root = new Uint8Array(new X509Certificate(licences.authority).raw)

const queryFor = (names: readonly string[], id = 'licence', doctype_value = docType) => ({
  id,
  format: 'mso_mdoc',
  meta: { doctype_value },
  ...(names.length > 0 && { claims: names.map((name) => ({ path: [namespace, name] })) }),
})

const asked = ['family_name', 'driving_privileges']
const dcql_query = { credentials: [queryFor(asked)] }

/** Answers a request, and returns the parameters of the response. */
async function respond(url: string) {
  const record = await acceptRequest({ holder }, url)
  const form = Object.fromEntries(verifier.responses.at(-1)!)
  return { record, form, tokens: JSON.parse(form['vp_token'] ?? '{}') as Record<string, string[]> }
}

type Session = Parameters<typeof SessionTranscript.forOid4Vp>[0]

const redirect = (session: Session) => SessionTranscript.forOid4Vp(session, context)

/** Checks a presentation as the conditions of the suite do. */
async function checkPresentation(texts: string[] | undefined, transcript: SessionTranscript, names = asked) {
  expect(texts).toHaveLength(1)
  const bytes = fromBase64(texts![0]!)
  // ParseCredentialAsMdoc
  const { documents = [] } = DeviceResponse.decode(bytes)
  expect(documents).toHaveLength(1)
  const [{ docType: type, deviceSigned, issuerSigned }] = documents as [(typeof documents)[0]]
  expect(await verifyThere(bytes, transcript, root)).toEqual([])
  // EnsureMdocDeviceSignedElementsEmpty
  expect(deviceSigned.deviceNamespaces.deviceNamespaces.size).toBe(0)
  // ValidateMdocDocTypeMatchesDcqlQuery
  expect(type).toBe(docType)
  // ValidateDisclosedMdocClaimsMatchDcqlQuery, CheckOnlyRequestedMdocElementsDisclosed
  const shown = [...issuerSigned.issuerNamespaces.issuerNamespaces].flatMap(([name, items]) =>
    items.map(({ elementIdentifier }) => `${name} ${elementIdentifier}`),
  )
  expect(new Set(shown)).toEqual(new Set(names.map((name) => `${namespace} ${name}`)))
}

/** The values of a request that enter the transcript. */
const sessionOf = (clientId: string, nonce: string): Session => ({
  clientId,
  nonce,
  responseUri: verifier.responseUri,
})
const clientId = `decentralized_identifier:${verifier.did}`

/** Requests with a signed object, and checks the presentation. */
async function presentSigned(changes: object = {}, names = asked) {
  const nonce = newNonce()
  const object = verifier.sign({ dcql_query, nonce, ...changes })
  const { form, tokens, record } = await respond(verifier.offer(object))
  await checkPresentation(tokens['licence'], await redirect(sessionOf(clientId, nonce)), names)
  return { form, tokens, record }
}

const passport = queryFor([], 'passport', photoId)
const sets = (required: boolean) => ({
  credentials: [queryFor(asked), passport],
  credential_sets: [{ options: [['licence']] }, { options: [['passport']], required }],
})

const modules: Record<string, () => Promise<void>> = {
  async VP1FinalWalletHappyFlow() {
    const { form } = await presentSigned()
    expect(Object.keys(form)).toEqual(['vp_token'])
    const request = unsigned(verifier, { dcql_query })
    const { tokens } = await respond(toUrl(request))
    await checkPresentation(tokens['licence'], await redirect(sessionOf(request.client_id, request.nonce)))
  },

  async VP1FinalWalletAlternateHappyFlow() {
    const state = 's'.repeat(64)
    verifier.script.body = JSON.stringify({ redirect_uri: 'https://verifier.example/done#1' })
    const { form, record } = await presentSigned({ state, iss: 'another', unknown: [1] })
    expect(form['state']).toBe(state)
    expect(record.openid4vpRequest!.redirectUri).toBe('https://verifier.example/done#1')
    // The URI of the response is that in the client id.
    const { response_uri: _, ...derived } = unsigned(verifier, { dcql_query })
    const { tokens } = await respond(toUrl(derived))
    await checkPresentation(tokens['licence'], await redirect(sessionOf(derived.client_id, derived.nonce)))
  },

  async VP1FinalWalletRequestUriMethodPost() {
    const nonce = newNonce()
    const sign = ({ form }: { form: URLSearchParams }) =>
      verifier.sign({ dcql_query, nonce, wallet_nonce: form.get('wallet_nonce') })
    const { tokens } = await respond(verifier.offer(sign, { method: 'post' }))
    const { form } = verifier.fetched.at(-1)!
    expect(JSON.parse(form.get('wallet_metadata')!)).toMatchObject({
      vp_formats_supported: { mso_mdoc: { issuerauth_alg_values: expect.arrayContaining([-7]) } },
    })
    await checkPresentation(tokens['licence'], await redirect(sessionOf(clientId, nonce)))
  },

  async VP1FinalWalletIgnoresUnusableEncryptionKey() {
    const [key, nonce] = [generateKey('P-256'), newNonce()]
    const keys = [
      { kty: 'AKP', alg: 'ML-KEM-9', pub: 'AAAA', kid: 'a', use: 'enc' },
      { ...toPublic(generateKey('P-256')), alg: 'ES256', use: 'sig', kid: 'c' },
      { ...toPublic(key), alg: 'ECDH-ES', kid: 'd' },
    ]
    const client_metadata = { jwks: { keys }, encrypted_response_enc_values_supported: ['A256GCM'] }
    const changes = { dcql_query, nonce, response_mode: 'direct_post.jwt', client_metadata }
    const { form } = await respond(verifier.offer(verifier.sign(changes)))
    const { plaintext } = await compactDecrypt(form['response']!, { ...key })
    const { vp_token } = JSON.parse(Buffer.from(plaintext).toString())
    const jwkThumbprint = thumbprintOf(toPublic(key))
    await checkPresentation(
      vp_token.licence,
      await redirect({ ...sessionOf(clientId, nonce), jwkThumbprint }),
    )
  },

  async VP1FinalWalletFewerClaimsThanAvailable() {
    const fewer = ['height']
    expect(Object.keys(licence).length).toBeGreaterThan(fewer.length)
    await presentSigned({ dcql_query: { credentials: [queryFor(fewer)] } }, fewer)
  },

  async VP1FinalWalletOptionalCredentialSet() {
    const { tokens } = await presentSigned({ dcql_query: sets(false) })
    expect(Object.keys(tokens)).toEqual(['licence'])
  },

  async VP1FinalWalletNoClaimsInDcqlQuery() {
    const object = verifier.sign({ dcql_query: { credentials: [queryFor([])] } })
    const { tokens } = await respond(verifier.offer(object))
    // The library refuses a document without elements.
    const document = at(decodeCbor(fromBase64(tokens['licence']![0]!)), 'documents', 0)
    expect(at(document, 'docType')).toBe(docType)
    expect([...(at(document, 'issuerSigned') as CborMap).keys()]).toEqual(['issuerAuth'])
    const { content } = at(document, 'deviceSigned', 'nameSpaces') as Embedded
    expect(decodeCbor(content)).toEqual(new Map())
  },

  async VP1FinalWalletRequiredNonMatchingCredential() {
    const url = verifier.offer(verifier.sign({ dcql_query: sets(true) }))
    const { presentationId } = await receive(holder, url)
    expect((await refusal(act(holder, presentationId, { action: 'request-accept' }))).status).toBe(400)
    await act(holder, presentationId, { action: 'request-reject' })
    await until(
      'an error',
      () => Promise.resolve(verifier.responses),
      ({ length }) => length > 0,
    )
    expect(verifier.responses.map((form) => [form.get('error'), form.has('vp_token')])).toEqual([
      ['access_denied', false],
    ])
  },

  async VP1FinalWalletUnknownTransactionDataType() {
    const data = { type: 'unknown', credential_ids: ['licence'] }
    const transaction_data = [Buffer.from(JSON.stringify(data)).toString('base64url')]
    const url = verifier.offer(verifier.sign({ dcql_query, transaction_data }))
    expect(await refusal(receive(holder, url))).toMatchObject({
      status: 400,
      detail: expect.stringContaining('transaction_data'),
    })
    expect(verifier.responses.map((form) => [form.get('error'), form.has('vp_token')])).toEqual([
      ['invalid_transaction_data', false],
    ])
  },

  async VP1FinalWalletMultiSignedOneInvalidSignature() {
    const [one, other, nonce] = [newSigner(), newSigner(), newNonce()]
    const invalid = { ...one, key: generateKey('P-256') }
    const request = multisigned([invalid, other], { dcql_query, nonce })
    const { presentationId } = await receiveDigital(holder, request, shop)
    const { openid4vpRequest } = await act(holder, presentationId, { action: 'request-accept' })
    const { vp_token } = openid4vpRequest!.digitalCredential!.data as unknown as {
      vp_token: Record<string, string[]>
    }
    const transcript = await SessionTranscript.forOid4VpDcApi({ origin: shop, nonce }, context)
    await checkPresentation(vp_token['licence'], transcript)
  },
}

describe('Holder of mdoc', () => {
  test.each(Object.entries(modules))('%s', (_, run) => run())

  test('the documentation has the same modules', () => {
    const { row, names } = documented('Holder of mdoc')
    expect(names).toEqual(Object.keys(modules))
    expect(row).toContain(`${names.length} of 17 modules`)
  })
})
