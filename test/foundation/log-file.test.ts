/** The log file: rotation without loss, unfinished rotations, full disks. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type LogLimits, logParts, openLogFile, unfinishedPart } from '../../src/foundation/log-file.ts'
import { newFolder } from '../support/folder.ts'
import { canMount, fill, makeRoom, smallDisk } from '../support/small-disk.ts'

const quiet = { onMissing: () => undefined, onFault: () => undefined }
const line = (n: number) => `${String(n).padStart(6, '0')} ${'ä'.repeat(n % 90)}.\n`

/** The lines of all parts and the file, in order. */
const linesOf = (path: string) =>
  [...logParts(path).map((part) => part.path), path].map((each) => readFileSync(each, 'utf8')).join('')

/**
 * Writes numbered lines while rotations go on: copies are made in threads, so they need turns of the event
 * loop.
 */
async function writeMany(path: string, count: number, limits: Partial<LogLimits>) {
  const file = openLogFile(path)
  file.rotate({ ...quiet, maxBytes: 10_000, files: 1_000, ...limits })
  for (let n = 0; n < count; n++) {
    file.write(line(n))
    if (n % 50 === 0) await new Promise(setImmediate)
  }
  await file.idle()
}

test('rotations lose no line and tear none, and the parts are private', async () => {
  const path = join(newFolder(), 'daemon.log')
  await writeMany(path, 20_000, {})
  expect(linesOf(path)).toBe(Array.from({ length: 20_000 }, (_, n) => line(n)).join(''))
  const parts = logParts(path)
  expect(parts.length).toBeGreaterThan(5)
  expect(parts.map(({ number }) => number)).toEqual(parts.map((_, index) => index + 1))
  for (const part of [path, ...parts.map((each) => each.path)])
    expect(statSync(part).mode & 0o777).toBe(0o600)
  expect(existsSync(unfinishedPart(path))).toBe(false)
})

test('the newest parts are kept, as many as configured', async () => {
  const path = join(newFolder(), 'daemon.log')
  await writeMany(path, 20_000, { files: 3 })
  const numbers = logParts(path).map(({ number }) => number)
  const last = numbers.at(-1)!
  expect(numbers).toEqual([last - 2, last - 1, last])
  expect(last).toBeGreaterThan(5)
  const kept = linesOf(path)
  expect(kept.endsWith(line(19_999))).toBe(true)
  expect(Number(kept.slice(0, 6))).toBe(20_000 - kept.trimEnd().split('\n').length)
})

test.each([
  ['that had emptied the file is completed', 'lines\n', '', { parts: ['lines\n'], rest: '' }],
  ['that had not, is undone', 'lines\n', 'lines\nmore\n', { parts: [], rest: 'lines\nmore\n' }],
  ['whose copy is not whole, is undone', 'li', 'lines\n', { parts: [], rest: 'lines\n' }],
])('a rotation %s', (_, copied, rest, expected) => {
  const path = join(newFolder(), 'daemon.log')
  writeFileSync(path, rest)
  writeFileSync(unfinishedPart(path), copied)
  openLogFile(path).rotate({ ...quiet, maxBytes: 10_000, files: 3 })
  expect(logParts(path).map((part) => readFileSync(part.path, 'utf8'))).toEqual(expected.parts)
  expect(readFileSync(path, 'utf8')).toBe(expected.rest)
  expect(existsSync(unfinishedPart(path))).toBe(false)
})

test.runIf(canMount)(
  'on a full disk, lines are left out as a whole, counted, and written again',
  async () => {
    const folder = newFolder()
    await using disk = await smallDisk(folder)
    const path = join(disk.path, 'daemon.log')
    const file = openLogFile(path)
    const faults: unknown[] = []
    const missing: number[] = []
    file.rotate({
      maxBytes: 1_000_000,
      files: 3,
      onFault: (error) => faults.push(error),
      onMissing: (count) => missing.push(count),
    })
    // A rotation needs room for a copy, which is not there.
    fill(disk.path, 'filler-a')
    rmSync(join(disk.path, 'filler-a-65536-0'))
    let n = 0
    for (; n < 2_000; n++) file.write(line(n))
    const whole = readFileSync(path, 'utf8')
    expect(whole.length).toBeGreaterThan(10_000)
    expect(whole.endsWith('\n')).toBe(true)
    const written = whole.trimEnd().split('\n')
    for (const each of written) expect(`${each}\n`).toBe(line(Number(each.slice(0, 6))))
    makeRoom(disk.path)
    file.write(line(n++))
    expect(missing.reduce((sum, count) => sum + count)).toBe(2_000 - written.length)

    // The file is larger than its limit, but the disk has no room for a copy: it keeps its lines.
    fill(disk.path, 'filler-b')
    for (let room = 0; room < 18; room++) rmSync(join(disk.path, `filler-b-65536-${room}`))
    const before = n
    for (; n < before + 11_500; n++) file.write(line(n))
    await file.idle()
    expect(faults).toMatchObject([{ code: 'ENOSPC' }])
    expect(logParts(path)).toEqual([])
    expect(existsSync(unfinishedPart(path))).toBe(false)
    makeRoom(disk.path)
    const again = n
    for (; n < again + 2_000; n++) file.write(line(n))
    await file.idle()
    expect(logParts(path)).toHaveLength(1)
    // The copy takes room from lines that are written meanwhile: these are left out, and counted as well.
    const numbers = linesOf(path)
      .trimEnd()
      .split('\n')
      .map((each) => Number(each.slice(0, 6)))
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
    expect(numbers.at(-1)).toBe(n - 1)
    expect(numbers.length + missing.reduce((sum, count) => sum + count)).toBe(n)
  },
)
