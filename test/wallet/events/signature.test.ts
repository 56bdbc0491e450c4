/** Signatures, checked with the reference implementation of Standard Webhooks. */
import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { newSecret, rotate, sign, type Secrets } from '../../../src/wallet/events/signature.ts'

const hour = 3_600_000
const message = () => ({
  id: randomUUID(),
  at: new Date(),
  body: '{"type":"ConnectionUpdated","data":{"label":"Zoë"}}',
})
const isAccepted = (secret: string, body: string, headers: Record<string, string>) => {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}

test('a secret is whsec_ and 24 to 64 random bytes in base64', () => {
  const [one, two] = [newSecret(), newSecret()]
  expect(one).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/)
  const length = Buffer.from(one.slice('whsec_'.length), 'base64').length
  expect(length).toBeGreaterThanOrEqual(24)
  expect(length).toBeLessThanOrEqual(64)
  expect(one).not.toBe(two)
})

test('the reference implementation creates the same signature', () => {
  const [secret, { id, at, body }] = [newSecret(), message()]
  expect(sign([{ secret }], { id, at, body })).toEqual({
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  })
})

test('the reference implementation accepts the signature, and refuses another body, id, time or secret', () => {
  const [secret, sent] = [newSecret(), message()]
  const headers = sign([{ secret }], sent)
  expect(isAccepted(secret, sent.body, headers)).toBe(true)
  expect(isAccepted(secret, sent.body.replace('Zoë', 'Zoe'), headers)).toBe(false)
  expect(isAccepted(secret, sent.body, { ...headers, 'webhook-id': randomUUID() })).toBe(false)
  expect(
    isAccepted(secret, sent.body, {
      ...headers,
      'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1),
    }),
  ).toBe(false)
  expect(isAccepted(newSecret(), sent.body, headers)).toBe(false)
  expect(
    isAccepted(secret, sent.body, sign([{ secret }], { ...sent, at: new Date(Date.now() - hour) })),
  ).toBe(false)
})

test('after a rotation both secrets sign until the first one expires; an older secret does not sign', () => {
  const [first, second, third] = [newSecret(), newSecret(), newSecret()]
  const [past, future] = [new Date(Date.now() - hour), new Date(Date.now() + hour)]
  const sent = message()
  const accepted = (secrets: Secrets) =>
    [first, second, third].map((secret) => isAccepted(secret, sent.body, sign(secrets, sent)))
  const once = rotate([{ secret: first }], second, future)
  expect(accepted(once)).toEqual([true, true, false])
  expect(sign(once, sent)['webhook-signature']!.split(' ')).toHaveLength(2)
  expect(accepted(rotate([{ secret: first }], second, past))).toEqual([false, true, false])
  expect(accepted(rotate(once, third, future))).toEqual([false, true, true])
  expect(accepted(rotate(undefined, first, future))).toEqual([true, false, false])
})

test('without a secret there is no signature, but the id and the timestamp are sent', () => {
  expect(Object.keys(sign(undefined, message()))).toEqual(['webhook-id', 'webhook-timestamp'])
})
