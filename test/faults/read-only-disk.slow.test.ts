/**
 * On a disk that has become read-only, as after an I/O error, the daemon reads, answers writes with 503, and
 * says that it is not ready.
 */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { adminToken } from '../support/api.ts'
import { Daemon } from '../support/daemon.ts'
import { canMount, makeReadOnly, smallDisk } from '../support/small-disk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test.runIf(canMount)(
  'wallets that were closed are read, writes are 503 with Retry-After, and a writable disk is all that it needs',
  async () => {
    await using folder = await temporaryFolder()
    await using disk = await smallDisk(folder.path, 64)
    const folders = {
      AGENT_DATA_DIR: join(disk.inside, 'data'),
      AGENT_CONFIG_DIR: join(disk.inside, 'config'),
    }
    await using daemon = await Daemon.start(
      { ...folders, ADMIN_TOKEN: adminToken, AGENT_OPEN_WALLETS: '1' },
      disk.prefix,
    )
    const tenants = [
      await daemon.newTenant('one'),
      await daemon.newTenant('two'),
      await daemon.newTenant('three'),
    ]
    const send = (apikey: string, body?: object) =>
      fetch(`${daemon.url}/connections`, {
        headers: { apikey, 'content-type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      })
    const ready = async () => (await fetch(`${daemon.url}/_system/ready`)).status
    for (const { apiKey } of tenants) expect((await send(apiKey, { label: 'one' })).status).toBe(201)
    expect(await ready()).toBe(200)

    const makeWritable = makeReadOnly(disk)
    expect(await ready()).toBe(503)
    // The wallet of the third one is open, and its file stays writable.
    for (const { apiKey } of [tenants[0]!, tenants[1]!, tenants[0]!]) {
      const read = await send(apiKey)
      expect([read.status, ((await read.json()) as { contents: object[] }).contents.length]).toEqual([200, 1])
      const written = await send(apiKey, { label: 'two' })
      expect([written.status, written.headers.get('retry-after')]).toEqual([503, '10'])
      expect(await written.json()).toMatchObject({
        type: 'error:ServiceUnavailable',
        detail: expect.stringContaining('read-only'),
      })
    }

    makeWritable()
    expect(await ready()).toBe(200)
    for (const { apiKey } of tenants) {
      expect((await send(apiKey, { label: 'three' })).status).toBe(201)
      expect(((await (await send(apiKey)).json()) as { contents: object[] }).contents).toHaveLength(2)
    }
    expect(await daemon.stop()).toBe(0)
  },
)
