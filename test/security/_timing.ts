/**
 * Tests whether the response time distinguishes resources of other tenants from missing ones: Welch's t-test
 * over requests in random order (Reparaz, Balasch, Verbauwhede: "Dude, is my code constant time?", 2017).
 */
import { Agent, request } from 'node:http'
import { adminToken, sharedAgent } from '../support/agent.ts'
import { connect, issue, newDid } from '../support/tenants.ts'
import { createRandom } from '../support/random.mjs'
import { newId } from '../../src/foundation/id.ts'

/** For each question: number of answers, mean in microseconds by kind, and t. */
export type Times = Record<string, { counted: number; foreign: number; unknown: number; t: number }>

/** Both kinds must have the same answer. */
type Question = {
  name: string
  foreign: string
  unknown: string
  headers?: (text: string) => Record<string, string>
}

/** The slowest tenth is dropped as noise. */
const kept = 0.9

/** Sends `requests` requests, equally distributed over the questions. Both kinds must have the same status. */
export async function measureTimes({ requests, seed }: { requests: number; seed: number }): Promise<Times> {
  const random = createRandom(seed)
  const agent = await sharedAgent({ FAILED_ATTEMPTS_PER_MINUTE: '1000000000' })
  const [owner, mallory] = [await agent.newTenant('owner'), await agent.newTenant('mallory')]
  const { inviterConnectionId } = await connect(owner, mallory)
  const [issuing, subject] = [await newDid(owner, 'assertionMethod'), await newDid(mallory, 'authentication')]
  const { issuerRecordId } = await issue(owner, mallory, inviterConnectionId, issuing.did, subject.did)
  const revoked = await agent.admin('POST /iam/entities/{id}/api-keys', {
    path: { id: owner.entityId },
    body: {},
  })
  await agent.admin('DELETE /iam/entities/{id}/api-keys/{keyId}', {
    path: { id: owner.entityId, keyId: revoked.id },
  })
  const asMallory = () => ({ apikey: mallory.apiKey })
  const unlike = (text: string) => text.slice(0, -4) + text.slice(-4).split('').toReversed().join('')
  const questions: Question[] = [
    {
      name: 'connection',
      foreign: `/connections/${inviterConnectionId}`,
      unknown: `/connections/${newId()}`,
    },
    {
      name: 'credential record',
      foreign: `/issue-credentials/records/${issuerRecordId}`,
      unknown: `/issue-credentials/records/${newId()}`,
    },
    { name: 'wallet', foreign: `/wallets/${owner.walletId}`, unknown: `/wallets/${newId()}` },
    {
      name: 'revoked key',
      foreign: revoked.apiKey,
      unknown: unlike(revoked.apiKey),
      headers: (apikey) => ({ apikey }),
    },
    {
      name: 'administrator',
      foreign: `${adminToken}x`,
      unknown: `${'y'.repeat(adminToken.length)}x`,
      headers: (token) => ({ 'x-admin-api-key': token }),
    },
  ]
  const http = new Agent({ keepAlive: true, maxSockets: 1 })
  const samples = questions.map(() => ({ foreign: [] as number[], unknown: [] as number[] }))
  try {
    for (let n = 0; n < requests; n++) {
      const index = n % questions.length
      const { name, headers, ...paths } = questions[index]!
      const kind = random() < 0.5 ? 'foreign' : 'unknown'
      const [path, requestHeaders] = headers
        ? [name === 'administrator' ? '/wallets' : '/connections', headers(paths[kind])]
        : [paths[kind], asMallory()]
      const start = process.hrtime.bigint()
      const status = await get(http, agent.url + path, requestHeaders)
      samples[index]![kind].push(Number(process.hrtime.bigint() - start) / 1_000)
      if (status < 400) throw new Error(`${name}: ${kind} was answered with ${status}`)
    }
  } finally {
    http.destroy()
  }
  return Object.fromEntries(questions.map(({ name }, index) => [name, compare(samples[index]!)]))
}

function get(agent: Agent, url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers }, (response) =>
      response.resume().on('end', () => resolve(response.statusCode!)),
    )
      .on('error', reject)
      .end()
  })
}

function compare({ foreign, unknown }: { foreign: number[]; unknown: number[] }): Times[string] {
  const limit = [...foreign, ...unknown].toSorted((a, b) => a - b)[
    Math.floor((foreign.length + unknown.length) * kept)
  ]!
  const [a, b] = [foreign, unknown].map((times) => describe(times.filter((time) => time < limit))) as [
    Spread,
    Spread,
  ]
  const t = (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count)
  return { counted: a.count + b.count, foreign: round(a.mean), unknown: round(b.mean), t: round(t) }
}

type Spread = { count: number; mean: number; variance: number }

function describe(times: number[]): Spread {
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length
  const variance = times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (times.length - 1)
  return { count: times.length, mean, variance }
}

const round = (value: number) => Math.round(value * 100) / 100
