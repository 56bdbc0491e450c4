/** With a full disk, the daemon reads, answers writes with 507, and writes again when there is space. */
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { adminToken } from '../support/api.ts'
import { Daemon } from '../support/daemon.ts'
import { openParty } from '../support/party.ts'
import { openReceiver } from '../support/receiver.ts'
import { canMount, fill, makeRoom, smallDisk } from '../support/small-disk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/tenants.ts'

test.runIf(canMount).each(['SIGKILL', 'SIGTERM'] as const)(
  'a daemon that was ended by %s starts on a full disk: reads work, writes are 507, and room is all that it needs',
  async (signal) => {
    await using folder = await temporaryFolder()
    await using disk = await smallDisk(folder.path)
    const apiKey = 'the-key-of-the-full-disk'
    const folders = {
      AGENT_DATA_DIR: join(disk.inside, 'data'),
      AGENT_CONFIG_DIR: join(disk.inside, 'config'),
    }
    await using daemon = await Daemon.start({ ...folders, DEFAULT_WALLET_AUTH_API_KEY: apiKey }, disk.prefix)
    const profilePath = join(disk.path, 'config', 'profiles', 'local.json')
    const readProfile = () =>
      Promise.resolve(JSON.parse(readFileSync(profilePath, 'utf8')) as { pid: number })
    const invite = async () =>
      (await daemon.call('POST /connections', { apiKey, body: { label: 'x'.repeat(200) } })).status
    const count = async () =>
      (await daemon.call('GET /connections?limit=100', { apiKey })).body.contents.length
    for (let n = 0; n < 3; n++) expect(await invite()).toBe(201)
    fill(disk.path, 'filler-1')
    // Fill partly used blocks.
    let made = 3
    await until('the first refusal', invite, (status) => status === 507 || (made++, false))
    expect(await count()).toBe(made)
    const profile = await readProfile()
    await daemon.stop(signal)
    // A stopping daemon frees some space.
    fill(disk.path, 'filler-2')

    await daemon.start()
    expect(await count()).toBe(made)
    for (let n = 0; n < 3; n++) expect(await invite()).toBe(507)
    expect(await count()).toBe(made)
    expect(await readProfile()).toEqual(profile)

    makeRoom(disk.path)
    expect(await invite()).toBe(201)
    expect(await count()).toBe(made + 1)
    await until('the profile of this start', readProfile, ({ pid }) => pid === daemon.pid)
    expect(JSON.parse(readFileSync(join(disk.path, 'data', 'daemon.json'), 'utf8'))).toMatchObject({
      pid: daemon.pid,
    })
    expect(await daemon.stop()).toBe(0)
  },
)

test.runIf(canMount)('what was sent before the disk was full is not sent again', async () => {
  await using folder = await temporaryFolder()
  await using disk = await smallDisk(folder.path)
  await using daemon = await Daemon.start(
    { AGENT_DATA_DIR: join(disk.inside, 'data'), ADMIN_TOKEN: adminToken },
    disk.prefix,
  )
  const tenant = await daemon.newTenant('tenant')
  const held: (() => void)[] = []
  let holds = false
  const answer = (status: number) => (response: ServerResponse) => {
    const end = () => response.writeHead(status).end()
    if (holds) held.push(end)
    else end()
  }
  await using accepting = await openReceiver(answer(200))
  await using failing = await openReceiver(answer(500))
  await using party = await openParty({ answer: answer(200) })
  await using other = await openParty({ answer: answer(200) })
  const { connectionId } = await party.connect(tenant)
  const { connectionId: otherId } = await other.connect(tenant)
  const before = [party, other].map(({ envelopes }) => envelopes.length)
  for (const { url } of [accepting, failing]) await tenant.call('POST /events/webhooks', { body: { url } })
  const sent = () => [
    accepting.bodies.length,
    failing.bodies.length,
    ...[party, other].map(({ envelopes }, n) => envelopes.length - before[n]!),
  ]
  holds = true
  for (let n = 0; n < 2; n++) await tenant.call('POST /connections', { body: {} })
  for (const id of [connectionId, otherId])
    await tenant.call('POST /messages', { body: { connectionId: id, content: 'hello' } })
  await until(
    'four requests',
    () => Promise.resolve(held.length),
    (length) => length === 4,
  )
  fill(disk.path, 'filler')
  holds = false
  for (const end of held) end()
  // Several times the pause after the first failure.
  await sleep(4_000)
  const [delivered, ...others] = sent()
  expect(others).toEqual([1, 1, 1])
  expect(delivered).toBeLessThanOrEqual(2)

  makeRoom(disk.path)
  const outcomes = async () => {
    const { contents: messages } = await tenant.call('GET /messages', { query: {} })
    return messages.filter(({ sentAt }) => sentAt !== undefined).length
  }
  await until('the stored outcomes', outcomes, (count) => count === 2)
  await until(
    'all events',
    () => Promise.resolve(new Set(accepting.bodies).size),
    (count) => count >= 2,
  )
  expect([accepting.bodies.length, ...sent().slice(2)]).toEqual([new Set(accepting.bodies).size, 1, 1])
})
