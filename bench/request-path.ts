/**
 * `node --import ./bench/_typescript.js bench/request-path.ts` counts the work of one warm
 * `POST /connection-invitations`, from the arrival of its head to the end of the response: functions and files of the
 * project that run, and promises that are created. `--list` also prints the functions.
 */
import { createHook } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { request, type IncomingMessage } from 'node:http'
import { Session } from 'node:inspector'
import { setTimeout as sleep } from 'node:timers/promises'
import { startAgent } from '../test/_agent-from-sources.ts'

const [warmUps, rounds] = [50, 9]
/** The worker delivers the connection request of the round before meanwhile. */
const restMs = 300

type Path = { functions: string[]; promises: number }

const session = new Session()
session.connect()
type Coverage = {
  result: {
    url: string
    functions: { functionName: string; ranges: { count: number; startOffset: number }[] }[]
  }[]
}

/** The functions of the project that have run since the last call, as `file name offset`. Answers synchronously. */
function takeFunctions(): string[] {
  let functions: string[] = []
  session.post('Profiler.takePreciseCoverage', (_error, coverage) => {
    const { result } = coverage as unknown as Coverage
    functions = result.flatMap(({ url, functions: all }) => {
      const file = /^(?!.*node_modules).*\/((?:src|daemon)\/.*)$/.exec(url)?.[1]
      if (file === undefined) return []
      return all
        .filter(({ ranges }) => ranges[0]!.count > 0)
        .map(
          ({ functionName, ranges }) => `${file} ${functionName || '(anonymous)'} ${ranges[0]!.startOffset}`,
        )
    })
  })
  return functions
}

let promises = 0
const hook = createHook({
  init: (_id, type) => {
    if (type === 'PROMISE') promises++
  },
})

session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await using agent = await startAgent()
const [inviter, invitee] = [await agent.newTenant(), await agent.newTenant()]

const paths: Path[] = []
const isMeasured = (message: unknown) =>
  (message as { request: IncomingMessage }).request.url === '/connection-invitations'
subscribe('http.server.request.start', (message) => {
  if (!isMeasured(message)) return
  takeFunctions()
  promises = 0
  hook.enable()
})
subscribe('http.server.response.finish', (message) => {
  if (!isMeasured(message)) return
  hook.disable()
  paths.push({ functions: takeFunctions(), promises })
})

async function invite(): Promise<string> {
  const { invitation } = await inviter.call('POST /connections', { body: {} })
  return new URL(invitation.invitationUrl).searchParams.get('_oob')!
}

function accept(invitation: string): Promise<void> {
  const body = JSON.stringify({ invitation })
  const headers = {
    apikey: invitee.apiKey,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  return new Promise((resolve, reject) => {
    const sent = request(`${agent.url}/connection-invitations`, { method: 'POST', headers }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`the response is ${response.statusCode}`))
      })
    })
    sent.on('error', reject).end(body)
  })
}

for (let n = 0; n < warmUps + rounds; n++) {
  const invitation = await invite()
  if (n >= warmUps) await sleep(restMs)
  await accept(invitation)
}
const measured = paths.slice(-rounds).toSorted((a, b) => a.promises - b.promises)
const { functions, promises: created } = measured[Math.floor(rounds / 2)]!
if (process.argv.includes('--list')) console.log(functions.toSorted().join('\n'))
const files = new Set(functions.map((name) => name.split(' ')[0]))
console.log({ files: files.size, functions: functions.length, promises: created })
process.exit()
