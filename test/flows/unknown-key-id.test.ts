/** Wallets whose tokens name a key that is not in their DID document: the Identus SDK 6.1 names `#master0`. */
import { decodeJwtVc } from '../credentials/codecs/_verify.ts'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { attachmentBytes, attachmentJson, base64Attachment } from '../../src/exchange/didcomm/message.ts'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { credentialIn, newDid, presentationIn, type Tenant } from '../support/tenants.ts'
import { openParty, typesOf, type Message, type Party } from '../support/party.ts'
import { toLongForm } from '../../src/did/prism/did.ts'
import { forge, headerOf } from '../credentials/codecs/_people.ts'
import { createBytes, key as publicKey, master, masterKey, secret } from '../did/prism/_make.ts'

type Options = { challenge: string; domain: string }

const [signingKey, issuingKey, strangersKey] = [
  secret('authentication'),
  secret('assertionMethod'),
  secret('authentication', 1),
]
const keys = [
  publicKey('authentication0', 'authentication'),
  publicKey('issuing0', 'assertionMethod'),
  masterKey,
]
const walletDid = toLongForm(createBytes({ publicKeys: keys }))
const strangersDid = toLongForm(
  createBytes({ publicKeys: [publicKey('authentication0', 'authentication', 1), masterKey] }),
)
const kid = `${walletDid}#master0`
const forgeries: [string, () => string][] = [
  ['signed by a stranger', () => token({ signer: strangersKey })],
  ['signed with a key of another purpose', () => token({ signer: issuingKey })],
  ['signed with the master key that it names', () => token({ signer: master })],
  ['with a key id of a stranger', () => token({ keyId: `${strangersDid}#master0` })],
  ['with a key id of another purpose', () => token({ keyId: `${walletDid}#issuing0` })],
]

let agent: TestAgent
let party: Party
let issuer: Tenant
let [theirDid, connectionId, issuingDID] = ['', '', '']
let options: Options
beforeAll(async () => {
  agent = await startAgent()
  party = await openParty()
  issuer = await agent.newTenant('issuer')
  ;({ theirDid, connectionId } = await party.connect(issuer))
  ;({ did: issuingDID } = await newDid(issuer, 'assertionMethod'))
})
afterAll(async () => {
  await agent[Symbol.asyncDispose]()
  await party[Symbol.asyncDispose]()
})

/** A token with a presentation for the current request, in the format of SDK 6.1. */
function token({ signer = signingKey, keyId = kid, credentials = [] as string[] } = {}): string {
  const { challenge: nonce, domain: aud } = options
  const vp = {
    '@context': ['https://www.w3.org/2018/presentations/v1'],
    type: ['VerifiablePresentation'],
    verifiableCredential: credentials,
  }
  return forge(headerOf(signer, keyId), { iss: walletDid, aud, nonce, vp }, signer)
}

function send(type: string, thid: string, text: string) {
  return party.send(theirDid, {
    type,
    thid,
    attachments: [base64Attachment(randomUUID(), text, 'prism/jwt')],
  })
}

function optionsIn({ attachments }: Pick<Message, 'attachments'>): Options {
  return (attachmentJson(attachments![0]!) as { options: Options }).options
}

/** Offers a credential. Returns the thread, and sets `options` to the challenge and domain of the request. */
async function offer(): Promise<string> {
  const { thid } = await issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims: { name: 'Alice' }, automaticIssuance: true },
  })
  options = optionsIn(await party.next(typesOf.offer))
  return thid
}

async function issue(): Promise<string> {
  const thid = await offer()
  expect(await send(typesOf.credentialRequest, thid, token())).toEqual({ status: 200 })
  const { attachments } = await party.next(typesOf.credential)
  return Buffer.from(attachmentBytes(attachments![0]!)).toString()
}

test('a credential is issued to the DID whose authentication key has signed the request', async () => {
  expect(decodeJwtVc(await issue())).toMatchObject({ subjectDid: walletDid, claims: { name: 'Alice' } })
})

test.each(forgeries)('a request %s is refused, and the offer stays open', async (_, forged) => {
  const thid = await offer()
  expect((await send(typesOf.credentialRequest, thid, forged())).status).toBe(400)
  expect((await send(typesOf.credentialRequest, thid, token())).status).toBe(200)
  await credentialIn(issuer.call, thid, 'CredentialSent')
})

test('a presentation is verified, and one by any other key is not', async () => {
  const credential = await issue()
  const present = async (made: () => string, end: string) => {
    const { thid } = await issuer.call('POST /present-proof/presentations', { body: { connectionId } })
    options = optionsIn(await party.next(typesOf.presentationRequest))
    await send(typesOf.presentationRequest.replace('request-', ''), thid, made())
    await presentationIn(issuer.call, thid, end)
  }
  await present(() => token({ credentials: [credential] }), 'PresentationVerified')
  for (const signer of [strangersKey, issuingKey])
    await present(() => token({ signer, credentials: [credential] }), 'PresentationVerificationFailed')
})
