/**
 * Flips single bits of wallet files: closed files, files after a crash, and files that a daemon has open.
 *
 * SQLite detects damage to the structure of a file, and AES-GCM changes of sealed values. A changed letter in
 * a plain column is not detected. The tenant therefore gets the same data, a changed value, or a refusal. The
 * daemon starts, serves all other tenants, and `agent doctor` names refused files.
 */
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../daemon/client/client.ts'
import { readConfig } from '../../src/foundation/config/config.ts'
import { diagnoseDataFolder, diagnoseAgent } from '../../src/operations/doctor/diagnose.ts'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { connect, issue, newDid, until, type Tenant } from '../support/tenants.ts'
import { createRandom } from '../support/random.mjs'

/** The state of a file during the flip. */
type State = 'closed' | 'crashed' | 'open'

/** Flips in one file by result: same data, changed value, refusal. */
type Count = { same: number; altered: number; refused: number }

/** Counts by state and file, starts with a changed file, files named by the doctor, and faults. */
export type Flips = { counts: Record<string, Count>; starts: number; named: number; wrong: string[] }

/** The files of a wallet by suffix. */
type Image = ReadonlyMap<string, Buffer>

type Flip = { state: State; part: string; at: number; bit: number }

type Setup = {
  dataDir: string
  victim: Tenant
  other: Tenant
  images: Record<'closed' | 'crashed', Image>
  answers: Map<string, string>
}

const variables = { DEFAULT_WALLET_ENABLED: 'false', AGENT_OPEN_WALLETS: '1' }
const fileOf = (setup: Setup, end: string) => join(setup.dataDir, 'wallets', `${setup.victim.walletId}${end}`)
const parts = ['.db', '.db-wal', '.db-shm']
/**
 * The files that are changed, by their frequency. The index beside the log (`-shm`) is shared memory while
 * the daemon runs.
 */
const hit: Record<State, readonly string[]> = {
  closed: ['.db'],
  crashed: ['.db', '.db-wal', '.db', '.db-wal', '.db-shm'],
  open: ['.db', '.db-wal'],
}
const states = Object.keys(hit) as State[]

/** Flips bits. Every `restartEvery`th changed file is present when a daemon starts. */
export async function flipBits({
  flips,
  seed,
  restartEvery = 20,
}: {
  flips: number
  seed: number
  restartEvery?: number
}): Promise<Flips> {
  const random = createRandom(seed)
  const result: Flips = { counts: {}, starts: 0, named: 0, wrong: [] }
  const dataDir = mkdtempSync(join(tmpdir(), 'identity-agent-'))
  try {
    const setup = await build(dataDir)
    let agent = await startAgent(variables, { dataDir })
    for (let n = 0; n < flips; n++) {
      const isRestart = n % restartEvery === restartEvery - 1
      // A start finds the file closed or crashed, never open.
      const state = isRestart ? 'crashed' : states[n % states.length]!
      // Repeated attempts might open the file while it is replaced.
      await agent.agent.worker[Symbol.asyncDispose]()
      await close(setup, agent)
      if (isRestart) await agent[Symbol.asyncDispose]()
      const flip = await damage(setup, agent, state, random)
      if (isRestart) {
        await judgeAtRest(setup, flip, result)
        agent = await startAgent(variables, { dataDir })
        result.starts++
      }
      await judge(setup, agent, flip, result)
    }
    await agent[Symbol.asyncDispose]()
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
  return result
}

/**
 * Three tenants with connections, DIDs and a credential, and the victim's files as a stop and as a crash
 * leave them.
 */
async function build(dataDir: string): Promise<Setup> {
  const first = await startAgent(variables, { dataDir })
  const tenants = [
    await first.newTenant('issuer'),
    await first.newTenant('victim'),
    await first.newTenant('other'),
  ]
  const [issuer, victim, other] = tenants as [Tenant, Tenant, Tenant]
  await connect(victim, other)
  await first[Symbol.asyncDispose]()

  // Wallets stay open, so a crash leaves recent data in the log.
  const second = await startAgent({ DEFAULT_WALLET_ENABLED: 'false' }, { dataDir })
  const at = (tenant: Tenant): Tenant => ({
    ...tenant,
    call: createClient(second.url, { apikey: tenant.apiKey }),
  })
  const { inviterConnectionId } = await connect(at(issuer), at(victim))
  const [issuing, holding] = [
    await newDid(at(issuer), 'assertionMethod'),
    await newDid(at(victim), 'authentication'),
  ]
  await issue(at(issuer), at(victim), inviterConnectionId, issuing.did, holding.longFormDid)
  const setup: Setup = {
    dataDir,
    victim,
    other,
    images: { closed: new Map(), crashed: new Map() },
    answers: new Map(),
  }
  await until(
    'rest',
    () => Promise.resolve(second.agent.worker.busy()),
    (busy) => busy.length === 0,
  )
  for (const tenant of [other, victim]) setup.answers.set(tenant.apiKey, await read(second, tenant))
  setup.images.crashed = imageOf(setup)
  await second[Symbol.asyncDispose]()
  setup.images.closed = imageOf(setup)
  return setup
}

/** The current files of the victim. */
function imageOf(setup: Setup): Image {
  const there = parts.filter((part) => existsSync(fileOf(setup, part)))
  return new Map(there.map((part) => [part, readFileSync(fileOf(setup, part))]))
}

/** The content of a tenant's lists, or status and type of a refusal. */
async function read(agent: TestAgent, { apiKey }: Tenant): Promise<string> {
  const answers: string[] = []
  for (const path of [
    'connections',
    'issue-credentials/records',
    'present-proof/presentations',
    'did-registrar/dids',
    'events?limit=100',
  ]) {
    const answer = await agent.send('GET', `/${path}`, { headers: { apikey: apiKey } })
    const text = await answer.text()
    if (answer.status !== 200) return `${answer.status} ${(JSON.parse(text) as { type: string }).type}`
    answers.push(text)
  }
  return answers.join('\n')
}

/** Only one wallet is open at a time, so opening the other closes the victim's. */
async function close(setup: Setup, agent: TestAgent): Promise<void> {
  await read(agent, setup.other)
  await until(
    'a closed file',
    () => Promise.resolve(existsSync(fileOf(setup, '.db-shm'))),
    (isOpen) => !isOpen,
  )
  for (const name of readdirSync(join(setup.dataDir, 'wallets')))
    if (name.startsWith(setup.victim.walletId)) rmSync(join(setup.dataDir, 'wallets', name))
}

/** Restores the victim's files of a state, with a flipped bit. */
async function damage(setup: Setup, agent: TestAgent, state: State, random: () => number): Promise<Flip> {
  const image = setup.images[state === 'closed' ? 'closed' : 'crashed']
  const place = (files: Image) => files.forEach((bytes, part) => writeFileSync(fileOf(setup, part), bytes))
  if (state === 'open') {
    place(image)
    await read(agent, setup.victim)
  }
  const part = hit[state][Math.floor(random() * hit[state].length)]!
  const bytes = Buffer.from(image.get(part)!)
  const [at, bit] = [Math.floor(random() * bytes.length), Math.floor(random() * 8)]
  if (state === 'open') flipInPlace(fileOf(setup, part), at, bit)
  else {
    bytes[at]! ^= 1 << bit
    place(new Map([...image, [part, bytes]]))
  }
  return { state, part, at, bit }
}

function flipInPlace(path: string, at: number, bit: number): void {
  const file = openSync(path, 'r+')
  try {
    const byte = Buffer.alloc(1)
    if (readSync(file, byte, 0, 1, at) === 1) writeSync(file, Buffer.from([byte[0]! ^ (1 << bit)]), 0, 1, at)
  } finally {
    closeSync(file)
  }
}

/** The data of both tenants, and whether the doctor names a refused file. */
async function judge(setup: Setup, agent: TestAgent, flip: Flip, { counts, wrong }: Flips): Promise<void> {
  const count = (counts[`${flip.state} ${flip.part}`] ??= { same: 0, altered: 0, refused: 0 })
  const say = (what: string) => wrong.push(`${JSON.stringify(flip)}: ${what}`)
  const answer = await read(agent, setup.victim)
  if (answer === setup.answers.get(setup.victim.apiKey)) count.same++
  else if (answer !== '503 error:WalletManagementServiceError:WalletUnreadable') count.altered++
  else {
    count.refused++
    const found = (await diagnoseAgent(agent.agent)).checks.find(({ name }) => name === 'wallets')
    if (!found?.detail.includes(`${setup.victim.walletId}.db`))
      say(`the doctor does not name it: ${found?.detail}`)
  }
  if ((await read(agent, setup.other)) !== setup.answers.get(setup.other.apiKey))
    say('the other tenant was not served')
}

/** Before the daemon starts, the doctor names the file itself. */
async function judgeAtRest(setup: Setup, flip: Flip, result: Flips): Promise<void> {
  const { checks } = await diagnoseDataFolder(
    readConfig({ ...variables, AGENT_DATA_DIR: setup.dataDir, AGENT_CONFIG_DIR: setup.dataDir }),
  )
  const found = checks.find(({ name }) => name === 'databases')
  if (found?.status !== 'failed') return
  result.named++
  if (!found.detail.includes(`${setup.victim.walletId}.db`))
    result.wrong.push(`${JSON.stringify(flip)}: ${found.detail}`)
}
