/** Tests of the reference model. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/wallet/events/event.ts'
import { judge } from './_model.ts'

test('the model detects lost and duplicate events, and knows final states', () => {
  const say = (...states: string[]) =>
    states.map((state): Event => ({
      type: 'ConnectionUpdated',
      id: '',
      ts: '',
      walletId: 'w',
      data: { thid: 't', role: 'Inviter', state },
    }))
  const whole = [
    'InvitationGenerated',
    'ConnectionRequestReceived',
    'ConnectionResponsePending',
    'ConnectionResponseSent',
  ]
  expect(judge(say(...whole))).toMatchObject({ records: 1, missing: [], doubled: [], unended: [] })
  expect(judge(say(...whole.slice(0, 3))).unended).toHaveLength(1)
  expect(judge(say(whole[0]!, whole[2]!, whole[3]!)).missing).toHaveLength(1)
  expect(judge(say(...whole.slice(1))).missing).toHaveLength(1)
  expect(judge(say(whole[0]!, whole[1]!, whole[1]!, ...whole.slice(2))).doubled).toHaveLength(1)
  expect(judge(say(whole[1]!, whole[0]!, ...whole.slice(2))).missing.length).toBeGreaterThan(0)
})
