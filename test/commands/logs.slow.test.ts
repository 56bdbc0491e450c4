/** `agent daemon logs` of a daemon in the background, whose log is rotated under load. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { logParts, logPath } from '../../src/foundation/log-file.ts'
import { until } from '../support/tenants.ts'
import { fails, useUser } from './_cli.ts'

const user = useUser()
const log = logPath(join(user.folder, 'data'))
const loud = user.as({ AGENT_LOG_LEVEL: 'debug', AGENT_LOG_MAX_BYTES: '65536', AGENT_LOG_FILES: '1000' })
afterAll(async () => void (await user.run`daemon stop`))

const requestIds = (lines: string) =>
  [...lines.matchAll(/"requestId":"(load-\d+)".*"msg":"request"/g)].map(([, id]) => id!)
const all = () => [...logParts(log).map(({ path }) => path), log].map((path) => readFileSync(path, 'utf8'))

/** Sends requests with ids, twenty at a time. */
async function load(url: string, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, k) =>
        fetch(`${url}/_system/health`, { headers: { 'x-request-id': `load-${1_000 + n + k}` } }).then(
          (response) => response.arrayBuffer(),
        ),
      ),
    )
}

test('rotation and a restart lose no line, and --follow prints each once', async () => {
  const { url } = await loud.json`daemon start`
  const follower = user.spawn`daemon logs --follow --json`
  let followed = ''
  follower.stdout.on('data', (chunk) => (followed += chunk))
  await until(
    'the first line',
    () => Promise.resolve(followed),
    (text) => text.includes('is ready'),
  )
  await load(url, 0, 500)
  await user.run`daemon stop`
  const again = await loud.json`daemon start`
  await load(again.url, 500, 1_000)
  const expected = Array.from({ length: 1_000 }, (_, n) => `load-${1_000 + n}`)
  await until(
    'the last line',
    () => Promise.resolve(requestIds(followed).length),
    (count) => count >= expected.length,
  )
  follower.kill('SIGTERM')
  expect(requestIds(followed).toSorted()).toEqual(expected)

  const texts = all()
  expect(texts.length).toBeGreaterThan(1)
  for (const line of texts.join('').trimEnd().split('\n')) JSON.parse(line)
  expect(requestIds(texts.join('')).toSorted()).toEqual(expected)
  // The follower has printed what the files say, from its first line on.
  expect(texts.join('').endsWith(followed.slice(-50_000))).toBe(true)
  for (const path of [log, ...logParts(log).map((part) => part.path)])
    expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('older files are deleted, and lines of several files are selected by number, level and time', async () => {
  await user.run`daemon stop`
  const few = user.as({ AGENT_LOG_LEVEL: 'debug', AGENT_LOG_MAX_BYTES: '65536', AGENT_LOG_FILES: '1' })
  const before = logParts(log).length
  expect(before).toBeGreaterThan(1)
  const { url } = await few.json`daemon start`
  await load(url, 0, 500)
  await until(
    'the rotation',
    () => Promise.resolve(logParts(log).length),
    (count) => count === 1,
  )
  const { out } = await user.run`daemon logs --lines 300 --json`
  expect(out.split('\n')).toHaveLength(300)
  expect(all().join('').trimEnd().endsWith(out)).toBe(true)
  const ready = (await user.run`daemon logs --level info --lines 1000 --json`).out.trimEnd().split('\n')
  expect(ready.every((line) => (JSON.parse(line) as { level: number }).level >= 30)).toBe(true)
  expect(ready.at(-1)).toContain('outgoing calls')
  expect((await user.run`daemon logs --since 2100-01-01T00:00:00Z`).out).toBe('')
  const recent = (await user.run`daemon logs --since 1h --json`).out.split('\n')
  expect(recent.length).toBeGreaterThan(300)
  expect(await user.run`daemon logs --since soon`).toEqual(fails(2, '--since: soon is neither an instant'))
})

test('what Node.js prints when it crashes is in the log, also after a rotation', async () => {
  await user.run`daemon stop`
  const hungry = "process.on('SIGUSR2',()=>{for(const all=[];;)all.push(new Array(1e6).fill(0.5))})"
  const { url, pid } = await user.as({
    AGENT_LOG_LEVEL: 'debug',
    AGENT_LOG_MAX_BYTES: '65536',
    NODE_OPTIONS: `--max-old-space-size=100 --import="data:text/javascript,${hungry}"`,
  }).json`daemon start`
  const newest = logParts(log).at(-1)!.number
  await load(url, 0, 300)
  expect(logParts(log).at(-1)!.number).toBeGreaterThan(newest)
  process.kill(pid, 'SIGUSR2')
  await until(
    'the crash',
    () => user.run`daemon logs --lines 1000 --level fatal`,
    ({ out }) => out.includes('heap out of memory'),
  )
})
