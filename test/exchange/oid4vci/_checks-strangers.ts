/**
 * Limits of what whoever has an offer makes the wallet of the issuer store, and the attack that each one
 * stops.
 */
import { answer, offered, open, sealedIn } from './_authorization.ts'
import { check, replyIf, type Check } from './_mutants.ts'
import { boundToken, send, takeDpop, tokenOf, take, type Scene } from './_scene.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { codeOf, offer, preAuthorizedGrant, redeemOffer } from './_wallet.ts'

/** Repeats a request, and returns the last response. */
async function repeated<Answer>(count: number, once: (index: number) => Promise<Answer>): Promise<Answer> {
  for (let index = 1; index < count; index++) await once(index)
  return once(count)
}

/** 200 if the trace of an offer has more than `most` refused requests. */
async function refusalsOver(most: number, { agent, setup }: Scene, recordId: string) {
  const { thid } = await setup.tenant.call('GET /issue-credentials/records/{recordId}', {
    path: { recordId },
  })
  const count = await agent.agent.wallets.use(setup.tenant.walletId, async ({ db }) => {
    const rows = db.selectFrom('message_log').select('sequence').where('thread', '=', thid)
    return (await rows.execute()).length
  })
  return replyIf(count > most)
}

export const strangerChecks: Check[] = [
  check(
    'src/wallet/outbox/message-log.ts',
    ['await deleteOlderRefusals(tx, about)', 'undefined'],
    async (scene) => {
      const { credentialOffer, recordId } = await offer(scene.setup, { txCode: true })
      await repeated(21, () => redeemOffer(scene.setup, credentialOffer))
      return refusalsOver(20, scene, recordId)
    },
  ),
  check('request-log.ts', 'if (issueCredential.states[state]?.ends !== undefined) return', async (scene) => {
    const { token, recordId } = await tokenOf(scene.setup)
    await take(scene.setup, token)
    await take(scene.setup, token, { proofs: { jwt: ['wrong'] } })
    return refusalsOver(0, scene, recordId)
  }),
  check('notification.ts', 'notifications >= maxNotifications', async ({ setup }) => {
    const { token, recordId } = await tokenOf(setup)
    await take(setup, token)
    const body = { notification_id: recordId, event: 'credential_failure' }
    const headers = { authorization: `Bearer ${token}` }
    return repeated(11, (index) =>
      send(setup, 'notifications', { ...body, event_description: `${index}` }, headers),
    )
  }),
  check(
    'consent.ts',
    ['await wallet.env.limitOffers(grantIdOf(request))', 'undefined'],
    async ({ setup }) => {
      const { parameters } = await offered(setup, { txCode: false })
      return repeated(31, async () =>
        answer(setup, { request: sealedIn(await open(setup, parameters)), decision: 'accept' }),
      )
    },
  ),
  check('access-token.ts', ['await wallet.env.limitOffers(grant.id)', 'undefined'], async ({ setup }) => {
    const { token: accessToken, key, nonce } = await boundToken(setup)
    const once = () =>
      takeDpop(setup, accessToken, proofFor(setup, 'credentials', { accessToken, key, nonce }))
    await once()
    const { body: _body, ...reply } = await repeated(30, once)
    // The credential is refused to another key. The limit comes before.
    return { ...reply, body: undefined, status: reply.status === 429 ? 429 : 200 }
  }),
  check('token.ts', 'if (client || proof) await wallet.env.limitOffers(grant.id)', async ({ setup }) => {
    const { credentialOffer } = await offer(setup, { txCode: true })
    const form = { grant_type: preAuthorizedGrant, 'pre-authorized_code': await codeOf(credentialOffer) }
    const nonce = await newDpopNonce(setup)
    const { status } = await repeated(31, () =>
      post(setup, 'token', form, proofFor(setup, 'token', { nonce })),
    )
    return replyIf(status !== 429)
  }),
]
