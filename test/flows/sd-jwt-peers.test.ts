/** Other implementations as issuers and verifiers of SD-JWTs, conforming and not. */
import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { issueJwtVc } from '../../src/credentials/codecs/jwt-vc.ts'
import { decodeJws, signJws } from '../../src/credentials/codecs/jws.ts'
import { decodeSdJwt, issueSdJwt, type SdJwtContent } from '../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { generateKey, toPublic, type PublicJwk } from '../../src/foundation/crypto/keys.ts'
import { keysFor } from '../../src/did/document.ts'
import { attachmentBytes, base64Attachment, jsonAttachment } from '../../src/exchange/didcomm/message.ts'
import { startAgent } from '../support/agent.ts'
import { connect, newDid, presentationIn, credentialIn, refusal } from '../support/tenants.ts'
import { openParty, typesOf } from '../support/party.ts'
import { askSdJwt } from './_sd-jwt.ts'
import { acceptOfferWith, prove } from './_steps.ts'
import { createKeyDid } from '../../src/did/key.ts'
import { untilEnd } from '../support/shared.ts'

const issuerKey = generateKey('Ed25519')
const issuerDid = createKeyDid(toPublic(issuerKey))
const options = { challenge: 'the challenge', domain: 'https://peer.example' }
const claims = { name: 'Alice', age: 42 }

const agent = await untilEnd(startAgent())
const party = await untilEnd(openParty())
const holder = await agent.newTenant('holder')
const { theirDid, connectionId } = await party.connect(holder)
const { did: subjectId, longFormDid } = await newDid(holder, 'authentication', 'Ed25519')

/** The holder accepts an offer. Returns its request and a function that answers it. */
async function accept({ format = 'vc+sd-jwt', keyId }: { format?: string; keyId?: string | undefined } = {}) {
  const thid = randomUUID()
  // Peers may write a number as a string in the preview.
  const attributes = Object.entries(claims).map(([name, value]) => ({ name, value: String(value) }))
  const body = { credential_preview: { body: { attributes } } }
  const offered = await party.send(theirDid, {
    type: typesOf.offer,
    thid,
    body,
    attachments: [jsonAttachment('1', { options }, format)],
  })
  expect(offered.status).toBe(200)
  const { recordId, credentialFormat } = await credentialIn(holder.call, thid, 'OfferReceived')
  await acceptOfferWith(holder, recordId, { subjectId, keyId })
  const request = await party.next(typesOf.credentialRequest)
  const answer = (token: string, attachmentFormat = format) =>
    party.send(theirDid, {
      type: typesOf.credential,
      thid,
      attachments: [base64Attachment('1', token, attachmentFormat)],
    })
  return { thid, recordId, credentialFormat, request, answer }
}

const content = (): SdJwtContent => {
  const now = Math.floor(Date.now() / 1_000)
  return { issuerDid, issuerKey, subjectDid: longFormDid, claims, vct: 'person', expiresAt: now + 60, now }
}

/** A credential with this `cnf`, for example the DID URL of a key instead of the key. */
function boundBy(cnf: object): string {
  const [jwt, ...disclosures] = issueSdJwt(content()).split('~')
  const { payload } = decodeJws(jwt!)
  return [signJws({ typ: 'vc+sd-jwt' }, { ...payload, cnf }, issuerKey), ...disclosures].join('~')
}

/** The public key of the holder's DID. */
async function holderKey(): Promise<PublicJwk> {
  return keysFor(await agent.agent.env.resolver.document(longFormDid), 'authentication')[0]!.publicKeyJwk
}

describe('a credential of a peer', () => {
  test.each(['vc+sd-jwt', 'dc+sd-jwt'])('is requested and stored: %s', async (format) => {
    const { thid, credentialFormat, request, answer } = await accept({ format, keyId: 'key-1' })
    expect(credentialFormat).toBe('SDJWT')
    expect(request.attachments![0]!.format).toBe('vc+sd-jwt')
    expect(decodeJws(Buffer.from(attachmentBytes(request.attachments![0]!)).toString()).header).toMatchObject(
      { kid: 'key-1' },
    )
    const credential = issueSdJwt({ ...content(), holderKey: await holderKey() })
    // The attachment's format name does not matter.
    expect((await answer(credential, 'prism/jwt')).status).toBe(200)
    const record = await credentialIn(holder.call, thid, 'CredentialReceived')
    expect(Buffer.from(record.credential!, 'base64url').toString()).toBe(credential)
  })

  const refused: [string, string | undefined, () => Promise<string> | string, RegExp][] = [
    [
      'is about another subject',
      undefined,
      () => issueSdJwt({ ...content(), subjectDid: issuerDid }),
      /subject/,
    ],
    ['has ended', undefined, () => issueSdJwt({ ...content(), expiresAt: 1 }), /Valid until/],
    [
      'is signed by another issuer',
      undefined,
      () => issueSdJwt({ ...content(), issuerKey: generateKey('Ed25519') }),
      /signature/,
    ],
    [
      'is bound to an unknown key',
      undefined,
      () => issueSdJwt({ ...content(), holderKey: generateKey('Ed25519') }),
      /bound to a key/,
    ],
    [
      'is bound to the key of another DID of the wallet',
      undefined,
      async () =>
        boundBy({ kid: `${(await newDid(holder, 'authentication', 'Ed25519')).longFormDid}#key-1` }),
      /bound to a key/,
    ],
    [
      'is bound to a key that the subject does not have',
      undefined,
      () => boundBy({ kid: `${longFormDid}#key-2` }),
      /bound to a key/,
    ],
    ['is not bound to the requested key', 'key-1', () => issueSdJwt(content()), /not bound to the key key-1/],
    ['lacks a tilde', undefined, () => issueSdJwt(content()).split('~')[0]!, /~/],
    ['is a JWT', undefined, () => issueJwtVc({ ...content(), schemas: [] }), /~/],
  ]
  test.each(refused)(
    'is refused when it %s, and a valid one is then accepted',
    async (_, keyId, token, why) => {
      const { thid, answer } = await accept({ keyId })
      expect(await answer(await token())).toEqual({ status: 400, detail: expect.stringMatching(why) })
      expect((await answer(issueSdJwt({ ...content(), holderKey: await holderKey() }))).status).toBe(200)
      await credentialIn(holder.call, thid, 'CredentialReceived')
    },
  )
})

test('a credential that names its key by a DID URL is presented and verified as bound to it', async () => {
  const { thid, recordId, answer } = await accept()
  expect((await answer(boundBy({ kid: `${longFormDid}#key-1` }))).status).toBe(200)
  await credentialIn(holder.call, thid, 'CredentialReceived')
  const verifier = await agent.newTenant('verifier')
  const { inviterConnectionId } = await connect(verifier, holder)
  const asked = await askSdJwt(verifier, holder, { connectionId: inviterConnectionId, options })
  await asked.accept({ proofId: [recordId] })
  const { verification } = await presentationIn(verifier.call, asked.thid, 'PresentationVerified')
  expect(verification).toMatchObject({
    checks: expect.arrayContaining(
      ['audience', 'nonce', 'holder-binding'].map((name) => ({ name, result: 'passed' })),
    ),
    credentials: [{ holder: subjectId }],
  })
})

describe('a request of a peer', () => {
  let [bound, unbound] = ['', '']
  beforeAll(async () => {
    for (const holderKeyOf of [holderKey, undefined]) {
      const { thid, recordId, answer } = await accept()
      await answer(issueSdJwt({ ...content(), holderKey: await holderKeyOf?.() }))
      await credentialIn(holder.call, thid, 'CredentialReceived')
      if (holderKeyOf) bound = recordId
      else unbound = recordId
    }
  })
  let thid = ''
  beforeEach(() => void (thid = randomUUID()))
  const ask = (content: object, format = 'vc+sd-jwt') =>
    party.send(theirDid, {
      type: typesOf.presentationRequest,
      thid,
      attachments: [base64Attachment('1', JSON.stringify(content), format)],
    })
  const answerWith = async (id: string) => {
    const { presentationId } = await presentationIn(holder.call, thid, 'RequestReceived')
    return prove(holder, presentationId, id)
  }
  const presented = async () => {
    const { attachments, thid: answers } = await party.next(
      typesOf.presentationRequest.replace('request-', ''),
    )
    expect([answers, attachments!.length, attachments![0]!.format]).toEqual([thid, 1, 'vc+sd-jwt'])
    return decodeSdJwt(Buffer.from(attachmentBytes(attachments![0]!)).toString())
  }

  test.each(['vc+sd-jwt', 'dc+sd-jwt'])('is answered: %s', async (format) => {
    // The registered claims are always disclosed.
    expect((await ask({ options, claims: { age: '{}', iss: '{}' } }, format)).status).toBe(200)
    await answerWith(bound)
    const { claims: shown, keyBinding } = await presented()
    expect([shown, decodeJws(keyBinding!).payload]).toMatchObject([
      { age: 42 },
      { aud: options.domain, nonce: options.challenge },
    ])
  })

  test('without challenge and domain is answered with an unbound credential', async () => {
    expect((await ask({ claims: { age: '{}' } })).status).toBe(200)
    expect(await refusal(answerWith(bound))).toMatchObject({
      status: 400,
      type: 'error:PresentationError:HolderBindingError',
      detail: expect.stringContaining('no challenge'),
    })
    await answerWith(unbound)
    const { claims: shown, keyBinding } = await presented()
    expect([shown, keyBinding]).toEqual([{ age: 42 }, undefined])
  })

  test.each([
    ['options without a challenge', { options: { domain: 'x' } }],
    ['a list of claims', { options, claims: ['age'] }],
    ['a claim that would name the prototype', JSON.parse('{"claims":{"a":{"__proto__":{}}}}') as object],
  ])('is refused: %s', async (_, content) => {
    expect((await ask(content)).status).toBe(400)
  })

  test('a claim named __proto__ in the API is refused, not dropped', async () => {
    const body = `{"connectionId":"${connectionId}","credentialFormat":"SDJWT","claims":{"__proto__":{"a":1}}}`
    const { status } = await agent.send('POST', '/present-proof/presentations', {
      headers: { apikey: holder.apiKey },
      body,
    })
    expect(status).toBe(400)
  })
})
