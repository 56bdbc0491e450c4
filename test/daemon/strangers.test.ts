/**
 * What a stranger with one link can write to the wallet of a tenant: requests that are repeated for ever add
 * less than 100 kB. Refusals are replaced, and what is remembered for some minutes is limited by the minute.
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { generateKey } from '../../src/foundation/crypto/keys.ts'
import { sharedAgent, type TestAgent } from '../support/agent.ts'
import type { Tenant } from '../support/tenants.ts'
import {
  answer,
  consent,
  newPkce,
  offered,
  open,
  push,
  redeemAuthorized,
  sealedIn,
} from '../exchange/oid4vci/_authorization.ts'
import { newDpopNonce, post, proofFor } from '../exchange/oid4vci/_dpop.ts'
import {
  addIssuer,
  codeOf,
  preAuthorizedGrant,
  prove,
  redeemed,
  redeemOffer,
  request,
  offer,
} from '../exchange/oid4vci/_wallet.ts'
import { send } from '../exchange/oid4vci/_scene.ts'
import {
  issueSdJwt,
  present,
  presentSdJwt,
  readRequest,
  requestProof,
  respond,
} from '../exchange/oid4vp/_wallet.ts'

const variables = { OID4VCI_REQUESTS_PER_MINUTE: '100000', OID4VP_REQUESTS_PER_MINUTE: '100000' }
const repetitions = 60

const agent = await sharedAgent(variables)
const setup = await addIssuer(agent, await agent.newTenant('issuer'))

async function newRequest(more: Record<string, string> = {}) {
  const agent = await sharedAgent({ ...variables, ...more })
  const tenant = await agent.newTenant('verifier')
  const { presentationId, openid4vp } = await requestProof({ tenant })
  return { agent, tenant, presentationId, request: await readRequest(openid4vp!.authorizationRequest) }
}

/** The bytes of a wallet without free pages. */
function bytesOf({ agent }: TestAgent, { walletId }: Tenant): Promise<number> {
  return agent.wallets.use(walletId, async ({ db }) => {
    const size = sql<{ bytes: number }>`select (page_count - freelist_count) * page_size as bytes
      from pragma_page_count, pragma_freelist_count, pragma_page_size`
    return (await size.execute(db)).rows[0]!.bytes
  })
}

/** The bytes that repeating a request adds. */
async function added(
  { agent, tenant }: { agent: TestAgent; tenant: Tenant },
  repeat: (index: number) => unknown,
): Promise<number> {
  const before = await bytesOf(agent, tenant)
  for (let index = 0; index < repetitions; index += 20)
    await Promise.all(Array.from({ length: 20 }, (_, each) => repeat(index + each)))
  return (await bytesOf(agent, tenant)) - before
}

type Attack = () => Promise<Parameters<typeof added>>

const attacks: Record<string, Attack> = {
  'responses with a wrong state': async () => {
    const asked = await newRequest()
    return [asked, () => respond(asked.request, { vp_token: '{"person":["a"]}', state: 'wrong' })]
  },
  'responses to an answered request': async () => {
    const asked = await newRequest()
    const token = await presentSdJwt(asked.request)
    await present(asked.request, { person: [token] })
    return [asked, () => respond(asked.request, { vp_token: '{"person":["a"]}', state: 'wrong' })]
  },
  'a large response that is refused': async () => {
    const asked = await newRequest()
    const credential = await issueSdJwt({ payload: { more: 'a'.repeat(300_000) } })
    const token = await presentSdJwt(asked.request, { credential, binding: { nonce: 'other' } })
    return [asked, (index) => (index < 3 ? present(asked.request, { person: [token] }) : undefined)]
  },
  'token requests without transaction code': async () => {
    const { credentialOffer } = await offer(setup, { txCode: true })
    return [setup, () => redeemOffer(setup, credentialOffer)]
  },
  'token requests with a used code': async () => {
    const { credentialOffer, token } = await redeemed(setup, { txCode: false })
    await request(setup, { token, jwt: await prove(setup) })
    return [setup, () => redeemOffer(setup, credentialOffer)]
  },
  'pushed requests with a wrong challenge': async () => {
    const { parameters } = await offered(setup)
    return [setup, () => push(setup, { ...parameters, code_challenge: 'wrong' })]
  },
  'pushed requests': async () => {
    const { parameters } = await offered(setup)
    return [setup, () => push(setup, parameters)]
  },
  'wrong key proofs': async () => {
    const { token } = await redeemed(setup, { txCode: false })
    return [setup, (index) => request(setup, { token, jwt: `wrong ${index}` })]
  },
  'wrong key proofs after the credential': async () => {
    const { token } = await redeemed(setup, { txCode: false })
    await request(setup, { token, jwt: await prove(setup) })
    return [setup, (index) => request(setup, { token, jwt: `wrong ${index}` })]
  },
  notifications: async () => {
    const { token, recordId } = await redeemed(setup, { txCode: false })
    await request(setup, { token, jwt: await prove(setup) })
    const headers = { authorization: `Bearer ${token}` }
    const body = (index: number) => ({
      notification_id: recordId,
      event: 'credential_failure',
      event_description: `${index} ${'a'.repeat(900)}`,
    })
    return [setup, (index) => send(setup, 'notifications', body(index), headers)]
  },
  'wrong verifiers of a code': async () => {
    const { parameters } = await offered(setup, { txCode: false })
    const code = await consent(setup, parameters)
    return [setup, () => redeemAuthorized(setup, { code, verifier: newPkce().verifier })]
  },
}

test.each(Object.entries(attacks))('%s add little', async (name, attack) => {
  const [target, repeat] = await attack()
  // Each of ten notifications is an event with the record.
  expect(await added(target, repeat)).toBeLessThan(name === 'notifications' ? 60_000 : 20_000)
})

/** Each accepted request is remembered for some minutes. */
const remembered: Record<string, () => Promise<() => Promise<{ status: number }>>> = {
  'answers on the consent page': async () => {
    const { parameters } = await offered(setup, { txCode: false })
    let count = 0
    const decision = () => (++count % 2 === 0 ? 'accept' : 'decline')
    return async () =>
      answer(setup, { request: sealedIn(await open(setup, parameters)), decision: decision() })
  },
  'DPoP proofs of a code': async () => {
    const { parameters } = await offered(setup, { txCode: false })
    const code = await consent(setup, parameters)
    const nonce = await newDpopNonce(setup)
    const form = { grant_type: 'authorization_code', code, client_id: 'wrong' }
    return () => post(setup, 'token', form, proofFor(setup, 'token', { nonce }))
  },
  'DPoP proofs of a token': async () => {
    const { credentialOffer, recordId } = await offer(setup, { txCode: false })
    const [key, nonce] = [generateKey('P-256'), await newDpopNonce(setup)]
    const form = { grant_type: preAuthorizedGrant, 'pre-authorized_code': await codeOf(credentialOffer) }
    const { body } = await post(setup, 'token', form, proofFor(setup, 'token', { key, nonce }))
    const accessToken = body.access_token as string
    return () => {
      const dpop = proofFor(setup, 'notifications', { key, nonce, accessToken })
      const notification = { notification_id: recordId, event: 'credential_accepted' }
      return send(setup, 'notifications', notification, { authorization: `DPoP ${accessToken}`, dpop })
    }
  },
}

test.each(Object.entries(remembered))('%s are limited by the minute', async (_, begin) => {
  const repeat = await begin()
  const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await repeat()).status))
  const count = statuses.filter((status) => status === 429).length
  // The first request of some was before.
  expect([10, 11]).toContain(count)
})

test('a wallet that is nearly full refuses strangers, and has room for its tenant', async () => {
  const { agent, tenant, request: asked } = await newRequest({ BYTES_PER_WALLET: '1048576' })
  const make = (length: number) =>
    tenant.call('POST /verification/policies', {
      body: {
        name: 'n',
        description: randomBytes(length).toString('base64').slice(0, length),
        constraints: [],
      },
    })
  await make(980_000 - (await bytesOf(agent, tenant)))
  // The reason of a refusal is told, also where it cannot be stored.
  for (let index = 0; index < 20; index++)
    expect((await respond(asked, { vp_token: '{}', state: 'wrong' })).body.error).toBe('invalid_request')
  const credential = await issueSdJwt({ payload: { more: 'a'.repeat(20_000) } })
  const reply = await present(asked, { person: [await presentSdJwt(asked, { credential })] })
  expect([reply.status, reply.body.detail]).toEqual([507, expect.stringContaining('BYTES_PER_WALLET')])
  expect((await make(20_000)).name).toBe('n')
})
