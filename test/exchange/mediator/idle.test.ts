/** Removal of idle accounts, and the problem report to wallets that return. */
import { expect, test } from 'vitest'
import {
  type TestMediator,
  deliveredIn,
  mediateGrant,
  mediateRequest,
  mediation2,
  newWallet,
  pickup,
  problemReport,
  refusalOf,
  startMediator,
  trustPing,
} from './_mediator.ts'

const hour = 3_600
const day = 24 * hour

const isEnrolled = async (mediator: TestMediator, wallet: ReturnType<typeof newWallet>) =>
  (await mediator.ask(wallet, `${pickup}/status-request`))?.type === `${pickup}/status`

test('an idle account is removed with its DIDs; its wallet gets a problem report and may enrol again', async () => {
  await using mediator = await startMediator({ MEDIATOR_ACCOUNT_LIFETIME: 10 * day })
  const [wallet, alias] = [await mediator.enrolled(), newWallet().did]
  await mediator.register(wallet, alias)
  mediator.advance(10 * day)
  await mediator.mediator.sweep()
  await mediator.forward(alias, 'still accepted')
  const [message] = deliveredIn(await mediator.ask(wallet, `${pickup}/delivery-request`, { limit: 1 }))
  await mediator.acknowledge(wallet, [message!.id])

  mediator.advance(10 * day + 1)
  await mediator.mediator.sweep()
  expect((await refusalOf(mediator.forward(alias))).type).toBe('error:MediatorError:NotEnrolled')
  for (const [type, body] of [
    [`${pickup}/delivery-request`, { limit: 1 }],
    [`${mediation2}/keylist-update`, { updates: [{ recipient_did: alias, action: 'add' }] }],
  ] as const) {
    const report = await mediator.ask(wallet, type, body)
    expect(report).toMatchObject({
      type: problemReport,
      body: { code: 'e.p.req.not_enroll', args: [wallet.did] },
    })
    expect(report!.body['comment']).toContain('Send a mediate-request, then register the DIDs again')
  }

  expect((await mediator.ask(wallet, mediateRequest))?.type).toBe(mediateGrant)
  expect((await mediator.ask(wallet, `${mediation2}/keylist-query`))?.body).toMatchObject({
    keys: [{ recipient_did: wallet.did }],
  })
  expect((await mediator.register(wallet, alias))?.body).toMatchObject({ updated: [{ result: 'success' }] })
  await mediator.forward(alias, 'accepted again')
})

test.each([
  ['a pickup', `${pickup}/status-request`, {}],
  ['a query of its list', `${mediation2}/keylist-query`, {}],
  ['a ping', trustPing, {}],
  ['another request to enrol', mediateRequest, {}],
])('%s keeps an account in use', async (_, type, body) => {
  await using mediator = await startMediator({ MEDIATOR_ACCOUNT_LIFETIME: 10 * day })
  const [wallet, silent] = [await mediator.enrolled(), await mediator.enrolled()]
  mediator.advance(9 * day)
  await mediator.ask(wallet, type, body)
  mediator.advance(9 * day)
  await mediator.mediator.sweep()
  expect([await isEnrolled(mediator, wallet), await isEnrolled(mediator, silent)]).toEqual([true, false])
})

test('live delivery counts as use of an account', async () => {
  await using mediator = await startMediator({ MEDIATOR_ACCOUNT_LIFETIME: 10 * day })
  const [wallet, channel] = [await mediator.enrolled(), { send: () => undefined }]
  await mediator.ask(wallet, `${pickup}/live-delivery-change`, { live_delivery: true }, {}, channel)
  for (let passed = 0; passed < 20; passed += 5) {
    mediator.advance(5 * day)
    await mediator.mediator.sweep()
  }
  mediator.mediator.closeChannel(channel)
  expect(await isEnrolled(mediator, wallet)).toBe(true)
})

test('an account with queued messages stays until they are deleted', async () => {
  await using mediator = await startMediator({
    MEDIATOR_ACCOUNT_LIFETIME: 10 * day,
    MEDIATOR_MESSAGE_LIFETIME: 5 * day,
  })
  const wallet = await mediator.enrolled()
  mediator.advance(9 * day)
  await mediator.forward(wallet.did)
  mediator.advance(4 * day)
  await mediator.mediator.sweep()
  await mediator.forward(wallet.did, 'it is still there')
  mediator.advance(5 * day + 1)
  await mediator.mediator.sweep()
  expect((await refusalOf(mediator.forward(wallet.did))).type).toBe('error:MediatorError:NotEnrolled')
})

test('at the limit of accounts, only accounts abandoned for a day are removed', async () => {
  await using mediator = await startMediator({
    MEDIATOR_ACCOUNT_LIMIT: 3,
    MEDIATOR_ACCOUNT_LIFETIME: 90 * day,
  })
  const [left, withAlias, withMessage] = [
    await mediator.enrolled(),
    await mediator.enrolled(),
    await mediator.enrolled(),
  ]
  await mediator.register(withAlias, newWallet().did)
  await mediator.forward(withMessage.did)
  const late = newWallet()
  const request = async () => (await mediator.ask(late, mediateRequest))?.type
  mediator.advance(day)
  expect(await request()).toBe(`${mediation2}/mediate-deny`)
  mediator.advance(1)
  expect(await request()).toBe(mediateGrant)
  const stay = []
  for (const wallet of [left, withAlias, withMessage, late]) stay.push(await isEnrolled(mediator, wallet))
  expect(stay).toEqual([false, true, true, true])
  mediator.advance(2 * day)
  expect((await mediator.ask(newWallet(), mediateRequest))?.type).toBe(mediateGrant)
  expect(await isEnrolled(mediator, late)).toBe(false)
})
