import { appendFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { followLines, lastLines } from '../../cli/daemon/log.ts'
import { openLogFile } from '../../src/foundation/log-file.ts'
import { newFolder } from '../support/folder.ts'

let path: string
beforeEach(() => void (path = join(newFolder(), 'daemon.log')))

describe('the last lines of a log', () => {
  test.each([
    [0, []],
    [2, ['b', 'c']],
    [9, ['a', 'b', 'c']],
  ])('are at most %i', (count, expected) => {
    writeFileSync(path, 'a\nb\nc\n')
    expect(lastLines(path, count)).toEqual({ lines: expected, place: { at: 6, part: 0 } })
  })

  test('of an empty file are none', () => {
    writeFileSync(path, '')
    expect(lastLines(path, 5)).toEqual({ lines: [], place: { at: 0, part: 0 } })
  })

  test('of a missing file are an error', () => {
    expect(() => lastLines(path, 5)).toThrow('ENOENT')
  })

  test('are read from older parts too, by number, and a part of a line is left for later', () => {
    writeFileSync(`${path}.9`, 'a\nb\n')
    writeFileSync(`${path}.10`, 'c\nd\n')
    writeFileSync(path, 'e\nf')
    expect(lastLines(path, 4)).toEqual({ lines: ['b', 'c', 'd', 'e'], place: { at: 2, part: 10 } })
    expect(lastLines(path, 2, (line) => 'ae'.includes(line)).lines).toEqual(['a', 'e'])
  })

  test('may be longer than what is read at once', () => {
    const long = ['a', 'ä'].map((letter) => letter.repeat(1_500_000))
    writeFileSync(path, `${long.join('\n')}\nz\n`)
    expect(lastLines(path, 9).lines).toEqual([...long, 'z'])
  })
})

test('lines added to a file are reported, also after it was emptied by someone', async () => {
  writeFileSync(path, 'old\n')
  const lines: string[] = []
  const stop = new AbortController()
  const followed = followLines(path, { at: 4, part: 0 }, (line) => lines.push(line), stop.signal)
  appendFileSync(path, 'on')
  appendFileSync(path, 'e\ntwo\n')
  await vi.waitFor(() => expect(lines).toEqual(['one', 'two']))
  truncateSync(path, 0)
  appendFileSync(path, 'new\n')
  await vi.waitFor(() => expect(lines).toEqual(['one', 'two', 'new']))
  stop.abort()
  await followed
})

test('lines are reported once and in order while the file is rotated', async () => {
  const file = openLogFile(path)
  const faults: unknown[] = []
  file.rotate({
    maxBytes: 5_000,
    files: 1_000,
    onFault: (error) => faults.push(error),
    onMissing: (count) => faults.push(count),
  })
  const lines: string[] = []
  const stop = new AbortController()
  const followed = followLines(path, { at: 0, part: 0 }, (line) => lines.push(line), stop.signal)
  const expected = Array.from({ length: 5_000 }, (_, n) => `line ${n}`)
  for (const [n, line] of expected.entries()) {
    file.write(`${line}\n`)
    if (n % 40 === 0) await new Promise(setImmediate)
  }
  await file.idle()
  await vi.waitFor(() => expect(lines).toHaveLength(expected.length), { timeout: 10_000 })
  expect(lines).toEqual(expected)
  expect(faults).toEqual([])
  stop.abort()
  await followed
})
