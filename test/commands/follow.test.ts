import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { followLines, lastLines } from '../../cli/daemon/log.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'follow-'))
  path = join(folder, 'daemon.log')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('the last lines of a file', () => {
  test.each([
    [0, []],
    [2, ['b', 'c']],
    [9, ['a', 'b', 'c']],
  ])('are at most %i', (count, expected) => {
    writeFileSync(path, 'a\nb\nc\n')
    expect(lastLines(path, count)).toEqual({ lines: expected, size: 6 })
  })

  test('of an empty file are none', () => {
    writeFileSync(path, '')
    expect(lastLines(path, 5)).toEqual({ lines: [], size: 0 })
  })

  test('of a missing file are undefined', () => {
    expect(() => lastLines(path, 5)).toThrow('ENOENT')
  })
})

test('lines added to a file are reported, also after it was truncated', async () => {
  writeFileSync(path, 'old\n')
  const lines: string[] = []
  const stop = new AbortController()
  const followed = followLines(path, 4, (line) => lines.push(line), stop.signal)
  appendFileSync(path, 'on')
  appendFileSync(path, 'e\ntwo\n')
  await vi.waitFor(() => expect(lines).toEqual(['one', 'two']))
  truncateSync(path, 0)
  appendFileSync(path, 'new\n')
  await vi.waitFor(() => expect(lines).toEqual(['one', 'two', 'new']))
  stop.abort()
  await followed
})
