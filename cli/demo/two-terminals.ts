/** The demo in two terminals: acme’s side runs here, and the user types alice’s commands in the other one. */
import { writeFileSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import { basename, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openEventStream } from '../../daemon/client/event-client.ts'
import { variableNames } from '../../src/base/setting-names.ts'
import { readEvents } from '../client/events.ts'
import { findDaemon } from '../daemon/find.ts'
import { CommandError } from '../errors/errors.ts'
import { createChanges, toChange, type Changes } from './changes.ts'
import { quote } from './calls.ts'
import { connect, issue, meet, present, type Alice, type Stage } from './flow.ts'
import { prepareIssuer } from './prepare.ts'
import type { Narrator } from './narrator.ts'
import { startDaemon, type Name, type Party } from './party.ts'
import { enrol, hasStep, type Scenario, type Step } from './show.ts'

/** The time limit for a typed command. */
const patienceMs = 15 * 60_000

export type Means = {
  folder: string
  narrator: Narrator
  children: Map<Name, ChildProcess>
  signal: AbortSignal
}

type Type = (...lines: string[]) => void

/** The folder of alice’s daemon. */
export const aliceFolder = (folder: string) => join(folder, 'alice')

/** Runs acme’s side of a scenario and prints alice’s commands. @throws as the client; {CommandError} on timeout */
export async function host(
  scenario: Scenario,
  { folder, narrator, children, signal }: Means,
): Promise<{ acme: string; leave: () => Promise<void> }> {
  const changes = createChanges(patienceMs)
  changes.onChange = narrator.change
  narrator.step('Start acme’s daemon here, and alice’s in another terminal')
  const daemon = await startDaemon('acme', folder, (child) => {
    children.set('acme', child)
    child.once('exit', (code, signal) =>
      changes.fail(new CommandError(`acme’s daemon ended (${code ?? signal}).`, 1)),
    )
  })
  narrator.nameForCurl('acme', 'ACME', daemon.url)
  const type = (...lines: string[]) =>
    narrator.say(
      ['\n   Type in the other terminal:\n', ...lines.map((line) => `     ${line}`), ''].join('\n'),
    )
  const file = join(folder, 'alice.sh')
  writeFileSync(file, settingsOf(folder), { mode: 0o600 })
  type(`. ${file}`, 'agent daemon start', 'agent did create')
  const party = await enrol(daemon, folder, narrator)
  await follow(party, changes, signal)
  const acme = narrator.watch(party.call, { base: 'ACME', header: 'apikey', key: 'ACME_KEY' })
  const stage = { acme, alice: aliceByHand(type, changes), events: changes }
  await play(scenario, stage, daemon.url, narrator, type)
  return { acme: daemon.url, leave: () => leave(type, folder, signal) }
}

/** Waits until alice’s daemon stops. */
async function leave(type: Type, folder: string, signal: AbortSignal): Promise<void> {
  type('agent daemon stop')
  while (await findDaemon(aliceFolder(folder))) await setTimeout(200, undefined, { signal })
}

/** Alice by commands that the user types. Her lists have one line when acme's message has arrived. */
function aliceByHand(type: Type, events: Changes): Alice {
  return {
    connect: async (url) => type(`agent connection accept ${quote(url)}`),
    acceptOffer: async (thid) => {
      await events.until({ who: 'acme', what: 'credential', subject: thid, state: 'OfferSent' })
      type('agent credential accept "$(agent credential list -q)" --subject "$(agent did list -q)"')
    },
    present: async (thid) => {
      await events.until({ who: 'acme', what: 'proof', subject: thid, state: 'RequestSent' })
      type('agent proof present "$(agent proof list -q)"')
    },
    submitDid: async (didRequest) => type(`agent onboard submit ${quote(JSON.stringify(didRequest))} --new`),
    answerChallenge: async (challenge, did) =>
      type(`agent auth respond ${quote(JSON.stringify(challenge))} --did ${did}`),
  }
}

async function play(
  scenario: Scenario,
  stage: Stage,
  url: string,
  narrator: Narrator,
  type: Type,
): Promise<void> {
  const has = (step: Step) => hasStep(scenario, step)
  if (has('props')) {
    narrator.step('Create acme’s DID, publish it, and publish a schema')
    const props = await prepareIssuer(stage.acme, url, stage.events, narrator)
    const connectionId = await connect(stage, narrator)
    const issuedId = await issue(stage, props, connectionId, narrator)
    if (has('present')) await present(stage, props, { connectionId, issuedId }, narrator)
    if (has('revoke')) {
      narrator.step('Revoke: acme revokes the credential')
      await stage.acme('PATCH /credential-status/revoke-credential/{id}', { path: { id: issuedId } })
      type('agent credential show "$(agent credential list -q)"')
    }
  } else if (has('connect')) await connect(stage, narrator)
  if (has('onboard')) await meet(stage, has('auth'), narrator)
}

/** Forwards acme’s events until the end of the demo. */
async function follow({ url, apiKey }: Party, changes: Changes, signal: AbortSignal): Promise<void> {
  const open = (lastEventId: string | undefined) =>
    openEventStream(url, { apikey: apiKey }, { lastEventId, signal })
  const events = await readEvents(open, undefined, { signal })
  const hand = async () => {
    for await (const event of events) changes.note(toChange('acme', event))
  }
  void hand().catch((error: Error) => changes.fail(error))
}

/** Returns the shell script that sets up alice’s terminal (sh, bash, zsh): her settings, and `agent` for this program. */
function settingsOf(folder: string): string {
  const program = resolve(process.argv[1] ?? 'agent')
  const own = {
    AGENT_CONFIG_DIR: join(folder, 'config'),
    AGENT_DATA_DIR: aliceFolder(folder),
    AGENT_PROFILE: 'alice',
    AGENT_HTTP_PORT: '0',
    AGENT_DIDCOMM_PORT: '0',
    VDR_URL: `sqlite:${join(folder, 'vdr.db')}`,
  }
  return [
    '# Makes a terminal alice’s, for `agent demo --two-terminals`: . alice.sh',
    `unset ${variableNames().join(' ')}`,
    ...Object.entries(own).map(([name, value]) => `export ${name}=${quote(value)}`),
    ...(basename(program) === 'agent'
      ? []
      : [`agent() { ${quote(process.execPath)} ${quote(program)} "$@"; }`]),
    '',
  ].join('\n')
}
