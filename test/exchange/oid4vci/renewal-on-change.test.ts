/** Copies with other claims than the new ones, which a configuration revokes. */
import { expect, test } from 'vitest'
import { rewriteRows } from '../../support/rewrite-rows.ts'
import { untilEnd } from '../../support/shared.ts'
import { until } from '../../support/tenants.ts'
import { addSource, filled, openSource, type Scripted, type SourceSettings } from './_claims-source.ts'
import { after, type Held, renewalsOf, setRenewal } from './_renewal.ts'
import { prove, startIssuer } from './_wallet.ts'

const setup = await untilEnd(startIssuer())
const { agent, tenant } = setup
const { entries, notify, redeemed, refresh, take } = renewalsOf(setup)

type Settings = SourceSettings & { onChange?: 'keep' | 'revoke' }

/** A wallet with two copies of its credential. */
async function issued(scripted: Scripted[], { onChange = 'revoke', ...settings }: Settings = {}) {
  const source = await untilEnd(openSource(...scripted))
  const { configurationId } = await addSource(setup, source.url, settings)
  await setRenewal(setup, { days: 90, onChange }, configurationId)
  const claims = { employeeId: '7' }
  const held = await redeemed({ credentialConfigurationId: configurationId, claims })
  expect((await take(held, await prove(setup), await prove(setup))).status).toBe(200)
  return held
}

async function renew(held: Held): Promise<Held> {
  const refreshed = after(held, await refresh(held))
  expect((await take(refreshed)).status).toBe(200)
  return refreshed
}

const department = (name: string) => filled({ department: name })

/** Which copies are revoked, in the order of their issuance. */
async function revoked({ recordId }: Held): Promise<boolean[]> {
  const { instances } = await tenant.call('GET /issue-credentials/records/{recordId}', { path: { recordId } })
  const found = await entries(recordId)
  return instances!.map(
    ({ statusListIndex }) => found.find((row) => row.list_index === statusListIndex)!.revoked_at !== null,
  )
}

/** The jobs of the copies of a record. */
const jobsOf = ({ recordId }: Held) =>
  agent.agent.wallets.use(tenant.walletId, ({ db }) =>
    db.selectFrom('job').selectAll().where('queue', '=', `copies:${recordId}`).execute(),
  )

/** Lets the days until a planned revocation pass, and has the worker look. */
async function passDays({ recordId }: Held, days: number) {
  await agent.agent.wallets.use(tenant.walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      const sooner = (text: string) => new Date(Date.parse(text) - days * 86_400_000).toISOString()
      for (const { id, due_at } of await tx
        .selectFrom('job')
        .selectAll()
        .where('queue', '=', `copies:${recordId}`)
        .execute())
        await tx
          .updateTable('job')
          .set({ due_at: sooner(due_at), created_at: sooner(due_at) })
          .where('id', '=', id)
          .execute()
      for (const { list_id, list_index, revoke_at } of await tx
        .selectFrom('status_entry')
        .selectAll()
        .where('record_id', '=', recordId)
        .execute())
        if (revoke_at !== null)
          await tx
            .updateTable('status_entry')
            .set({ revoke_at: sooner(revoke_at) })
            .where('list_id', '=', list_id)
            .where('list_index', '=', list_index)
            .execute()
    }),
  )
  agent.agent.worker.wake(tenant.walletId)
}

test('old copies are revoked when the wallet has accepted the new one', async () => {
  const held = await issued([department('Sales'), department('Law')])
  const renewed = await renew(held)
  expect(await revoked(held)).toEqual([false, false, false])
  // The first token, of the copies that are to be revoked.
  expect((await notify(held, 'credential_accepted')).status).toBe(204)
  expect((await notify(renewed, 'credential_failure')).status).toBe(204)
  expect(await revoked(held)).toEqual([false, false, false])
  expect(await jobsOf(held)).toHaveLength(1)
  expect((await notify(renewed, 'credential_accepted')).status).toBe(204)
  expect(await revoked(held)).toEqual([true, true, false])
  expect(await jobsOf(held)).toEqual([])
  // The record is not revoked yet, and to revoke it revokes the rest.
  const path = { id: held.recordId }
  await tenant.call('PATCH /credential-status/revoke-credential/{id}', { path })
  expect(await revoked(held)).toEqual([true, true, true])
})

test('without a notification they are revoked after 7 days, those of each change by themselves', async () => {
  const held = await issued([department('Sales'), department('Law'), department('Tests')])
  const renewed = await renew(held)
  await passDays(held, 6)
  await renew(renewed)
  expect(await revoked(held)).toEqual([false, false, false, false])
  await passDays(held, 1.1)
  await until(
    'the first copies are revoked',
    () => revoked(held),
    ([first]) => first === true,
  )
  expect(await revoked(held)).toEqual([true, true, false, false])
  await passDays(held, 6)
  await until(
    'those of the renewal are revoked',
    () => revoked(held),
    ([, , third]) => third === true,
  )
  expect(await revoked(held)).toEqual([true, true, true, false])
  expect(await jobsOf(held)).toEqual([])
})

test.each<[string, Settings, Scripted[]]>([
  [
    'with the same claims',
    {},
    [department('Law'), filled({ department: 'Law' }, { validitySeconds: 3_600 })],
  ],
  ['whose claims the record does not keep', { keepClaims: false }, [department('Law'), department('Law')]],
  ['of a configuration that keeps them', { onChange: 'keep' }, [department('Law'), department('Tests')]],
])('copies %s stay', async (_name, settings, scripted) => {
  const held = await issued(scripted, settings)
  const renewed = await renew(held)
  expect((await notify(renewed, 'credential_accepted')).status).toBe(204)
  expect(await revoked(held)).toEqual([false, false, false])
  expect(await jobsOf(held)).toEqual([])
})

test('changed claims that the record does not keep are noticed', async () => {
  const held = await issued([department('Sales'), department('Law')], { keepClaims: false })
  await notify(await renew(held), 'credential_accepted')
  expect(await revoked(held)).toEqual([true, true, false])
})
