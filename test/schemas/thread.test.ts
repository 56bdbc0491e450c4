import { expect, test } from 'vitest'
import { createThread, type ThreadLimits } from '../../src/schemas/thread.ts'

/** Starting a thread from its sources takes a while on a busy machine. */
const slow = { timeout: 60_000 }
const limits: ThreadLimits = { timeMs: 30_000, waiting: 100, memoryMb: 128 }
const small = { schema: { type: 'integer' }, claims: 'x' }
const refused = { violations: ['$: must be integer'] }
/** With fuel without end, it takes years. */
const endless = {
  schema: {
    $defs: {
      ...Object.fromEntries(
        Array.from({ length: 60 }, (_, i) => [
          `s${i}`,
          { anyOf: [{ $ref: `#/$defs/s${i + 1}` }, { $ref: `#/$defs/s${i + 1}` }] },
        ]),
      ),
      s60: false,
    },
    // Of every branch the errors are kept until the end; none of this one.
    not: { $ref: '#/$defs/s0' },
  },
  claims: {},
}
/** With fuel without end, it keeps two million errors. */
const greedy = {
  schema: { items: { allOf: Array.from({ length: 250 }, () => ({ type: 'string' })) } },
  claims: Array.from({ length: 9_000 }, () => 1),
}

async function open(change: Partial<ThreadLimits>) {
  const thread = createThread({ ...limits, ...change })
  return { ...thread, [Symbol.asyncDispose]: () => thread.close() }
}

test('tasks are done one after the other, and each gets its own answer', slow, async () => {
  await using thread = await open({})
  const tasks = Array.from({ length: 20 }, (_, i) =>
    thread.assess({ schema: { const: i }, claims: -1 }, 1_000_000),
  )
  expect(await Promise.all(tasks)).toEqual(
    Array.from({ length: 20 }, (_, i) => ({ violations: [`$: must be ${i}`] })),
  )
})

test(
  'what takes longer than it may is ended, whatever it does, and those behind it get their answers',
  slow,
  async () => {
    await using thread = await open({ timeMs: 1_000 })
    expect(await Promise.all([thread.assess(endless, Infinity), thread.assess(small, 1_000_000)])).toEqual([
      { spent: true },
      refused,
    ])
  },
)

test('what needs more memory than it may is ended, and others get their answers', slow, async () => {
  await using thread = await open({ memoryMb: 64 })
  expect(await thread.assess(greedy, Infinity)).toEqual({ spent: true })
  expect(await thread.assess(small, 1_000_000)).toEqual(refused)
})

test('when too many wait, the next is told to come later', slow, async () => {
  await using thread = await open({ waiting: 2 })
  const waiting = Array.from({ length: 3 }, () => thread.assess(small, 1_000_000))
  await expect(thread.assess(small, 1_000_000)).rejects.toMatchObject({
    type: 'error:ServiceUnavailable',
    status: 503,
  })
  expect(await Promise.all(waiting)).toEqual([refused, refused, refused])
})

test('a closed thread starts again when there is something to do', slow, async () => {
  await using thread = await open({})
  expect(await thread.assess(small, 1_000_000)).toEqual(refused)
  await thread.close()
  expect(await thread.assess(small, 1_000_000)).toEqual(refused)
})
