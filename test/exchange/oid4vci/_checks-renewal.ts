/** Checks of refresh tokens, and the attack that each one stops. */
import { generateKey, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import { rewriteRows } from '../../support/rewrite-rows.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { addSource, filled, openSource } from './_claims-source.ts'
import { check, replyIf, type Check } from './_mutants.ts'
import { after, renewalsOf, setRenewal } from './_renewal.ts'
import { client, preAuthorized, type Scene, takeDpop } from './_scene.ts'

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

export const renewalChecks: Check[] = [
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
