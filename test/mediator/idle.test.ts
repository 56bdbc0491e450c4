/** Removal of idle accounts, and the problem report to wallets that return. */
import { expect, test } from 'vitest'
import {
  deliveredIn,
  mediation2,
  newWallet,
  pickup,
  problemReport,
  refusalOf,
  startMediator,
  type TestMediator,
} from './_mediator.ts'

const hour = 3_600
const day = 24 * hour

const isEnrolled = async (house: TestMediator, wallet: ReturnType<typeof newWallet>) =>
  (await house.ask(wallet, `${pickup}/status-request`))?.type === `${pickup}/status`

const register = (house: TestMediator, wallet: ReturnType<typeof newWallet>, alias: string) =>
  house.ask(wallet, `${mediation2}/keylist-update`, { updates: [{ recipient_did: alias, action: 'add' }] })

test('an idle account is removed with its DIDs, its wallet gets a problem report, and may enrol again', async () => {
  await using house = await startMediator({ limits: { accountLifetime: 10 * day } })
  const [wallet, alias] = [await house.enrolled(), newWallet().did]
  await register(house, wallet, alias)
  house.advance(10 * day)
  await house.mediator.sweep()
  await house.forward(alias, 'still taken')
  const [message] = deliveredIn(await house.ask(wallet, `${pickup}/delivery-request`, { limit: 1 }))
  await house.ask(wallet, `${pickup}/messages-received`, { message_id_list: [message!.id] })

  house.advance(10 * day + 1)
  await house.mediator.sweep()
  expect((await refusalOf(house.forward(alias))).type).toBe('error:MediatorError:NotEnrolled')
  for (const [type, body] of [
    [`${pickup}/delivery-request`, { limit: 1 }],
    [`${mediation2}/keylist-update`, { updates: [{ recipient_did: alias, action: 'add' }] }],
  ] as const) {
    const told = await house.ask(wallet, type, body)
    expect(told).toMatchObject({
      type: problemReport,
      body: { code: 'e.p.req.not_enroll', args: [wallet.did] },
    })
    expect(told!.body['comment']).toContain('Send a mediate-request, then register the DIDs again')
  }

  expect((await house.ask(wallet, `${mediation2}/mediate-request`))?.type).toBe(`${mediation2}/mediate-grant`)
  expect((await house.ask(wallet, `${mediation2}/keylist-query`))?.body).toMatchObject({
    keys: [{ recipient_did: wallet.did }],
  })
  expect((await register(house, wallet, alias))?.body).toMatchObject({ updated: [{ result: 'success' }] })
  await house.forward(alias, 'taken again')
})

test.each([
  ['a pickup', `${pickup}/status-request`, {}],
  ['a look at its list', `${mediation2}/keylist-query`, {}],
  ['a ping', 'https://didcomm.org/trust-ping/2.0/ping', {}],
  ['another request to enrol', `${mediation2}/mediate-request`, {}],
])('%s keeps an account in use', async (_, type, body) => {
  await using house = await startMediator({ limits: { accountLifetime: 10 * day } })
  const [wallet, silent] = [await house.enrolled(), await house.enrolled()]
  house.advance(9 * day)
  await house.ask(wallet, type, body)
  house.advance(9 * day)
  await house.mediator.sweep()
  expect([await isEnrolled(house, wallet), await isEnrolled(house, silent)]).toEqual([true, false])
})

test('live delivery keeps an account in use', async () => {
  await using house = await startMediator({ limits: { accountLifetime: 10 * day } })
  const [wallet, channel] = [await house.enrolled(), { send: () => undefined }]
  await house.ask(wallet, `${pickup}/live-delivery-change`, { live_delivery: true }, {}, channel)
  for (let passed = 0; passed < 20; passed += 5) {
    house.advance(5 * day)
    await house.mediator.sweep()
  }
  house.mediator.closeChannel(channel)
  expect(await isEnrolled(house, wallet)).toBe(true)
})

test('an account with queued messages stays until they are deleted', async () => {
  await using house = await startMediator({ limits: { accountLifetime: 10 * day, lifetime: 5 * day } })
  const wallet = await house.enrolled()
  house.advance(9 * day)
  await house.forward(wallet.did)
  house.advance(4 * day)
  await house.mediator.sweep()
  await house.forward(wallet.did, 'it is still there')
  house.advance(5 * day + 1)
  await house.mediator.sweep()
  expect((await refusalOf(house.forward(wallet.did))).type).toBe('error:MediatorError:NotEnrolled')
})

test('at the limit of accounts, only accounts abandoned for a day are removed', async () => {
  await using house = await startMediator({ limits: { accounts: 3, accountLifetime: 90 * day } })
  const [left, withAlias, withMessage] = [
    await house.enrolled(),
    await house.enrolled(),
    await house.enrolled(),
  ]
  await register(house, withAlias, newWallet().did)
  await house.forward(withMessage.did)
  const late = newWallet()
  const request = async () => (await house.ask(late, `${mediation2}/mediate-request`))?.type
  house.advance(day)
  expect(await request()).toBe(`${mediation2}/mediate-deny`)
  house.advance(1)
  expect(await request()).toBe(`${mediation2}/mediate-grant`)
  const stay = []
  for (const wallet of [left, withAlias, withMessage, late]) stay.push(await isEnrolled(house, wallet))
  expect(stay).toEqual([false, true, true, true])
  house.advance(2 * day)
  expect((await house.ask(newWallet(), `${mediation2}/mediate-request`))?.type).toBe(
    `${mediation2}/mediate-grant`,
  )
  expect(await isEnrolled(house, late)).toBe(false)
})
