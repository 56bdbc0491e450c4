/** An issuer that dies while it renews: the wallet repeats the request, nothing is issued twice or lost. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { Daemon } from '../../support/daemon.ts'
import { untilEnd } from '../../support/shared.ts'
import { addSource, filled, openSource } from './_claims-source.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { countIssued, killable, killDuring } from './_killed.ts'
import { after, renewalsOf, setRenewal } from './_renewal.ts'
import { addIssuer, codeOf, errorOf, preAuthorizedGrant, prove, recordOf } from './_wallet.ts'

const daemon = await untilEnd(Daemon.start(killable))
const setup = await addIssuer(daemon, await daemon.newTenant('issuer'))
const { issuerId, issuingDID, tenant } = setup
await tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
  path: { issuerId, credentialConfigId: 'Person' },
  body: { renewal: { days: 90 } },
})

type Credential = { credential: string }

/** A wallet with a token for two credentials of one offer, which it has not requested yet. */
async function walletOfTwo() {
  const [key, nonce] = [generateKey('P-256'), await newDpopNonce(setup)]
  const send = (form: Record<string, string>) =>
    post(setup, 'token', form, proofFor(setup, 'token', { key, nonce }))
  const credentials = ['Alice', 'Bob'].map((name) => ({
    credentialConfigurationId: 'Person',
    issuingDID,
    claims: { name },
  }))
  const { credentialOffer, records } = await tenant.call(
    'POST /oid4vci/issuers/{issuerId}/credential-offers',
    {
      path: { issuerId },
      body: { credentials },
    },
  )
  const code = await codeOf(credentialOffer)
  const { body } = await send({ grant_type: preAuthorizedGrant, 'pre-authorized_code': code })
  const [first, second] = records.map(({ recordId }) => recordId) as [string, string]
  return {
    access: body.access_token as string,
    token: body.refresh_token as string,
    first,
    second,
    refresh: (token: string) => send({ grant_type: 'refresh_token', refresh_token: token }),
    /** Requests the credential of a record, with another proof of the token's key each time. */
    take: (accessToken: string, recordId: string, jwt: string): Promise<Reply> =>
      ask(daemon, `POST /oid4vci/issuers/${issuerId}/credentials`, {
        body: { credential_identifier: recordId, proofs: { jwt: [jwt] } },
        headers: {
          authorization: `DPoP ${accessToken}`,
          dpop: proofFor(setup, 'credentials', { accessToken, key, nonce }),
        },
      }),
  }
}
type Wallet = Awaited<ReturnType<typeof walletOfTwo>>

/** Takes a credential by a request that kills the daemon, and by the same request after the restart. */
async function takeKilled({ take }: Wallet, access: string, recordId: string, point: string): Promise<Reply> {
  const jwt = await prove(setup)
  const send = () => take(access, recordId, jwt)
  // The first commit is that of the DPoP proof.
  expect(await killDuring(daemon, [point, 2], send)).toBe(true)
  const reply = await send()
  expect(reply.status).toBe(200)
  expect((await send()).body.credentials).toEqual(reply.body.credentials)
  return reply
}

const countRenewed = async (recordId: string) => (await recordOf(setup, recordId)).renewed?.count ?? 0
const credentialIn = ({ body }: Reply) => (body.credentials as Credential[])[0]!.credential
const stored = async (recordId: string) =>
  Buffer.from((await recordOf(setup, recordId)).credential!, 'base64url').toString()

async function issueBoth(wallet: Wallet) {
  for (const recordId of [wallet.first, wallet.second])
    expect((await wallet.take(wallet.access, recordId, await prove(setup))).status).toBe(200)
}

test('a refresh token is rotated, the daemon dies before its answer, and the old token gets it', async () => {
  const wallet = await walletOfTwo()
  await issueBoth(wallet)
  const { token, refresh } = wallet
  expect(await killDuring(daemon, ['commit:after', 1], () => refresh(token))).toBe(true)
  const [again, once] = [await refresh(token), await refresh(token)]
  expect(again.status).toBe(200)
  expect(again.body.refresh_token).not.toBe(token)
  const tokens = ({ body }: Reply) => [body.access_token, body.refresh_token]
  expect(tokens(once)).toEqual(tokens(again))
  expect((await wallet.take(again.body.access_token, wallet.first, await prove(setup))).status).toBe(200)
  expect([await countRenewed(wallet.first), await countRenewed(wallet.second)]).toEqual([1, 0])
  const next = await refresh(again.body.refresh_token)
  expect(next.status).toBe(200)
  // What comes after the next use is no lost answer any more.
  expect(errorOf(await refresh(token))).toEqual([400, 'invalid_grant'])
  expect((await refresh(next.body.refresh_token)).status).toBe(200)
})

test('a rotation that was not committed leaves the refresh token as it is', async () => {
  const wallet = await walletOfTwo()
  await issueBoth(wallet)
  const { token, refresh } = wallet
  expect(await killDuring(daemon, ['commit:before', 1], () => refresh(token))).toBe(true)
  const { status, body } = await refresh(token)
  expect([status, await countRenewed(wallet.first)]).toEqual([200, 0])
  expect((await refresh(body.refresh_token)).status).toBe(200)
})

test.each(['commit:before', 'commit:after'])(
  'two credentials of an offer: the first is issued, the daemon dies at %s of the second',
  async (point) => {
    const wallet = await walletOfTwo()
    const { access, first, second } = wallet
    const one = await wallet.take(access, first, await prove(setup))
    const two = await takeKilled(wallet, access, second, point)
    for (const [recordId, reply] of [
      [first, one],
      [second, two],
    ] as const) {
      expect(await countIssued(setup, recordId)).toBe(1)
      expect(await stored(recordId)).toBe(credentialIn(reply))
    }
    expect((await wallet.refresh(wallet.token)).status).toBe(200)
  },
)

test.each(['commit:before', 'commit:after'])(
  'two renewed credentials: the first is issued anew, the daemon dies at %s of the second',
  async (point) => {
    const wallet = await walletOfTwo()
    await issueBoth(wallet)
    const { first, second } = wallet
    const { body } = await wallet.refresh(wallet.token)
    const one = await wallet.take(body.access_token, first, await prove(setup))
    const two = await takeKilled(wallet, body.access_token, second, point)
    for (const [recordId, reply] of [
      [first, one],
      [second, two],
    ] as const) {
      expect(await countRenewed(recordId)).toBe(1)
      expect(await stored(recordId)).toBe(credentialIn(reply))
    }
    expect((await wallet.refresh(body.refresh_token)).status).toBe(200)
  },
)

test.each(['commit:before', 'commit:after'])(
  'a renewal that the claims source defers: the daemon dies at %s of the request and of its answer',
  async (point) => {
    await using source = await openSource(filled({ department: 'Sales' }))
    const { configurationId } = await addSource(setup, source.url)
    await setRenewal(setup, { days: 90 }, configurationId)
    // Its steps over HTTP need no agent of this process.
    const { fetchDeferred, redeemed, refresh, take } = renewalsOf({ ...setup, agent: daemon as never })
    const claims = { employeeId: '7' }
    const first = await redeemed({ credentialConfigurationId: configurationId, claims })
    expect((await take(first)).status).toBe(200)
    const { recordId } = first
    const own = after(first, await refresh(first))
    source.answers({ status: 202, body: { retryAfter: 1 } }, filled({ department: 'Law' }))
    const jwt = await prove(setup)
    // The first commit is that of the DPoP proof.
    expect(await killDuring(daemon, [point, 2], () => take(own, jwt))).toBe(true)
    if (point === 'commit:before') source.answers({ status: 202, body: { retryAfter: 1 } })
    expect((await take(own, jwt)).status).toBe(202)
    source.answers(filled({ department: 'Law' }))
    await wait(1_000)
    const fetch = () => fetchDeferred(own, recordId)
    expect(await killDuring(daemon, [point, 2], fetch)).toBe(true)
    const fetched = await fetch()
    expect(fetched.status).toBe(200)
    expect((await fetch()).body).toEqual(fetched.body)
    expect([await countRenewed(recordId), await stored(recordId)]).toEqual([1, credentialIn(fetched)])
  },
)
