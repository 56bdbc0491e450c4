/** A presentation among other steps: after a log-in, before a claims source; and one that nobody answers. */
import { expect, test } from 'vitest'
import { sharedAgent } from '../../../support/agent.ts'
import { rewriteRows } from '../../../support/rewrite-rows.ts'
import { untilEnd } from '../../../support/shared.ts'
import { issuerDid } from '../../oid4vp/_wallet.ts'
import { answer, redeemAuthorized, sealedIn, type Shown } from '../_authorization.ts'
import { filled, openSource } from '../_claims-source.ts'
import { browse, useProvider } from '../log-in/_browser.ts'
import { startLyingProvider } from '../log-in/_lying-provider.ts'
import { prove, recordOf, request, type Setup } from '../_wallet.ts'
import {
  addPasses,
  alice,
  begin,
  enter,
  goOn,
  offeredCard,
  presentation,
  presentTo,
  pressed,
  requestedPass,
  trust,
} from './_presentation.ts'

const agent = await sharedAgent()
const tenant = await agent.newTenant('issuer')
await trust(tenant, issuerDid)
const setup = await addPasses(agent, tenant)

const change = ({ issuerId }: Setup, id: string, body: object) =>
  tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
    path: { issuerId, credentialConfigId: id },
    body,
  })

async function take(of: Setup, page: Shown, verifier: string, configuration: string) {
  const { location, text } = await answer(of, { request: sealedIn(page), decision: 'accept' })
  if (!location) throw new Error(text)
  const { body: token } = await redeemAuthorized(of, { code: location.searchParams.get('code')!, verifier })
  const body = { credential_configuration_id: configuration, proofs: { jwt: [await prove(of)] } }
  return request(of, { token: token.access_token, body })
}

test('the presentation comes after the log-in, and the consent names who is signed in', async () => {
  const staff = await addPasses(agent, tenant)
  await useProvider(staff, (await untilEnd(startLyingProvider())).url)
  const { parameters, verifier } = await offeredCard(staff)
  const page = await browse(staff, parameters)
  expect(page.text).toContain('Show a proof')
  const begun = await pressed(staff, page)
  await presentTo(begun)
  const consent = await goOn(begun)
  expect(consent.text).toContain('You are signed in as')
  expect((await take(staff, consent, verifier, 'Card')).status).toBe(200)
})

test('a claims source is told what was presented', async () => {
  await using source = await openSource(filled({ level: 'gold' }))
  await tenant.call('POST /oid4vci/issuers/{issuerId}/secret', { path: { issuerId: setup.issuerId } })
  await change(setup, 'Pass', {
    claimsSource: { url: source.url },
    claims: [
      { path: ['birthdate'], from: 'presentation' },
      { path: ['level'], from: 'source' },
    ],
  })
  const { parameters, verifier } = requestedPass()
  const begun = await begin(setup, parameters)
  await presentTo(begun)
  expect((await take(setup, await goOn(begun), verifier, 'Pass')).status).toBe(200)
  expect(source.asked()).toMatchObject([
    { identity: { from: 'presentation', claims: alice }, offered: {}, wanted: [['level']] },
  ])
})

test('a presentation that comes too late is none', async () => {
  const { parameters, recordId } = await offeredCard(setup)
  const begun = await begin(setup, parameters)
  await agent.agent.wallets.use(tenant.walletId, (wallet) =>
    rewriteRows(wallet, async (tx) => {
      const rows = tx.selectFrom('record').select(['id', 'data']).where('protocol', '=', 'present-proof')
      for (const row of await rows.where('state', '=', 'RequestCreated').execute()) {
        const data = JSON.parse(row.data)
        data.openid4vp.expiresTime = 1
        await tx
          .updateTable('record')
          .set({ data: JSON.stringify(data) })
          .where('id', '=', row.id)
          .execute()
      }
    }),
  )
  const page = await goOn(begun)
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('Nothing was presented in time')])
  expect((await presentTo(begun)).status).toBe(400)
  expect((await goOn(begun)).status).toBe(400)
  expect((await recordOf(setup, recordId)).protocolState).toBe('OfferCreated')
})

test('credentials that need different presentations are requested one by one', async () => {
  const { credentials } = presentation.dcqlQuery
  const rare = [{ ...credentials[0]!, meta: { vct_values: ['https://credentials.example/rare'] } }]
  await change(setup, 'Free', { presentation: { ...presentation, dcqlQuery: { credentials: rare } } })
  const page = await enter(setup, requestedPass('Pass Free').parameters)
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('need different presentations')])
  expect((await enter(setup, requestedPass('Free').parameters)).text).toContain('Show a proof')
})

test('agent trace has the reason of a refused presentation, without values', async () => {
  const { parameters, recordId } = await offeredCard(setup)
  const begun = await begin(setup, parameters)
  await presentTo(begun, { issued: { claims: { ...alice, family_name: 'Brown' } } })
  await goOn(begun)
  const trace = await tenant.call('GET /traces/{id}', { path: { id: recordId } })
  const text = JSON.stringify(trace)
  expect(text).toContain('family_name does not match')
  expect(text).not.toMatch(/Brown/)
})
