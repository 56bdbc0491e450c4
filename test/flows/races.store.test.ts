/** Many agents accept one invitation at once, and exactly one succeeds. `RACES=1000` is the long run. */
import { expect, test } from 'vitest'
import type { Connection } from '../../src/exchange/protocols/connection/model.ts'
import { sharedAgent } from '../support/agent.ts'
import { connectionIn, oobOf, refusal, until } from '../support/tenants.ts'

const rounds = Number(process.env['RACES'] ?? 10)
const racers = 20

test(
  'twenty requests of one wallet for one invitation: one is accepted, the others are refused',
  { timeout: 600_000 },
  async () => {
    const agent = await sharedAgent()
    const [inviter, invitee] = [await agent.newTenant('inviter'), await agent.newTenant('invitee')]
    for (let round = 0; round < rounds; round++) {
      const made = await inviter.call('POST /connections', { body: { label: 'a race' } })
      const { thid } = made
      const body = { invitation: oobOf(made) }
      const outcomes = await Promise.allSettled(
        Array.from({ length: racers }, () => invitee.call('POST /connection-invitations', { body })),
      )
      const losers = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(losers).toHaveLength(racers - 1)
      for (const { reason } of losers) {
        expect(await refusal(Promise.reject(reason as Error))).toMatchObject({
          status: 400,
          type: 'error:ConnectionServiceError:InvitationAlreadyReceived',
        })
      }
      await connectionIn(invitee.call, thid, 'ConnectionResponseReceived')
      await connectionIn(inviter.call, thid, 'ConnectionResponseSent')
    }
  },
)

test(
  'twenty wallets accept one invitation: one is connected, the others get a report that it was already accepted',
  { timeout: 900_000 },
  async () => {
    const agent = await sharedAgent()
    const inviter = await agent.newTenant('inviter')
    const invitees = await Promise.all(
      Array.from({ length: racers }, (_, n) => agent.newTenant(`invitee ${n}`)),
    )
    for (let round = 0; round < Math.ceil(rounds / 5); round++) {
      const made = await inviter.call('POST /connections', { body: { label: 'a race' } })
      const { thid } = made
      const body = { invitation: oobOf(made) }
      await Promise.all(invitees.map(({ call }) => call('POST /connection-invitations', { body })))
      const hasEnded = ({ state, metaLastFailure }: Connection) =>
        state === 'ConnectionResponseReceived' || metaLastFailure !== undefined
      const ends = await Promise.all(
        invitees.map(({ call }) =>
          until(
            'the end of the race',
            async () => (await call('GET /connections', { query: { thid } })).contents[0]!,
            hasEnded,
          ),
        ),
      )
      expect(ends.filter(({ state }) => state === 'ConnectionResponseReceived')).toHaveLength(1)
      await connectionIn(inviter.call, thid, 'ConnectionResponseSent')
      const { contents } = await inviter.call('GET /connections', { query: { thid } })
      expect(contents).toHaveLength(1)
    }
  },
)
