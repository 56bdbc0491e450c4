/** One audit log to which several processes write at the same time. */
import { expect, onTestFinished, test } from 'vitest'
import type { Ownership } from '../../../src/cluster/ownership.ts'
import { newFolder } from '../../support/folder.ts'
import { bundle } from '../../support/script.ts'
import { act, openLog, tamper } from './_log.ts'

/** Processes of which some run. `takeOver` is called when one of them takes the shards of another. */
function processes() {
  const running = new Set<string>()
  const listeners: (() => void)[] = []
  const named = (name: string): Pick<Ownership, 'name' | 'listRunning' | 'onGain'> => {
    running.add(name)
    return {
      name,
      listRunning: () => Promise.resolve([...running]),
      onGain: (listener) => void listeners.push(() => listener(() => true)),
    }
  }
  return { running, named, takeOver: () => listeners.forEach((listener) => listener()) }
}

async function openTwo() {
  const all = processes()
  const folder = newFolder()
  const open = async (name: string) => {
    const log = await openLog({ processes: all.named(name) }, folder)
    onTestFinished(() => log.close())
    return log
  }
  return { ...all, folder, open, one: await open('one'), two: await open('two') }
}

test('the entries of three processes are one chain without gaps', async () => {
  const folder = newFolder()
  const script = await bundle(new URL('_write.ts', import.meta.url))
  onTestFinished(() => script[Symbol.dispose]())
  await Promise.all(['one', 'two', 'three'].map((name) => script.run(folder, name, '50')))
  await using log = await openLog({}, folder)
  expect(await log.audit.verify()).toMatchObject({ isIntact: true, entries: 150 })
  const entries = await log.entries()
  expect(entries.every(({ outcome }) => outcome === 'succeeded')).toBe(true)
  expect(new Set(entries.map(({ action }) => action)).size).toBe(150)
})

test('an entry that an intruder removes is missed, whichever process writes next', async () => {
  for (const next of ['one', 'two'] as const) {
    const logs = await openTwo()
    for (const action of ['a', 'b', 'c']) await act(logs.one.audit, action)
    await act(logs.two.audit, 'd')
    tamper(logs.one.path, 'delete from entry where sequence >= 3')
    await act(logs[next].audit, 'e')
    expect((await logs[next].audit.verify()).isIntact).toBe(false)
  }
})

test('an act under way in another process that runs is not taken as interrupted', async () => {
  const { one, two, open, running, takeOver } = await openTwo()
  let end = () => {}
  let under: Promise<void> | undefined
  await new Promise<void>((begun) => {
    under = one.audit.during({ actor: 'admin', action: 'a' }, async (begin) => {
      await begin()
      begun()
      await new Promise<void>((resolve) => (end = resolve))
    })
  })
  await open('three')
  takeOver()
  await act(two.audit, 'b')
  expect(await two.entries()).toMatchObject([{ action: 'b' }])
  end()
  await under
  expect(await two.entries()).toMatchObject([{ action: 'a', outcome: 'succeeded' }, { action: 'b' }])
  expect((await one.audit.verify()).isIntact).toBe(true)
  expect(running.size).toBe(3)
})

test('the acts of a process that has ended are entered once: by the one that takes over, or by the next of its name', async () => {
  const { one, two, open, running, takeOver } = await openTwo()
  const never = () => new Promise<void>(() => {})
  const begin = (log: typeof one, action: string) =>
    new Promise<void>((begun) => {
      void log.audit.during({ actor: 'admin', action }, async (begin) => {
        await begin()
        begun()
        await never()
      })
    })
  await begin(one, 'a')
  running.delete('one')
  takeOver()
  await expect.poll(() => two.entries()).toMatchObject([{ action: 'a', outcome: 'unknown' }])
  await begin(two, 'b')
  const again = await open('two')
  expect(await again.entries()).toMatchObject([{ action: 'b', outcome: 'unknown' }, { action: 'a' }])
})

test('a process verifies the log after another has pruned what it wrote', async () => {
  const { one, open } = await openTwo()
  const at = new Date(Date.now() - 3 * 86_400_000).toISOString()
  await one.audit.during({ actor: 'admin', action: 'a', at }, (begin) => begin())
  const pruning = await open('three')
  expect(await pruning.entries()).toMatchObject([{ action: 'retention' }])
  expect(await one.audit.verify()).toMatchObject({ isIntact: true, entries: 1 })
})
