/** Rotation of the master key while the agent runs. */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { createClient } from '../../daemon/client/client.ts'
import { diagnoseAgent } from '../../src/operations/doctor/diagnose.ts'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { connect, refusal } from '../support/tenants.ts'
import { withDetail } from '../support/detail.ts'
import { newFolder } from '../support/folder.ts'

let folder: string
let dataDir: string
let file: string
beforeEach(() => {
  folder = newFolder()
  dataDir = join(folder, 'data')
  mkdirSync(dataDir)
  file = join(dataDir, 'master.key')
})

const newKey = () => randomBytes(32).toString('base64url')
const start = (variables: Record<string, string> = {}) => startAgent(variables, { dataDir })
const rotate = ({ admin }: TestAgent, body: { newKey?: string } = {}) =>
  admin('POST /_system/master-key/rotation', { body })
const keyCheck = async ({ agent }: TestAgent) =>
  (await diagnoseAgent(agent)).checks.find(({ name }) => name === 'master-key')!

/** The agent key as stored on disk, by the name of its row. */
async function rows({ agent }: TestAgent): Promise<Record<string, string>> {
  const found = await agent.db.selectFrom('setting').selectAll().where('name', 'like', 'agent-key%').execute()
  return Object.fromEntries(found.map(({ name, value }) => [name, value]))
}

/** Names of the files in the data folder that contain a text. */
const filesWith = (text: string) =>
  readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(dataDir, name)).isFile())
    .filter((name) => readFileSync(join(dataDir, name), 'latin1').includes(text))

test('a rotated key opens everything as before, and the old key opens nothing', async () => {
  let [apiKey, other] = ['', '']
  const before: string[] = []
  {
    await using agent = await start()
    const [alice, bob] = [await agent.newTenant('alice'), await agent.newTenant('bob')]
    await connect(alice, bob)
    ;[apiKey, other] = [alice.apiKey, bob.apiKey]
    const mailbox = agent.agent.env.tokens.create('mailbox', alice.walletId)
    const [{ 'agent-key': wrapped }, key] = [await rows(agent), readFileSync(file, 'utf8')]
    const { keptKey, ...rotation } = await rotate(agent)
    expect(rotation).toEqual({ source: file, isReplaced: true })
    expect(readFileSync(file, 'utf8')).not.toBe(key)
    // The old key is kept for earlier backups.
    expect(keptKey).toMatch(/\/master\.key\.\d{4}-\d\d-\d\dT[\d.-]+Z$/)
    expect([readFileSync(keptKey!, 'utf8'), statSync(keptKey!).mode & 0o777]).toEqual([key, 0o600])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(existsSync(`${file}.next`)).toBe(false)
    // No file contains data wrapped with the old key, although the daemon has agent.db open.
    expect(filesWith(wrapped!)).toEqual([])
    expect(filesWith((await rows(agent))['agent-key']!)).not.toEqual([])
    expect((await alice.call('GET /connections')).contents).toHaveLength(1)
    expect(await agent.agent.env.tokens.findWalletId('mailbox', mailbox)).toBe(alice.walletId)
    before.push(key.trim(), mailbox, alice.walletId)
  }
  const [key, mailbox, walletId] = before as [string, string, string]
  await expect(start({ AGENT_MASTER_KEY: key })).rejects.toThrow(/does not belong to/)
  await using agent = await start()
  for (const tenant of [apiKey, other])
    expect((await createClient(agent.url, { apikey: tenant })('GET /connections')).contents).toHaveLength(1)
  expect(await agent.agent.env.tokens.findWalletId('mailbox', mailbox)).toBe(walletId)
})

test('a new key can be given in a file; the current key or a truncated one is refused', async () => {
  await using agent = await start()
  const [before, key] = [readFileSync(file, 'utf8'), newKey()]
  const { keptKey, ...rotation } = await rotate(agent, { newKey: key })
  expect(rotation).toEqual({ source: file, isReplaced: true })
  expect(readFileSync(keptKey!, 'utf8')).toBe(before)
  expect(readFileSync(file, 'utf8')).toBe(`${key}\n`)
  expect(await refusal(rotate(agent, { newKey: key }))).toMatchObject({
    status: 422,
    type: 'error:MasterKeyError:NewKeyRequired',
  })
  const half = key.slice(0, 20)
  const problem = await refusal(rotate(agent, { newKey: half }))
  expect(problem).toMatchObject(withDetail(400, 'newKey'))
  expect(JSON.stringify(problem)).not.toContain(half)
  expect(readdirSync(dataDir)).not.toContain('master.key.next')
})

test('a key in a variable is replaced by the operator: both keys open the folder until a start with the new one', async () => {
  const [first, second, third] = [newKey(), newKey(), newKey()]
  let previous = ''
  {
    await using agent = await start({ AGENT_MASTER_KEY: first })
    expect(await refusal(rotate(agent))).toMatchObject(withDetail(422, 'AGENT_MASTER_KEY'))
    expect(await rotate(agent, { newKey: second })).toEqual({ source: 'AGENT_MASTER_KEY', isReplaced: false })
    expect(await keyCheck(agent)).toMatchObject(withDetail('warning', 'AGENT_MASTER_KEY'))
  }
  {
    await using agent = await start({ AGENT_MASTER_KEY: first })
    expect(await keyCheck(agent)).toMatchObject({ status: 'warning' })
    // A second new key, before the first was put into the variable, replaces the first.
    await rotate(agent, { newKey: third })
    previous = (await rows(agent))['agent-key-previous']!
    expect(filesWith(previous)).not.toEqual([])
  }
  await expect(start({ AGENT_MASTER_KEY: second })).rejects.toThrow(/AGENT_MASTER_KEY does not belong to/)
  {
    await using agent = await start({ AGENT_MASTER_KEY: third })
    expect(await keyCheck(agent)).toMatchObject({ status: 'ok' })
    expect(Object.keys(await rows(agent))).toEqual(['agent-key'])
    expect(filesWith(previous)).toEqual([])
  }
  await expect(start({ AGENT_MASTER_KEY: first })).rejects.toThrow(/AGENT_MASTER_KEY does not belong to/)
  expect(existsSync(file)).toBe(false)
})

test.skipIf(process.getuid?.() === 0)(
  'a key file without write permission is replaced by the operator too',
  async () => {
    const secrets = mkdtempSync(join(folder, 'secrets-'))
    const path = join(secrets, 'key')
    writeFileSync(path, newKey())
    chmodSync(secrets, 0o500)
    await using agent = await start({ AGENT_MASTER_KEY_FILE: path })
    expect(await refusal(rotate(agent))).toMatchObject(withDetail(422, 'EACCES'))
    expect(await rotate(agent, { newKey: newKey() })).toEqual({ source: path, isReplaced: false })
    chmodSync(secrets, 0o700)
  },
)

test('a symbolic link to the key file stays a link', async () => {
  const [path, link] = [join(folder, 'key'), join(folder, 'link')]
  writeFileSync(path, newKey(), { mode: 0o600 })
  symlinkSync(path, link)
  const before = readFileSync(path, 'utf8')
  await using agent = await start({ AGENT_MASTER_KEY_FILE: link })
  const { keptKey } = await rotate(agent)
  expect(readFileSync(path, 'utf8')).not.toBe(before)
  expect(keptKey).toContain(`${path}.2`)
  expect(readFileSync(link, 'utf8')).toBe(readFileSync(path, 'utf8'))
})

test('a key that is lost while the daemon runs is replaced by a rotation', async () => {
  {
    await using agent = await start()
    rmSync(file)
    expect(await keyCheck(agent)).toMatchObject({
      status: 'failed',
      hint: expect.stringContaining('agent master-key rotate'),
    })
    expect(await rotate(agent)).toEqual({ source: file, isReplaced: true })
    expect(await keyCheck(agent)).toMatchObject({ status: 'ok' })
  }
  await using again = await start()
  expect((await again.tenant('GET /connections')).contents).toEqual([])
})

test('concurrent rotations run one after the other', async () => {
  {
    await using agent = await start()
    const rotations = await Promise.all(Array.from({ length: 5 }, () => rotate(agent)))
    expect(new Set(rotations.map(({ keptKey }) => keptKey)).size).toBe(5)
  }
  await using agent = await start()
  expect(await keyCheck(agent)).toMatchObject({ status: 'ok' })
})

test('wallets without the key that opens them are refused, and no new key is generated', async () => {
  {
    await using agent = await start()
    await agent.agent.db.deleteFrom('setting').where('name', '=', 'agent-key').execute()
  }
  await expect(start()).rejects.toThrow(/There are wallets in .*, but not the key that opens them/)
})

test('a pending key that wrapped nothing, or is truncated, is dropped at start', async () => {
  for (const text of [newKey(), 'half a k']) {
    {
      await using agent = await start()
      writeFileSync(`${file}.next`, text)
      expect(await keyCheck(agent)).toMatchObject({ status: 'ok' })
    }
    await (await start())[Symbol.asyncDispose]()
    expect(existsSync(`${file}.next`)).toBe(false)
  }
})

test('a pending key that opens the folder replaces the current one, whatever the current one contains', async () => {
  for (const spoil of [() => undefined, () => rmSync(file), () => writeFileSync(file, 'half a k')]) {
    {
      await using agent = await start()
      await rotate(agent)
    }
    renameSync(file, `${file}.next`)
    writeFileSync(file, newKey())
    spoil()
    const next = readFileSync(`${file}.next`, 'utf8')
    await using agent = await start()
    expect(await keyCheck(agent)).toMatchObject({ status: 'ok' })
    expect([readFileSync(file, 'utf8'), existsSync(`${file}.next`)]).toEqual([next, false])
  }
})
