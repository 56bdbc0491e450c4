/** Checks of refresh tokens, and the attack that each one stops. */
import { generateKey, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { rewriteRows } from '../../support/rewrite-rows.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { addSource, filled, openSource, type TestSource } from './_claims-source.ts'
import { check, replyIf, type Check } from './_mutants.ts'
import { openReceiver } from '../../support/receiver.ts'
import { after, type Held as Wallet, renewalsOf, setRenewal } from './_renewal.ts'
import { prove, type Setup } from './_wallet.ts'
import { client, preAuthorized, type Scene, send, takeDpop } from './_scene.ts'

type Held = { key: PrivateJwk; nonce: string; refresh: string; recordId: string }

/** A wallet with a credential that it can renew. */
async function held({ setup }: Scene): Promise<Held> {
  await setRenewal(setup, { days: 90 })
  const [key, nonce] = [generateKey('P-256'), await newDpopNonce(setup)]
  const { form, recordId } = await preAuthorized(setup)
  const { body } = await post(setup, 'token', form, proofFor(setup, 'token', { key, nonce }))
  const accessToken = body.access_token as string
  await takeDpop(setup, accessToken, proofFor(setup, 'credentials', { accessToken, key, nonce }))
  return { key, nonce, refresh: body.refresh_token, recordId }
}

const renew = ({ setup }: Scene, { key, nonce, refresh }: Held, by = key) =>
  post(
    setup,
    'token',
    { grant_type: 'refresh_token', refresh_token: refresh },
    proofFor(setup, 'token', { key: by, nonce }),
  )

/** Changes the times of the refresh token. */
const change = ({ agent, setup }: Scene, of: (renewal: object) => object) =>
  agent.agent.wallets.use(setup.tenant.walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      const rows = tx.selectFrom('issuance_grant').select(['id', 'renewal']).where('renewal', 'is not', null)
      for (const { id, renewal } of await rows.execute())
        await tx
          .updateTable('issuance_grant')
          .set({ renewal: JSON.stringify(of(JSON.parse(renewal!))) })
          .where('id', '=', id)
          .execute()
    }),
  )

/** Renews a credential whose copies are revoked if its claims change. Whether a copy is revoked then. */
async function renewed(
  { agent, setup }: Scene,
  departments: [string, string],
  notifies: 'by the first token' | 'by the new token',
) {
  await using source = await openSource(...departments.map((department) => filled({ department })))
  const { configurationId } = await addSource(setup, source.url)
  await setRenewal(setup, { days: 90, onChange: 'revoke' }, configurationId)
  const { entries, notify, redeemed, refresh, take } = renewalsOf({ ...setup, agent })
  const claims = { employeeId: '7' }
  const own = await redeemed({ credentialConfigurationId: configurationId, claims })
  await take(own)
  const again = after(own, await refresh(own))
  await take(again)
  await notify(notifies === 'by the new token' ? again : own, 'credential_accepted')
  return replyIf((await entries(own.recordId)).some((entry) => entry.revoked_at !== null))
}

const [sales, later] = [filled({ department: 'Sales' }), { status: 202, body: { retryAfter: 3_600 } }]

/** A configuration with a source that decides about renewals later. */
async function withSource<T>(setup: Setup, use: (source: TestSource, configurationId: string) => Promise<T>) {
  await using source = await openSource(sales, later)
  const { configurationId } = await addSource(setup, source.url)
  await setRenewal(setup, { days: 90 }, configurationId)
  return await use(source, configurationId)
}

type Deferred = ReturnType<typeof renewalsOf> & { first: Wallet; own: Wallet; source: TestSource }

/** A wallet whose source decides later about the renewal of its credential. */
const deferred = <T>({ agent, setup }: Scene, attack: (deferred: Deferred) => Promise<T>) =>
  withSource(setup, async (source, credentialConfigurationId) => {
    const steps = renewalsOf({ ...setup, agent })
    const first = await steps.redeemed({ credentialConfigurationId, claims: { employeeId: '7' } })
    await steps.take(first)
    const own = after(first, await steps.refresh(first))
    await steps.take(own)
    return attack({ ...steps, first, own, source })
  })

export const renewalChecks: Check[] = [
  // An access token that a wallet had before, and that somebody has found.
  check('deferred.ts', 'isRenewal && refreshed === undefined', (scene) =>
    deferred(scene, async ({ askAgain, fetchDeferred, first, own, source }) => {
      source.answers(sales)
      await askAgain(own.recordId)
      await fetchDeferred(own, own.recordId)
      return fetchDeferred(first, own.recordId)
    }),
  ),
  // A wallet that does not wait, or requests the credential anew instead.
  check('reissue.ts', 'source && Date.now() < (renewing.progress.askAtMs ?? 0)', (scene) =>
    deferred(scene, async ({ fetchDeferred, own, refresh, source, take }) => {
      await fetchDeferred(own, own.recordId)
      await take(after(own, await refresh(own)))
      return replyIf(source.asked().length > 2)
    }),
  ),
  check('reissue.ts', 'await wallet.env.limitOffers(record.id)', async (scene) => {
    const { strict } = scene
    return withSource(strict, async (_source, configurationId) => {
      const key = generateKey('P-256')
      const sender = () => client(scene, { key })
      const { form, recordId } = await preAuthorized(strict, {
        credentialConfigurationId: configurationId,
        claims: { employeeId: '7' },
      })
      const tokens = [(await post(strict, 'token', form, undefined, sender())).body]
      const refresh = { grant_type: 'refresh_token', refresh_token: tokens[0]!.refresh_token as string }
      tokens.push((await post(strict, 'token', refresh, undefined, sender())).body)
      for (const { access_token } of tokens)
        await send(
          strict,
          'credentials',
          { credential_configuration_id: configurationId, proofs: { jwt: [await prove(strict)] } },
          { authorization: `Bearer ${access_token}` },
        )
      const authorization = `Bearer ${tokens[1]!.access_token}`
      const poll = () => send(strict, 'deferred-credentials', { transaction_id: recordId }, { authorization })
      for (let count = 1; count <= 30; count++) await poll()
      return poll()
    })
  }),
  check('signing.ts', '!keys.every(({ holderDid }) => includesDid(dids, holderDid))', (scene) =>
    deferred(scene, ({ own, take }) => take(own)),
  ),
  // Two requests at once.
  check(
    'reissue.ts',
    'current.renewed?.token !== renewed?.token || current.renewing?.token !== renewing?.token',
    async ({ agent, setup }) => {
      const waiting: (() => void)[] = []
      await using source = await openReceiver((response, count) => {
        const answer = () => void response.end(JSON.stringify({ claims: { department: 'Sales' } }))
        if (count === 1) return answer()
        if (count === 2) return void response.writeHead(202).end(JSON.stringify({ retryAfter: 3_600 }))
        waiting.push(answer)
        if (waiting.length === 2) for (const each of waiting) each()
      })
      const { configurationId } = await addSource(setup, source.url)
      await setRenewal(setup, { days: 90 }, configurationId)
      const { askAgain, entries, fetchDeferred, redeemed, refresh, take } = renewalsOf({ ...setup, agent })
      const claims = { employeeId: '7' }
      const first = await redeemed({ credentialConfigurationId: configurationId, claims })
      await take(first)
      const own = after(first, await refresh(first))
      await take(own)
      await askAgain(own.recordId)
      const fetch = () => fetchDeferred(own, own.recordId)
      await Promise.all([fetch(), fetch()])
      return replyIf((await entries(own.recordId)).length > 2)
    },
  ),
  // The credential is revoked while its source is asked.
  check(
    'reissue.ts',
    "if (revocation) throw new OAuthError('credential_request_denied', 'The issuer has revoked the credential.')",
    async ({ agent, setup }) => {
      const { redeemed, refresh, take } = renewalsOf({ ...setup, agent })
      let own: Wallet
      await using source = await openReceiver((response, count) => {
        const answer = () => void response.end(JSON.stringify({ claims: { department: 'Sales' } }))
        if (count === 1) return answer()
        const path = { id: own.recordId }
        void setup.tenant
          .call('PATCH /credential-status/revoke-credential/{id}', { path })
          .then(answer, answer)
      })
      const { configurationId } = await addSource(setup, source.url)
      await setRenewal(setup, { days: 90 }, configurationId)
      own = await redeemed({ credentialConfigurationId: configurationId, claims: { employeeId: '7' } })
      await take(own)
      own = after(own, await refresh(own))
      return await take(own)
    },
  ),
  // A late notification of the old copies.
  check(
    'notification.ts',
    ['refreshed !== undefined && refreshed === record.renewed?.token', 'true'],
    (scene) => renewed(scene, ['Sales', 'Law'], 'by the first token'),
  ),
  check('old-copies.ts', ['before !== claimsDigest(next)', 'true'], (scene) =>
    renewed(scene, ['Sales', 'Sales'], 'by the new token'),
  ),
  // A stolen token without its key.
  check('renewal.ts', 'stored?.jkt !== undefined && isForeign', async (scene) =>
    renew(scene, await held(scene), generateKey('P-256')),
  ),
  // That of an attested client, by another wallet of the same provider.
  check('renewal.ts', 'stored?.clientKey !== undefined && clientKey !== stored.clientKey', async (scene) => {
    const { strict } = scene
    await setRenewal(strict, { days: 90 })
    const { form } = await preAuthorized(strict)
    const { body } = await post(strict, 'token', form, undefined, client(scene))
    const stolen = { grant_type: 'refresh_token', refresh_token: body.refresh_token as string }
    return post(strict, 'token', stolen, undefined, client(scene))
  }),
  // Without any proof.
  check(
    'renewal.ts',
    [
      'stored?.clientKey === undefined ? jkt !== stored?.jkt : jkt === undefined',
      'stored?.clientKey === undefined && jkt !== stored?.jkt',
    ],
    async (scene) => {
      const { strict } = scene
      await setRenewal(strict, { days: 90 })
      const [key, own] = [generateKey('P-256'), generateKey('P-256')]
      const nonce = await newDpopNonce(strict, client(scene))
      const { form } = await preAuthorized(strict)
      const dpop = proofFor(strict, 'token', { key, nonce })
      const { body } = await post(strict, 'token', form, dpop, client(scene, { key: own }))
      const bare = { grant_type: 'refresh_token', refresh_token: body.refresh_token as string }
      return post(strict, 'token', bare, undefined, client(scene, { key: own }))
    },
  ),
  check('renewal.ts', 'isOver(stored.endsMs)', async (scene) => {
    const own = await held(scene)
    await change(scene, (renewal) => ({ ...renewal, endsMs: 1 }))
    return renew(scene, own)
  }),
  // A copy of a token that the wallet has used, with the key.
  check(
    'renewal.ts',
    ['stored.answer !== undefined && !isOver(stored.repeatUntilMs ?? 0)', 'stored.answer !== undefined'],
    async (scene) => {
      const own = await held(scene)
      await renew(scene, own)
      await change(scene, (renewal) => ({ ...renewal, repeatUntilMs: 1 }))
      return renew(scene, own)
    },
  ),
  check('renewal.ts', ['!record.revocation', 'true'], async (scene) => {
    // The grant goes on with the other credential.
    const { agent, setup } = scene
    await setRenewal(setup, { days: 90 })
    const credentials = ['Person', 'Licence'].map((credentialConfigurationId) => ({
      credentialConfigurationId,
      issuingDID: setup.issuingDID,
      claims: { name: 'Alice' },
    }))
    const offered = await setup.tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
      path: { issuerId: setup.issuerId },
      body: { credentials },
    })
    const { redeemed, refresh, take } = renewalsOf({ ...setup, agent })
    const id = offered.recordId
    const own = { ...(await redeemed({}, offered)), identifier: id }
    await take(own)
    await setup.tenant.call('PATCH /credential-status/revoke-credential/{id}', { path: { id } })
    return refresh(own, { scope: 'Person' })
  }),
  check('renewal.ts', 'stored.ended !== undefined', async (scene) => {
    const own = await held(scene)
    await scene.setup.tenant.call('PATCH /credential-status/revoke-credential/{id}', {
      path: { id: own.recordId },
      query: { renewalOnly: 'true' },
    })
    return renew(scene, own)
  }),
  check('renewal.ts', 'grant?.issuer_id !== issuerId', async (scene) => {
    const { other } = scene
    const own = await held(scene)
    const nonce = await newDpopNonce(other)
    const form = { grant_type: 'refresh_token', refresh_token: own.refresh }
    return post(other, 'token', form, proofFor(other, 'token', { key: own.key, nonce }))
  }),
  check(
    'refresh.ts',
    'asked.length === 0 || !asked.every((each) => granted.includes(each))',
    async (scene) => {
      const { setup } = scene
      const { key, nonce, refresh } = await held(scene)
      const form = { grant_type: 'refresh_token', refresh_token: refresh, scope: 'Person Licence' }
      return post(setup, 'token', form, proofFor(setup, 'token', { key, nonce }))
    },
  ),
]
