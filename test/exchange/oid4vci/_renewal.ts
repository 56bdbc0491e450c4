/** A wallet whose access token is bound to a key, and that renews its credential: each step by itself. */
import { generateKey, type PrivateJwk } from '../../../src/foundation/crypto/keys.ts'
import type { TestAgent } from '../../support/agent.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { rewriteRows } from '../../support/rewrite-rows.ts'
import { newDpopNonce, post, proofFor } from './_dpop.ts'
import { codeOf, offer, preAuthorizedGrant, prove, type OfferOptions, type Setup } from './_wallet.ts'

export type Held = {
  key: PrivateJwk
  refresh: string
  recordId: string
  access: string
  nonce: string
  configuration: string
  /** Of one of several credentials. */
  identifier?: string
}

/** The steps of wallets with credentials of an issuer. */
export function renewalsOf(setup: Setup & { agent: TestAgent }) {
  const { agent, tenant, issuerId } = setup
  const sendForm = (form: Record<string, string>, key: PrivateJwk | undefined, nonce: string) =>
    post(setup, 'token', form, key && proofFor(setup, 'token', { key, nonce }))

  const send = (endpoint: string, { access: accessToken, key, nonce }: Held, body: object): Promise<Reply> =>
    ask(agent, `POST /oid4vci/issuers/${issuerId}/${endpoint}`, {
      body,
      headers: {
        authorization: `DPoP ${accessToken}`,
        dpop: proofFor(setup, endpoint, { accessToken, key, nonce }),
      },
    })

  /** Requests the credential: one copy, or one for each proof. */
  const take = async (held: Held, ...proofs: string[]): Promise<Reply> => {
    const jwt = proofs.length > 0 ? proofs : [await prove(setup)]
    const { identifier, configuration } = held
    const asked = identifier === undefined ? { credential_configuration_id: configuration } : {}
    return send('credentials', held, { credential_identifier: identifier, ...asked, proofs: { jwt } })
  }

  return {
    take,

    /** A wallet with a redeemed offer, a new one or `made`. */
    redeemed: async (
      options: OfferOptions = {},
      made?: { credentialOffer: string; recordId: string },
    ): Promise<Held> => {
      const [key, nonce] = [generateKey('P-256'), await newDpopNonce(setup)]
      const { credentialOffer, recordId } = made ?? (await offer(setup, options))
      const form = { grant_type: preAuthorizedGrant, 'pre-authorized_code': await codeOf(credentialOffer) }
      const { body } = await sendForm(form, key, nonce)
      const configuration = options.credentialConfigurationId ?? 'Person'
      return { key, nonce, recordId, access: body.access_token, refresh: body.refresh_token, configuration }
    },

    refresh: (
      { key, refresh: token, nonce }: Held,
      more: Record<string, string> = {},
      by: PrivateJwk | undefined = key,
    ) => sendForm({ grant_type: 'refresh_token', refresh_token: token, ...more }, by, nonce),

    notify: (held: Held, event: string, description?: string) =>
      send('notifications', held, {
        notification_id: held.recordId,
        event,
        ...(description !== undefined && { event_description: description }),
      }),

    fetchDeferred: (held: Held, id: string) => send('deferred-credentials', held, { transaction_id: id }),

    /** Moves the times of a grant into the past. */
    change: (recordId: string, of: (renewal: any) => object) =>
      agent.agent.wallets.use(tenant.walletId, (wallet) =>
        rewriteRows(wallet, async (tx) => {
          const records = tx.selectFrom('record').select('thid').where('id', '=', recordId)
          const { thid } = await records.executeTakeFirstOrThrow()
          const grants = tx.selectFrom('issuance_grant').select('renewal').where('id', '=', thid)
          const { renewal } = await grants.executeTakeFirstOrThrow()
          const next = JSON.stringify(of(JSON.parse(renewal!)))
          await tx.updateTable('issuance_grant').set({ renewal: next }).where('id', '=', thid).execute()
        }),
      ),

    /** Lets the time pass until the claims source of a deferred renewal can be asked again. */
    askAgain: (recordId: string) =>
      agent.agent.wallets.use(tenant.walletId, (wallet) =>
        rewriteRows(wallet, async (tx) => {
          const records = tx.selectFrom('record').select('data').where('id', '=', recordId)
          const data = JSON.parse((await records.executeTakeFirstOrThrow()).data)
          data.renewing.progress.askAtMs = 1
          const next = { data: JSON.stringify(data) }
          await tx.updateTable('record').set(next).where('id', '=', recordId).execute()
        }),
      ),

    /** The entries of status lists of the credentials of a record. */
    entries: (recordId: string) =>
      agent.agent.wallets.use(tenant.walletId, ({ db }) =>
        db.selectFrom('status_entry').selectAll().where('record_id', '=', recordId).execute(),
      ),
  }
}

/** The wallet with the tokens of an answer. */
export const after = (held: Held, { body }: Reply): Held => ({
  ...held,
  access: body.access_token,
  refresh: body.refresh_token,
})

/** Sets how credentials of a configuration are renewed. */
export const setRenewal = (
  { tenant, issuerId }: Setup,
  renewal: { days: number; maxDays?: number; onChange?: 'keep' | 'revoke' } | null,
  credentialConfigId = 'Person',
) =>
  tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { issuerId, credentialConfigId },
    body: { renewal },
  })
