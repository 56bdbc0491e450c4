/** Every audited action has an entry, and no entry exists without a write. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Problem } from '../../../src/foundation/problem.ts'
import { Refusals, refusalsPerDay } from '../../../src/wallet/audit/refusals.ts'
import { act, copyOf, openLog, probed } from './_log.ts'

const refusal = new Problem('error:AuthenticationError:InvalidCredentials', 'no')

/** Makes the nth write fail, before or after it happened. */
function failing(nth: number, when: 'before' | 'after') {
  let count = 0
  return (point: string) => {
    if (point === `audit:${when}` && ++count === nth) throw new Problem('error:InsufficientStorage', 'full')
  }
}

test('an action is logged before it runs; a daemon that is killed meanwhile leaves an entry with an unknown outcome', async () => {
  await using log = await openLog()
  let copy = ''
  await log.audit.during(
    { actor: 'admin', action: 'POST /wallets', requestId: 'request-1' },
    async (begin) => {
      await begin({ subject: { walletId: 'w' } })
      copy = copyOf(log.folder)
    },
  )
  expect(await log.entries()).toMatchObject([{ outcome: 'succeeded', action: 'POST /wallets' }])
  try {
    await using after = await openLog({}, copy)
    expect(await after.entries()).toMatchObject([
      {
        sequence: 1,
        actor: 'admin',
        action: 'POST /wallets',
        subject: { walletId: 'w' },
        requestId: 'request-1',
        outcome: 'unknown',
      },
    ])
    // Exactly once.
    await after.close()
    await using again = await openLog({}, copy)
    expect(await again.entries()).toHaveLength(1)
    expect((await again.audit.verify()).isIntact).toBe(true)
  } finally {
    rmSync(copy, { recursive: true })
  }
})

test('an action that cannot be logged does not run', async () => {
  await using log = await openLog()
  let isDone = false
  const work = async (begin: () => Promise<void>) => {
    await begin()
    isDone = true
  }
  await expect(
    probed(failing(1, 'before'), () => log.audit.during({ actor: 'admin', action: 'a' }, work)),
  ).rejects.toMatchObject({ type: 'error:InsufficientStorage' })
  expect(isDone).toBe(false)
  const broken = () => {
    throw new Error('the disk is gone')
  }
  await expect(
    probed(broken, () => log.audit.during({ actor: 'admin', action: 'b' }, work)),
  ).rejects.toMatchObject({ type: 'error:ServiceUnavailable' })
  expect(isDone).toBe(false)
  expect(log.logged.join('')).toContain('the audit log cannot be written')
  expect(await log.audit.verify()).toMatchObject({ isIntact: true })
})

test('an action whose outcome cannot be written succeeds, and its entry is written later', async () => {
  await using log = await openLog()
  await probed(failing(2, 'before'), () => act(log.audit, 'done'))
  expect(await log.entries()).toEqual([])
  await act(log.audit, 'next')
  expect((await log.entries()).map(({ sequence, action, outcome }) => [sequence, action, outcome])).toEqual([
    [2, 'next', 'succeeded'],
    [1, 'done', 'succeeded'],
  ])
  expect((await log.audit.verify()).isIntact).toBe(true)
})

test('a daemon that stops writes the missing entries', async () => {
  await using log = await openLog()
  await probed(failing(2, 'before'), () => act(log.audit, 'done'))
  await log.close()
  await using again = await openLog({}, log.folder)
  expect(await again.entries()).toMatchObject([{ action: 'done', outcome: 'succeeded' }])
})

test('a write that was reported as failed but happened exists once', async () => {
  await using log = await openLog()
  await probed(failing(2, 'after'), () => act(log.audit, 'first'))
  await act(log.audit, 'second')
  expect((await log.entries()).map(({ action }) => action)).toEqual(['second', 'first'])
  expect(await log.audit.verify()).toMatchObject({ isIntact: true, entries: 2 })
})

test('concurrent actions form one chain', async () => {
  await using log = await openLog()
  await Promise.all(Array.from({ length: 50 }, (_, n) => act(log.audit, `act ${n}`)))
  expect(await log.audit.verify()).toMatchObject({ isIntact: true, entries: 50 })
})

test('refusals of an address above the limit per minute are counted; other addresses are not affected', async () => {
  await using log = await openLog({ refusalsPerMinute: 3 })
  const refuse = (address: string) =>
    log.audit.refused({ actor: 'anonymous', action: 'GET /wallets', address }, refusal)
  for (let n = 0; n < 100; n++) await refuse('192.0.2.1')
  await refuse('192.0.2.2')
  expect(await log.entries()).toHaveLength(4)
  await log.audit.countRefusals()
  expect((await log.entries())[0]).toMatchObject({
    action: 'refusals',
    address: '192.0.2.1',
    outcome: 'refused',
    count: 97,
  })
  // The next minute.
  await refuse('192.0.2.1')
  expect((await log.entries())[0]).toMatchObject({
    action: 'GET /wallets',
    status: 401,
    problemType: refusal.type,
  })
  // Counted refusals are written when the daemon stops.
  for (let n = 0; n < 10; n++) await refuse('192.0.2.1')
  await log.close()
  await using again = await openLog({}, log.folder)
  expect((await again.entries())[0]).toMatchObject({ action: 'refusals', count: 8 })
})

test('the entries of a day are limited for any number of addresses, and each refusal is counted once', () => {
  const refusals = new Refusals(10)
  const minute = 60_000
  let [entries, counted, sent] = [0, 0, 0]
  for (let now = 0; now < 100 * minute; now += minute) {
    for (let address = 0; address < 300; address++)
      for (let n = 0; n < 12; n++) {
        if (refusals.admits(`192.0.2.${address}`, now)) entries++
        sent++
      }
    const tallies = refusals.endMinute()
    expect(tallies.length).toBeLessThan(25)
    entries += tallies.length
    counted += tallies.reduce((sum, { count }) => sum + count, tallies.length * -1)
  }
  expect(entries).toBeLessThanOrEqual(refusalsPerDay + 100)
  expect(entries + counted).toBe(sent)
  // The next day starts at zero.
  expect(refusals.admits('192.0.2.1', 86_400_000)).toBe(true)
})

test('a file that is not an audit log is not changed, and the error names a remedy', async () => {
  await using log = await openLog()
  await log.close()
  writeFileSync(log.path, 'something else, long enough to be no database at all'.repeat(50))
  const before = readFileSync(log.path, 'utf8')
  await expect(openLog({}, log.folder)).rejects.toThrow(/Restore it from a backup, or move it away/)
  expect(readFileSync(log.path, 'utf8')).toBe(before)
})
