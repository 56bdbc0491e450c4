/** With a full disk, the daemon reads, answers writes with 507, and writes again when there is space. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Daemon } from '../_daemon.ts'
import { canMount, fill, makeRoom, smallDisk } from '../_small-disk.ts'
import { temporaryFolder } from '../_temporary-folder.ts'
import { until } from '../_tenants.ts'

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
