/**
 * `expires_time` of messages (DIDComm v2.1, Message Headers): agents and the mediator refuse expired
 * messages.
 */
import { expect, test } from 'vitest'
import { sharedAgent } from '../support/agent.ts'
import { openParty } from '../support/party.ts'
import {
  deliveredIn,
  forwardOf,
  mediation2,
  newWallet,
  packFor,
  pickup,
  problemReport,
  refusalOf,
  startMediator,
} from '../exchange/mediator/_mediator.ts'

const ping = 'https://didcomm.org/trust-ping/2.0/ping'
const now = () => Math.floor(Date.now() / 1_000)

const refused: [string, () => object][] = [
  ['in 1970', () => ({ expires_time: 1_970 })],
  ['a minute ago', () => ({ expires_time: now() - 60 })],
  ['a minute ago, with a time of creation', () => ({ created_time: now() - 61, expires_time: now() - 60 })],
  [
    'a day and more ago, with the Cloud Agent’s thousand seconds',
    () => ({ created_time: now() - 90_000, expires_time: now() - 89_000 }),
  ],
]
const taken: [string, () => object][] = [
  ['never', () => ({})],
  ['in a minute', () => ({ expires_time: now() + 60 })],
  ['within the tolerated clock difference', () => ({ expires_time: now() - 10 })],
  [
    'hours ago, by a Cloud Agent in another time zone',
    () => ({ created_time: now() - 36_000, expires_time: now() - 35_000 }),
  ],
]

test('an expired message of any protocol is refused with a reason, one that has not expired is accepted', async () => {
  const agent = await sharedAgent()
  await using party = await openParty()
  const { theirDid } = await party.connect(await agent.newTenant())
  const post = async (message: object) => {
    const headers = { 'content-type': 'application/didcomm-encrypted+json' }
    const body = party.pack(theirDid, { type: ping, ...message })
    const response = await fetch(agent.didcommUrl, { method: 'POST', headers, body })
    return { status: response.status, problem: await response.json().catch(() => undefined) }
  }
  for (const [when, header] of refused) {
    for (const type of [
      ping,
      'https://didcomm.org/basicmessage/2.0/message',
      'https://didcomm.org/issue-credential/3.0/offer-credential',
    ])
      expect(await post({ type, ...header() }), when).toMatchObject({
        status: 400,
        problem: {
          type: 'error:DIDCommControllerError:MessageExpired',
          detail: expect.stringMatching(/^The message expired at \d{4}-.*expires_time/),
        },
      })
  }
  for (const [when, header] of taken) expect((await post(header())).status, when).toBe(200)
})

test('an accepted message may be repeated after its expiry', async () => {
  const agent = await sharedAgent()
  await using party = await openParty()
  const { theirDid } = await party.connect(await agent.newTenant())
  const id = 'the-very-ping'
  const post = async (expires_time: number) => {
    const headers = { 'content-type': 'application/didcomm-encrypted+json' }
    const body = party.pack(theirDid, { id, type: ping, expires_time })
    return (await fetch(agent.didcommUrl, { method: 'POST', headers, body })).status
  }
  expect(await post(now() + 60)).toBe(200)
  expect(await post(now() - 60)).toBe(200)
})

test('the mediator refuses it with a report, or by an HTTP status for an unknown sender', async () => {
  await using mediator = await startMediator()
  const time = Date.parse('2026-01-01T00:00:00Z') / 1_000
  const wallet = await mediator.enrolled()
  const status = (header: object) => mediator.ask(wallet, `${pickup}/status-request`, {}, header)
  expect(await status({ expires_time: time - 60 })).toMatchObject({
    type: problemReport,
    body: {
      code: 'e.p.req.time.message-expired',
      comment: expect.stringContaining('2025-12-31T23:59:00.000Z'),
    },
  })
  expect((await status({ expires_time: time - 10 }))?.type).toBe(`${pickup}/status`)
  const forward = (header: object) =>
    mediator.take(
      packFor(mediator.did, { ...forwardOf(wallet.did, packFor(wallet.did, { type: ping })), ...header }),
    )
  expect(await refusalOf(forward({ expires_time: time - 60 }))).toMatchObject({
    type: 'error:DIDCommControllerError:MessageExpired',
    status: 400,
  })
  await forward({ created_time: time - 36_000, expires_time: time - 35_000 })
  expect(deliveredIn(await mediator.ask(wallet, `${pickup}/delivery-request`, { limit: 10 }))).toHaveLength(1)
  const stranger = await mediator.ask(newWallet(), `${mediation2}/mediate-request`, {}, { expires_time: 0 })
  expect(stranger?.body).toMatchObject({ code: 'e.p.req.time.message-expired' })
})
