/** Server-sent events: format and backpressure. */
import { finished } from 'node:stream/promises'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { expect, test } from 'vitest'
import { toFrame, toPreamble, toStream } from '../../daemon/http/event-stream.ts'
import type { Event } from '../../src/wallet/events/event.ts'

const event: Event = {
  type: 'ConnectionUpdated',
  id: '01890000-0000-7000-8000-000000000000',
  ts: '2030-01-01T00:00:00.000Z',
  data: { label: 'two\nlines\r\n\nid: forged\u2028' },
  walletId: '00000000-0000-0000-0000-000000000000',
}

test('an event is one frame for any data, without an id if clients cannot resume', () => {
  const seen: unknown[] = []
  const parser = createParser({
    onEvent: (each) => seen.push(each),
    onComment: (comment) => seen.push(comment),
  })
  parser.feed(toPreamble(event.id) + toFrame(event, true) + toFrame(undefined, true) + toFrame(event, false))
  const data = JSON.stringify(event)
  expect(seen).toEqual([
    { id: event.id, event: event.type, data },
    '',
    { id: undefined, event: event.type, data },
  ])
})

/** An endless source of texts that counts how many were read. */
function counted() {
  const asked = { count: 0 }
  const texts = { next: () => Promise.resolve({ done: false as const, value: `${++asked.count}\n` }) }
  return { asked, texts }
}

const ticks = async (count: number) => {
  for (let n = 0; n < count; n++) await setImmediate()
}

test('at most one text waits for a client that does not read', async () => {
  const { asked, texts } = counted()
  const ending = new AbortController()
  let closed = 0
  const stream = toStream(texts, ending.signal, () => closed++)
  stream.once('readable', () => {})
  await ticks(20)
  expect(asked.count).toBe(1)
  expect(String(stream.read())).toBe('1\n')
  await ticks(20)
  expect(asked.count).toBe(2)
  // It can never receive the rest, so it is disconnected.
  ending.abort()
  await expect(finished(stream)).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' })
  expect(closed).toBe(1)
})

test('the end of the source ends the stream, and so does its failure', async () => {
  const none = new AbortController().signal
  async function* few() {
    yield 'a'
    yield 'b'
  }
  expect(await text(toStream(few(), none, () => {}))).toBe('ab')
  const failing = { next: () => Promise.reject(new Error('the file is gone')) }
  await expect(text(toStream(failing, none, () => {}))).rejects.toThrow('the file is gone')
})
