/** Documents of other libraries are accepted here, and ours there: issuers, holders and verifiers. */
import { DeviceResponse as OtherResponse, Document, MDoc, parse, Verifier as OtherVerifier } from '@auth0/mdl'
import { CipherSuite, DhkemP256HkdfSha256, Aes128Gcm, HkdfSha256 } from '@hpke/core'
import { Holder, SessionTranscript } from '@owf/mdoc'
import { describe, expect, test } from 'vitest'
import { fromBase64, toBase64url } from '../../../../src/foundation/bytes.ts'
import { type CborMap, decodeCbor, embed, encodeCbor } from '../../../../src/foundation/cbor/index.ts'
import { openBase } from '../../../../src/foundation/crypto/hpke.ts'
import { generateKey, thumbprintOf, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { decodeMdoc } from '../../../../src/credentials/formats/mdoc/decode.ts'
import { makeDeviceResponse } from '../../../../src/credentials/formats/mdoc/device-response.ts'
import { readIssuerSigned } from '../../../../src/credentials/formats/mdoc/issuer-signed.ts'
import { transcriptOf } from '../../../../src/credentials/formats/mdoc/session-transcript.ts'
import { encodeTranscript } from '../../../../src/credentials/formats/mdoc/transcript.ts'
import type { Session } from '../../../../src/credentials/formats/presentation.ts'
import { pemOf } from '../../../foundation/x509/_chains.ts'
import { order } from '../../../support/mdoc.ts'
import {
  defaultHolder,
  defaultIssuer,
  docType,
  elements,
  issue,
  judge,
  namespace,
  query,
  session,
} from './_documents.ts'
import { context } from './_owf.ts'
import { dates, der, issueThere, presentThere, verifyThere } from './_owf-parties.ts'

const root = der(defaultIssuer.root)
const encryptionKey = generateKey('P-256')

const names = ['family_name', 'issuing_country']
const asked = { ...query, claims: names.map((name) => ({ path: [namespace, name] })) }
const shown = { [namespace]: { family_name: 'Doe', issuing_country: 'UT' } }
const { clientId, nonce, responseUri } = session as Extract<Session, { handover: 'redirect' }>
const origin = 'https://shop.example'
const jwkThumbprint = thumbprintOf(encryptionKey)

/** The transcripts of the library, from the same values. */
const sessions: [string, Session, () => Promise<SessionTranscript>][] = [
  ['redirect', session, () => SessionTranscript.forOid4Vp({ clientId, nonce, responseUri }, context)],
  [
    'redirect, encrypted',
    { ...session, encryptedTo: encryptionKey } as Session,
    () => SessionTranscript.forOid4Vp({ clientId, nonce, responseUri, jwkThumbprint }, context),
  ],
  [
    'dc-api',
    { handover: 'dc-api', origin, nonce },
    () => SessionTranscript.forOid4VpDcApi({ origin, nonce }, context),
  ],
  [
    'dc-api, encrypted',
    { handover: 'dc-api', origin, nonce, encryptedTo: encryptionKey },
    () => SessionTranscript.forOid4VpDcApi({ origin, nonce, jwkThumbprint }, context),
  ],
]

const transcriptFor = (own: Session) => encodeTranscript(transcriptOf(own))

/** A response of this wallet, of a credential that it holds. */
function respond(credential: string, own: Session): Uint8Array {
  const value = decodeCbor(fromBase64(credential)) as CborMap
  return makeDeviceResponse(readIssuerSigned(value), value.get('issuerAuth'), {
    transcript: transcriptFor(own),
    key: defaultHolder,
    discloses: ([, name]) => names.includes(name!),
  })
}

describe('@owf/mdoc', () => {
  test('the wallet accepts its credential', async () => {
    const { claims, types, holderKey, signed } = decodeMdoc(await issueThere())
    expect({ claims, types }).toEqual({ claims: { [namespace]: elements }, types: [docType] })
    expect(holderKey).toEqual(toPublic(defaultHolder))
    expect(() => signed.checkDigests!()).not.toThrow()
  })

  test('its holder accepts ours', async () => {
    await Holder.verifyIssuerSigned(
      { issuerSigned: issue(defaultIssuer, defaultHolder), trustedCertificates: [root] },
      context,
    )
  })

  test.each(sessions)('%s: issued there, presented there, verified here', async (_, own, theirs) => {
    const text = await presentThere(await issueThere(), await theirs(), names)
    const verdict = await judge(text, { query: asked, session: own })
    expect(verdict, verdict.reason).toMatchObject({ passed: order, claims: shown })
    // It draws 32 bits, where the standard permits 31.
    expect(['', 'a digestID is 2147483648 or more']).toContain(verdict.warnings.join())
  })

  test.each(sessions)('%s: issued here, presented there, verified here', async (_, own, theirs) => {
    const text = await presentThere(issue(defaultIssuer, defaultHolder), await theirs(), names)
    expect(await judge(text, { query: asked, session: own })).toMatchObject({ passed: order, claims: shown })
  })

  test.each(sessions)('%s: presented here, verified there', async (_, own, theirs) => {
    for (const credential of [await issueThere(), issue(defaultIssuer, defaultHolder)])
      expect(await verifyThere(respond(credential, own), await theirs(), root)).toEqual([])
  })

  test('its verifier refuses a response of ours for another session', async () => {
    const [[, own], , [, , theirs]] = sessions as [(typeof sessions)[0], unknown, (typeof sessions)[0]]
    const failed = await verifyThere(respond(issue(defaultIssuer, defaultHolder), own), await theirs(), root)
    expect(failed.map(({ category }) => category)).toContain('DEVICE_AUTH')
  })
})

describe('@auth0/mdl', () => {
  /** It takes the transcript with its tag. */
  const tagged = Buffer.from(embed(transcriptFor(session)).bytes)
  const device = { ...defaultHolder, alg: 'ES256' }

  async function issueThere() {
    return new Document(docType)
      .addIssuerNameSpace(namespace, elements)
      .useDigestAlgorithm('SHA-256')
      .addValidityInfo(dates())
      .addDeviceKeyInfo({ deviceKey: toPublic(defaultHolder) })
      .sign({
        issuerPrivateKey: { ...defaultIssuer.key, alg: 'ES256' },
        issuerCertificate: pemOf(defaultIssuer.leaf),
        alg: 'ES256',
      })
  }

  const presentThere = async (own: MDoc) =>
    (
      await OtherResponse.from(own)
        .usingPresentationDefinition({
          id: 'two',
          input_descriptors: [
            {
              id: docType,
              format: { mso_mdoc: { alg: ['ES256'] } },
              constraints: {
                limit_disclosure: 'required',
                fields: names.map((name) => ({
                  path: [`$['${namespace}']['${name}']`],
                  intent_to_retain: false,
                })),
              },
            },
          ],
        })
        .usingSessionTranscriptBytes(tagged)
        .authenticateWithSignature(device, 'ES256')
        .sign()
    ).encode()

  test('issued there, presented there, verified here', async () => {
    const response = await presentThere(new MDoc([await issueThere()]))
    const verdict = await judge(toBase64url(response), { query: asked })
    expect(verdict, verdict.reason).toMatchObject({ passed: order, claims: shown })
  })

  test('issued here, presented here, verified there', async () => {
    const response = respond(issue(defaultIssuer, defaultHolder), session)
    const verifier = new OtherVerifier([pemOf(defaultIssuer.root)])
    const verified = await verifier.verify(response, { encodedSessionTranscript: tagged })
    expect(verified.documents[0]!.getIssuerNameSpace(namespace)).toEqual(shown[namespace])
    const other = Buffer.from(embed(transcriptFor({ ...session, nonce: 'other' } as Session)).bytes)
    await expect(verifier.verify(response, { encodedSessionTranscript: other })).rejects.toThrow()
  })

  test('issued here, presented there, verified here', async () => {
    const whole = respond(issue(defaultIssuer, defaultHolder), session)
    const response = await presentThere(parse(whole))
    const verdict = await judge(toBase64url(response), { query: asked })
    expect(verdict, verdict.reason).toMatchObject({ passed: order, claims: shown })
  })
})

test('@hpke/core encrypts a response, which is opened here', async () => {
  const suite = new CipherSuite({
    kem: new DhkemP256HkdfSha256(),
    kdf: new HkdfSha256(),
    aead: new Aes128Gcm(),
  })
  const { publicKey, privateKey } = await suite.kem.generateKeyPair()
  const jwk = await crypto.subtle.exportKey('jwk', privateKey)
  const info = transcriptFor({ handover: 'org-iso-mdoc', origin, encryptionInfo: 'gmVk' })
  const sender = await suite.createSenderContext({ recipientPublicKey: publicKey, info: toBuffer(info) })
  const ciphertext = new Uint8Array(await sender.seal(toBuffer(encodeCbor('response'))))
  const message = { enc: new Uint8Array(sender.enc), ciphertext }
  expect(decodeCbor(openBase(jwk as never, message, { info }))).toBe('response')
  expect(() => openBase(jwk as never, message, { info: encodeCbor(null) })).toThrow()
})

const toBuffer = (bytes: Uint8Array) => Uint8Array.from(bytes).buffer
